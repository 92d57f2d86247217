// SPDX-License-Identifier: MIT
// Does a job that takes too long end, are its VM's other jobs cancelled and its submissions refused, and does
// nobody else notice? Runs in the guest.
#include "tests/vttm_device.h"
#include "tests/vttm_gate.h"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

using std::chrono::steady_clock;

constexpr u64 page = 4096;
constexpr u64 ms = 1'000'000;
constexpr u64 hour = 3'600'000 * ms;
constexpr u64 timeout_ns = 300 * ms;

s64 since_ms(steady_clock::time_point start)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start).count();
}

u64 submit_for(const vttm_file &file, u64 ns, u32 engine = DRM_VTTM_ENGINE_GFX, std::vector<u32> bos = {})
{
    vttm_file::job job{std::move(bos), {}, {}, ns, engine};
    int ret = file.submit_job(job);
    EXPECT_EQ(ret, 0);
    return ret ? 0 : job.seqno;
}

class vttm_hang : public testing::Test {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        reset(0);
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, timeout_ns), 0);
    }
    void reset(u32 flags, u64 link_bandwidth = 16 * GiB)
    {
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, 64 * GiB, link_bandwidth, 1000, 10, flags};
        ASSERT_EQ(reset_when_idle(file, config), 0);
    }
    void TearDown() override
    {
        if (file.fd() < 0)
            return;
        // Also brings the module's timeout and the real clock back.
        reset(0);
        EXPECT_EQ(file.info().vram_usage, 0u);
        EXPECT_EQ(file.info().gtt_usage, 0u);
    }
    vttm_file file;
};

TEST_F(vttm_hang, a_job_that_takes_too_long_ends_and_its_vm_is_banned)
{
    vttm_file other;
    auto start = steady_clock::now();
    EXPECT_EQ(other.wait(submit_for(other, 1000)), 0);
    EXPECT_EQ(other.state().flags, 0u);
    EXPECT_EQ(other.state().hung_seqno, 0u);
    EXPECT_EQ(other.wait(submit_for(other, hour), -1), -ETIMEDOUT);
    EXPECT_GE(since_ms(start), 300);
    EXPECT_LT(since_ms(start), 5000);
    drm_vttm_vm_get_state state = other.state();
    EXPECT_EQ(state.flags, u32{DRM_VTTM_VM_STATE_BANNED});
    EXPECT_EQ(state.hung_seqno, 2u);
    EXPECT_EQ(state.device_hangs, 1u);
    EXPECT_EQ(other.submit({}), -ECANCELED);
    EXPECT_EQ(other.submit({}), -ECANCELED);
    EXPECT_EQ(other.wait(2, 0), -ETIMEDOUT) << "can still be asked";
    // All the rest goes on, so that results can be saved.
    u32 bo = other.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    ASSERT_NE(bo, 0u);
    void *map = other.map(bo, page);
    ASSERT_NE(map, MAP_FAILED);
    static_cast<volatile u32 *>(map)[5] = 7;
    munmap(map, page);
    // Nobody else is concerned.
    state = file.state();
    EXPECT_EQ(state.flags, 0u);
    EXPECT_EQ(state.hung_seqno, 0u);
    EXPECT_EQ(state.device_hangs, 1u);
    EXPECT_EQ(file.wait(submit_for(file, 1000)), 0);
    vttm_file again;
    EXPECT_EQ(again.wait(submit_for(again, 1000)), 0);
}

TEST_F(vttm_hang, all_other_jobs_of_the_vm_are_cancelled)
{
    vttm_file bad, slow;
    u32 bo = bad.must_create(page, DRM_VTTM_DOMAIN_VRAM), sync;
    ASSERT_EQ(drmSyncobjCreate(bad.fd(), 0, &sync), 0);
    vttm_file::job hung{{bo}, {}, {{sync, DRM_VTTM_SYNC_SIGNAL, 0}}, hour};
    ASSERT_EQ(bad.submit_job(hung), 0);
    u64 behind = submit_for(bad, 1000), with_bo = submit_for(bad, 1000, DRM_VTTM_ENGINE_GFX, {bo});
    // One runs on the other engine, one waits for its turn there, one for the job that hangs.
    u64 runs = submit_for(bad, timeout_ns, DRM_VTTM_ENGINE_COMPUTE);
    u64 turn = submit_for(bad, 250 * ms, DRM_VTTM_ENGINE_COMPUTE);
    vttm_file::job waits{{}, {}, {{sync, 0, 0}}, 1000, DRM_VTTM_ENGINE_COMPUTE};
    ASSERT_EQ(bad.submit_job(waits), 0);
    auto start = steady_clock::now();
    EXPECT_EQ(bad.wait(hung.seqno, -1), -ETIMEDOUT);
    for (u64 seqno : {behind, with_bo, turn, waits.seqno})
        EXPECT_EQ(bad.wait(seqno, -1), -ECANCELED) << seqno;
    int ret = bad.wait(runs, -1);
    EXPECT_TRUE(ret == 0 || ret == -ECANCELED) << "ends at about the same time: " << ret;
    EXPECT_LT(since_ms(start), 3000);
    EXPECT_EQ(bad.state().hung_seqno, hung.seqno);
    EXPECT_EQ(bad.state().device_hangs, 1u);
    drmSyncobjDestroy(bad.fd(), sync);
}

