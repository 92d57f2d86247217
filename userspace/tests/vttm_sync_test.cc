// SPDX-License-Identifier: MIT
// Do submissions wait for synchronisation objects and signal them, and do they refuse what they must? Runs in
// the guest.
#include "tests/vttm_device.h"
#include "tests/vttm_gate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
constexpr u32 wait_for = 0, signal_it = DRM_VTTM_SYNC_SIGNAL, timeline = DRM_VTTM_SYNC_TIMELINE;

class vttm_sync : public testing::Test {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, 0};
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    }
    u32 create(u32 flags = 0) const
    {
        u32 handle = 0;
        drmSyncobjCreate(file.fd(), flags, &handle);
        return handle;
    }
    bool signaled(u32 handle, u64 point = 0) const
    {
        return point ? !drmSyncobjTimelineWait(file.fd(), &handle, &point, 1, 0, 0, nullptr)
                     : !drmSyncobjWait(file.fd(), &handle, 1, 0, 0, nullptr);
    }
    int wait_binary(u32 handle) const { return drmSyncobjWait(file.fd(), &handle, 1, INT64_MAX, 0, nullptr); }
    vttm_file file;
};

TEST_F(vttm_sync, the_end_of_a_job_signals)
{
    u32 out = create();
    vttm_gate gate;
    ASSERT_EQ(file.submit_syncs({}, {gate.wait(file), {out, signal_it, 0}}), 0);
    EXPECT_FALSE(signaled(out)) << "the job waits";
    EXPECT_EQ(file.wait(1, 0), -ETIME);
    gate.open();
    EXPECT_EQ(wait_binary(out), 0);
    EXPECT_EQ(file.wait(1, 0), 0);
}

TEST_F(vttm_sync, a_job_waits_for_another_file)
{
    vttm_file other;
    u32 between = create(), last = create();
    int fd = -1;
    ASSERT_EQ(drmSyncobjHandleToFD(file.fd(), between, &fd), 0);
    u32 theirs = 0;
    ASSERT_EQ(drmSyncobjFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    vttm_gate gate;
    ASSERT_EQ(other.submit_syncs({}, {gate.wait(other), {theirs, signal_it, 0}}), 0);
    ASSERT_EQ(file.submit_syncs({}, {{between, wait_for, 0}, {last, signal_it, 0}}), 0);
    EXPECT_FALSE(signaled(last));
    gate.open();
    EXPECT_EQ(wait_binary(last), 0);
    EXPECT_TRUE(signaled(between)) << "it was to end first";
}

TEST_F(vttm_sync, points_of_a_timeline)
{
    u32 line = create();
    vttm_gate gate, last_gate;
    for (u64 point = 1; point <= 20; point++) {
        std::vector<drm_vttm_sync> syncs{{line, signal_it | timeline, point}};
        if (point == 10 || point == 20)
            syncs.push_back((point == 10 ? gate : last_gate).wait(file));
        ASSERT_EQ(file.submit_syncs({}, syncs), 0);
    }
    u32 out = create();
    // On the other engine: jobs of one engine end in order.
    vttm_file::job waits{
        {}, {}, {{line, wait_for | timeline, 15}, {out, signal_it, 0}}, 1000, DRM_VTTM_ENGINE_COMPUTE};
    ASSERT_EQ(file.submit_job(waits), 0);
    EXPECT_FALSE(signaled(line, 10));
    EXPECT_FALSE(signaled(out));
    gate.open();
    EXPECT_EQ(wait_binary(out), 0);
    EXPECT_FALSE(signaled(line, 20));
    EXPECT_TRUE(signaled(line, 15));
    u64 reached = 0;
    ASSERT_EQ(drmSyncobjQuery(file.fd(), &line, &reached, 1), 0);
    EXPECT_GE(reached, 15u);
    EXPECT_EQ(file.submit_syncs({}, {{line, wait_for | timeline, 21}}), -EINVAL) << "not submitted yet";
    EXPECT_EQ(file.submit_syncs({}, {{line, wait_for | timeline, (u64{1} << 32) + 1}}), -EINVAL)
        << "points have 64 bits";
}

TEST_F(vttm_sync, waits_are_looked_up_before_signals)
{
    u32 one = create(DRM_SYNCOBJ_CREATE_SIGNALED);
    vttm_gate gate;
    ASSERT_EQ(file.submit_syncs({}, {{one, wait_for, 0}, gate.wait(file), {one, signal_it, 0}}), 0);
    EXPECT_FALSE(signaled(one)) << "it has the new fence";
    gate.open();
    EXPECT_EQ(wait_binary(one), 0);
}

TEST_F(vttm_sync, refusals_leave_no_trace)
{
    u32 empty = create(), out = create(), line = create(DRM_SYNCOBJ_CREATE_SIGNALED);
    EXPECT_EQ(file.submit_syncs({}, {{out, signal_it, 0}, {0xdead, signal_it, 0}}), -ENOENT);
    EXPECT_EQ(file.submit_syncs({}, {{0xdead, wait_for, 0}}), -ENOENT);
    EXPECT_EQ(file.submit_syncs({}, {{out, signal_it, 0}, {empty, wait_for, 0}}), -EINVAL) << "has no fence";
    EXPECT_EQ(file.submit_syncs({}, {{out, 4u, 0}}), -EINVAL) << "unknown flag";
    EXPECT_EQ(file.submit_syncs({}, {{out, signal_it, 1}}), -EINVAL) << "binary: has no points";
    EXPECT_EQ(file.submit_syncs({}, {{line, wait_for, 1}}), -EINVAL);
    EXPECT_EQ(file.submit_syncs({}, {{line, signal_it | timeline, 0}}), -EINVAL) << "points start at 1";
    EXPECT_EQ(file.submit_syncs({0xdead}, {{out, signal_it, 0}}), -ENOENT);
    drm_vttm_submit args{};
    args.compute_ns = 1;
    args.sync_count = DRM_VTTM_SYNC_MAX + 1;
    args.sync_stride = sizeof(drm_vttm_sync);
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), -EINVAL);
    args.sync_count = 1;
    args.syncs = 8;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), -EFAULT);
    args.sync_stride = 8;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), -EINVAL);
    EXPECT_EQ(file.wait(1), -EINVAL) << "nothing was submitted";
    EXPECT_EQ(file.submit_syncs({}, {{out, wait_for, 0}}), -EINVAL) << "out still has no fence";
}