TEST_F(vttm_hang, jobs_of_others_move_up)
{
    vttm_file bad;
    u32 bo = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    EXPECT_EQ(file.wait(submit_for(file, 0, DRM_VTTM_ENGINE_GFX, {bo})), 0);
    submit_for(bad, hour);
    // Each would be allowed to run for as long; the two behind the first wait for it and for two more.
    submit_for(bad, timeout_ns);
    u64 first = submit_for(file, 1000, DRM_VTTM_ENGINE_GFX, {bo});
    submit_for(bad, timeout_ns);
    u64 second = submit_for(file, 50 * ms);
    EXPECT_EQ(file.wait(first, 0), -ETIME);
    auto start = steady_clock::now();
    EXPECT_EQ(file.wait(first, -1), 0);
    EXPECT_EQ(file.wait(second, -1), 0);
    EXPECT_GE(since_ms(start), 50);
    EXPECT_LT(since_ms(start), static_cast<s64>(2 * timeout_ns / ms + 40))
        << "only the one that hung was waited for";
    EXPECT_EQ(file.state().flags, 0u);
    file.close_handle(bo);
}

TEST_F(vttm_hang, what_takes_as_long_as_allowed_is_no_hang)
{
    EXPECT_EQ(file.wait(submit_for(file, timeout_ns), -1), 0);
    vttm_file::job delays{{}, std::vector<drm_vttm_op>(10, vttm_file::delay_op(timeout_ns / 10)), {}, 0};
    ASSERT_EQ(file.submit_job(delays), 0);
    EXPECT_EQ(file.wait(delays.seqno, -1), 0);
    EXPECT_EQ(file.state().flags, 0u);
    // Many of them after one another are none either.
    u64 last = 0;
    for (int i = 0; i < 20; i++)
        last = submit_for(file, timeout_ns / 10);
    EXPECT_EQ(file.wait(last, -1), 0);
    EXPECT_EQ(file.state().flags, 0u);
    delays.ops.push_back(vttm_file::delay_op(1));
    ASSERT_EQ(file.submit_job(delays), 0);
    EXPECT_EQ(file.wait(delays.seqno, -1), -ETIMEDOUT) << "a nanosecond more is one";
}

TEST_F(vttm_hang, without_a_timeout_nothing_hangs)
{
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, 0), 0);
    EXPECT_EQ(file.wait(submit_for(file, 2 * timeout_ns), -1), 0);
    EXPECT_EQ(file.state().flags, 0u);
}

TEST_F(vttm_hang, a_reset_lifts_the_ban)
{
    EXPECT_EQ(file.wait(submit_for(file, hour), -1), -ETIMEDOUT);
    EXPECT_EQ(file.submit({}), -ECANCELED);
    reset(0);
    EXPECT_EQ(file.state().flags, 0u);
    EXPECT_EQ(file.state().device_hangs, 0u);
    EXPECT_EQ(file.wait(submit_for(file, 1000)), 0);
}

TEST_F(vttm_hang, copies_that_take_too_long_move_their_contents)
{
    reset(0, 1 * MiB);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, timeout_ns), 0);
    constexpr u64 size = 4 * MiB;
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    auto *words = static_cast<u32 *>(file.map(bo, size));
    ASSERT_NE(words, MAP_FAILED);
    for (u64 i = 0; i < size / 4; i++)
        words[i] = static_cast<u32>(i);
    auto start = steady_clock::now();
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    EXPECT_EQ(file.domain_of(bo), DRM_VTTM_DOMAIN_GTT);
    u64 wrong = 0;
    for (u64 i = 0; i < size / 4; i++)
        wrong += words[i] != i;
    EXPECT_EQ(wrong, 0u);
    EXPECT_LT(since_ms(start), 3000) << "the model says four seconds";
    EXPECT_EQ(file.wait(submit_for(file, 1000, DRM_VTTM_ENGINE_GFX, {bo})), 0);
    EXPECT_EQ(file.state().device_hangs, 0u) << "of VMs";
    munmap(words, size);
    file.close_handle(bo);
}