TEST_F(vttm_sync, a_larger_element_is_taken_if_its_tail_is_zero)
{
    struct large {
        drm_vttm_sync sync;
        u64 more;
    } element{{create(), signal_it, 0}, 0};
    drm_vttm_submit args{};
    args.compute_ns = 1;
    args.syncs = reinterpret_cast<std::uintptr_t>(&element);
    args.sync_count = 1;
    args.sync_stride = sizeof(element);
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), 0);
    element.more = 1;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), -E2BIG);
}

TEST_F(vttm_sync, programs_from_before_syncs_still_work)
{
    u64 args[7] = {};
    args[5] = 1000; // compute_ns
    EXPECT_EQ(file.call(DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_SUBMIT, u64[7]), args), 0);
    EXPECT_EQ(args[6], 1u) << "seqno";
}

TEST_F(vttm_sync, a_file_can_be_closed_while_its_job_waits_for_somebody)
{
    vttm_file other;
    u32 theirs = 0, late = create();
    int fd = -1;
    ASSERT_EQ(file.submit_syncs({}, {{late, signal_it, 0}}, 100'000'000), 0);
    ASSERT_EQ(drmSyncobjHandleToFD(file.fd(), late, &fd), 0);
    ASSERT_EQ(drmSyncobjFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    ASSERT_EQ(other.submit_syncs({other.must_create(page, DRM_VTTM_DOMAIN_VRAM)}, {{theirs, wait_for, 0}}),
              0);
    other.reset();
    EXPECT_TRUE(signaled(late)) << "closing waits for the file's jobs";
}

TEST_F(vttm_sync, killed_in_the_middle)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            vttm_file own;
            u32 line = 0;
            drmSyncobjCreate(own.fd(), 0, &line);
            u32 bo = own.must_create(page, DRM_VTTM_DOMAIN_VRAM);
            for (u64 point = 1;; point++)
                if (point == 1)
                    own.submit_syncs({bo}, {{line, signal_it | timeline, point}});
                else
                    own.submit_syncs(
                        {bo}, {{line, wait_for | timeline, point - 1}, {line, signal_it | timeline, point}});
        }
        usleep(1000u * static_cast<unsigned>(1 + i));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
    }
    for (int i = 0; i < 200 && file.info().vram_usage; i++)
        usleep(10'000);
    EXPECT_EQ(file.info().vram_usage, 0u);
}

} // namespace
} // namespace vramlab::tests