TEST_F(vttm_hang, virtual_time)
{
    reset(DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK);
    // A workload may last for as long as it likes.
    EXPECT_EQ(file.wait(submit_for(file, hour), -1), 0);
    EXPECT_EQ(file.info().clock_ns, hour);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, 1000), 0);
    vttm_file bad;
    u64 hung = submit_for(bad, hour), behind = submit_for(bad, 10);
    u64 next = submit_for(file, 30), compute = submit_for(bad, 999, DRM_VTTM_ENGINE_COMPUTE);
    u64 late = submit_for(bad, 999, DRM_VTTM_ENGINE_COMPUTE);
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_ADVANCE, hour + 999), 0);
    EXPECT_EQ(bad.wait(compute, 0), 0);
    EXPECT_EQ(bad.wait(hung, 0), -ETIME);
    EXPECT_EQ(bad.state().flags, 0u);
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_ADVANCE, hour + 1000), 0);
    EXPECT_EQ(bad.wait(hung, 0), -ETIMEDOUT);
    EXPECT_EQ(bad.wait(behind, 0), -ECANCELED);
    EXPECT_EQ(bad.wait(late, 0), -ECANCELED);
    EXPECT_EQ(bad.submit({}), -ECANCELED);
    EXPECT_EQ(file.wait(next, 0), -ETIME);
    EXPECT_EQ(file.wait(next, -1), 0);
    EXPECT_EQ(file.info().clock_ns, hour + 1030) << "right after the hang, in place of the cancelled one";
}

TEST_F(vttm_hang, query_refuses_padding)
{
    drm_vttm_vm_get_state args{};
    args.pad = 1;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_VM_GET_STATE, &args), -EINVAL);
}

TEST_F(vttm_hang, closing_does_not_wait_for_what_takes_long)
{
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, 4000 * ms), 0);
    auto start = steady_clock::now();
    {
        vttm_file other;
        u32 bo = other.must_create(page, DRM_VTTM_DOMAIN_VRAM);
        submit_for(other, 3000 * ms, DRM_VTTM_ENGINE_GFX, {bo});
    }
    EXPECT_LT(since_ms(start), 2500);
    EXPECT_NE(file.info().vram_usage, 0u) << "the job still uses it";
    EXPECT_EQ(file.wait(submit_for(file, 1000), -1), 0);
    EXPECT_GE(since_ms(start), 3000) << "it runs to its end";
}

// Starts a process that does something with a file of its own and then sleeps, and kills it.
template <class Action> void kill_after(Action action)
{
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (!pid) {
        vttm_file mine;
        action(mine);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    int status;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(vttm_hang, the_jobs_of_a_killed_process_make_nobody_wait)
{
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, 5000 * ms), 0);
    auto start = steady_clock::now();
    u64 behind = 0;
    kill_after([&](vttm_file &mine) {
        u32 bo = mine.must_create(MiB, DRM_VTTM_DOMAIN_VRAM);
        for (u32 engine : {DRM_VTTM_ENGINE_GFX, DRM_VTTM_ENGINE_COMPUTE})
            for (int i = 0; i < 20; i++)
                submit_for(mine, 4000 * ms, engine, {bo});
    });
    behind = submit_for(file, 1000);
    EXPECT_EQ(file.wait(behind, -1), 0);
    EXPECT_LT(since_ms(start), 3000);
    for (int i = 0; i < 300 && file.info().vram_usage; i++)
        usleep(10'000);
    EXPECT_EQ(file.info().vram_usage, 0u);
}

TEST_F(vttm_hang, a_process_can_be_killed_whose_job_waits_for_what_never_comes)
{
    vttm_gate gate;
    auto start = steady_clock::now();
    kill_after([&](vttm_file &mine) {
        u32 bo = mine.must_create(MiB, DRM_VTTM_DOMAIN_VRAM);
        vttm_file::job waits{{bo}, {}, {gate.wait(mine)}, 1000};
        EXPECT_EQ(mine.submit_job(waits), 0);
        EXPECT_EQ(mine.submit({bo}), 0);
    });
    EXPECT_LT(since_ms(start), 5000);
    EXPECT_EQ(file.wait(submit_for(file, 1000), -1), 0);
    EXPECT_NE(file.info().vram_usage, 0u) << "until nothing can use it any more";
    gate.open();
    for (int i = 0; i < 500 && file.info().vram_usage; i++)
        usleep(10'000);
    EXPECT_EQ(file.info().vram_usage, 0u);
}

} // namespace
} // namespace vramlab::tests
