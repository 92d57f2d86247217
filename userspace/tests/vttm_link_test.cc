// SPDX-License-Identifier: MIT
// Do jobs and copies share the link as the model says, to the nanosecond under both clocks, and does the
// event log tell when they started and ended? Runs in the guest.
#include "tests/vttm_device.h"

#include <gtest/gtest.h>
#include <map>

namespace vramlab::tests {
namespace {

constexpr u64 ms = 1'000'000;
constexpr u64 second = 1000 * ms;

class vttm_link : public testing::Test {
protected:
    // A byte a nanosecond, of the link and of video memory.
    void reset(u32 flags) { reset(file, flags); }
    static void reset(const vttm_file &f, u32 flags)
    {
        const drm_vttm_lab_config config{
            8 * MiB, 64 * MiB, second, second, 10, 32, flags | DRM_VTTM_LAB_CONFIG_NO_CONTENTS};
        ASSERT_EQ(reset_when_idle(f, config), 0);
    }
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
    }
    void TearDown() override
    {
        if (file.fd() < 0)
            return;
        file.reset(); // with its BOs, which a reset of the device would refuse
        reset(vttm_file(), 0);
    }
    // Returns the number of the submission, 0 if it fails.
    static u64 submit(const vttm_file &f, u32 engine, u64 compute_ns, u32 bo, u64 vram_bytes, u64 link_bytes)
    {
        vttm_file::job job{{bo}, {}, {}, compute_ns, engine};
        job.touches = {{bo, 0, vram_bytes, link_bytes}};
        return f.submit_job(job) ? 0 : job.seqno;
    }
    static u64 read_link(const vttm_file &f, u32 engine, u32 bo, u64 ns)
    {
        return submit(f, engine, 0, bo, 0, ns);
    }
    u64 now() const { return file.info().clock_ns; }
    // Waits for it, and says when it ended (virtual clock).
    u64 end_of(const vttm_file &f, u64 seqno) const
    {
        EXPECT_EQ(f.wait(seqno, -1), 0);
        return now();
    }
    // Records of jobs so far, without those of a kind (0 job, 1 copy, 2 fill) that isn't wanted.
    std::vector<drm_vttm_event> job_events(u32 kind = 0) const
    {
        std::vector<drm_vttm_event> all(4096), jobs;
        drm_vttm_lab args{};
        args.op = DRM_VTTM_LAB_EVENTS;
        args.value = all.size();
        args.ptr = reinterpret_cast<std::uintptr_t>(all.data());
        EXPECT_EQ(file.call(DRM_IOCTL_VTTM_LAB, &args), 0);
        EXPECT_EQ(args.lost, 0u);
        all.resize(args.value);
        for (const drm_vttm_event &e : all) {
            EXPECT_NE(e.type, u32{DRM_VTTM_EVENT_JOB});
            if (e.type != DRM_VTTM_EVENT_MOVE && e.to == kind)
                jobs.push_back(e);
        }
        return jobs;
    }
    vttm_file file;
};

TEST_F(vttm_link, jobs_of_two_engines_share_it)
{
    reset(DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK);
    u32 bo = file.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    vttm_file other;
    u32 others = other.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    u64 gfx = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 1000);
    u64 compute = read_link(other, DRM_VTTM_ENGINE_COMPUTE, others, 400);
    EXPECT_EQ(end_of(other, compute), 800u);
    EXPECT_EQ(end_of(file, gfx), 1400u);
    // One that computes first uses the link behind that.
    gfx = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 1000);
    compute = submit(other, DRM_VTTM_ENGINE_COMPUTE, 700, others, 0, 100);
    EXPECT_EQ(end_of(other, compute), 1400u + 900);
    EXPECT_EQ(end_of(file, gfx), 1400u + 1100);
}

TEST_F(vttm_link, copies_share_it_with_jobs_in_one_direction)
{
    reset(DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_ADVANCE, second), 0);
    constexpr u64 size = 65536;
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    vttm_file other;
    u32 others = other.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    EXPECT_EQ(file.wait(submit(file, DRM_VTTM_ENGINE_GFX, 0, bo, 0, 0), -1), 0);
    job_events();
    // Out.
    u64 start = now(), job = read_link(other, DRM_VTTM_ENGINE_COMPUTE, others, 100'000);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    EXPECT_EQ(end_of(other, job), start + 100'000);
    std::vector<drm_vttm_event> copies = job_events(1);
    ASSERT_EQ(copies.size(), 2u);
    EXPECT_EQ(copies[1].end_ns - copies[1].start_ns, 10 + size);
    // In: ten nanoseconds are the copy's latency.
    start = now();
    job = read_link(other, DRM_VTTM_ENGINE_COMPUTE, others, 10'000);
    u64 with_bo = submit(file, DRM_VTTM_ENGINE_GFX, 5, bo, 0, 0);
    EXPECT_EQ(file.domain_of(bo), DRM_VTTM_DOMAIN_VRAM);
    EXPECT_EQ(end_of(other, job), start + 10 + 2 * 9990);
    EXPECT_EQ(end_of(file, with_bo), start + 10'000 + size + 5);
}

TEST_F(vttm_link, what_a_job_does_at_the_same_time)
{
    for (bool overlap : {false, true}) {
        reset(DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK | (overlap ? DRM_VTTM_LAB_CONFIG_OVERLAP : 0));
        u32 vram = file.must_create(MiB, DRM_VTTM_DOMAIN_VRAM),
            gtt = file.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
        EXPECT_EQ(file.wait(submit(file, DRM_VTTM_ENGINE_GFX, 0, vram, 0, 0), -1), 0);
        const struct {
            u64 compute, vram, link, together;
        } jobs[] = {{700, 500, 600, 700}, {500, 700, 600, 700}, {500, 600, 700, 700}, {0, 0, 9, 9}};
        for (const auto &j : jobs) {
            vttm_file::job job{{vram, gtt}, {}, {}, j.compute};
            job.touches = {{vram, 0, j.vram, 0}, {gtt, 0, 0, j.link}};
            u64 start = now();
            ASSERT_EQ(file.submit_job(job), 0);
            EXPECT_EQ(end_of(file, job.seqno) - start, overlap ? j.together : j.compute + j.vram + j.link);
        }
        // Operations add to what nothing slows down.
        vttm_file::job job{{gtt}, {vttm_file::delay_op(50)}, {}, 30};
        job.touches = {{gtt, 0, 0, 60}};
        u64 start = now();
        ASSERT_EQ(file.submit_job(job), 0);
        EXPECT_EQ(end_of(file, job.seqno) - start, overlap ? 80u : 140u);
        file.close_handle(vram);
        file.close_handle(gtt);
    }
}

TEST_F(vttm_link, events_tell_when_it_has_happened)
{
    reset(DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK);
    u32 bo = file.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    u64 first = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 100);
    u64 second_one = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 50);
    std::vector<drm_vttm_event> log = job_events();
    ASSERT_EQ(log.size(), 1u) << "the other one waits";
    EXPECT_EQ(log[0].type, u32{DRM_VTTM_EVENT_JOB_START});
    EXPECT_EQ(log[0].tag, first);
    EXPECT_EQ(log[0].bytes, 100u);
    EXPECT_EQ(log[0].end_ns, 0u);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_ADVANCE, 99), 0);
    EXPECT_TRUE(job_events().empty());
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_ADVANCE, 120), 0);
    log = job_events();
    ASSERT_EQ(log.size(), 2u);
    EXPECT_EQ(log[0].type, u32{DRM_VTTM_EVENT_JOB_END});
    EXPECT_EQ(log[0].tag, first);
    EXPECT_EQ(log[0].time_ns, 100u);
    EXPECT_EQ(log[0].end_ns, 100u);
    EXPECT_EQ(log[1].type, u32{DRM_VTTM_EVENT_JOB_START});
    EXPECT_EQ(log[1].tag, second_one);
    EXPECT_EQ(log[1].time_ns, 100u);
    EXPECT_EQ(log[1].start_ns, 100u);
    EXPECT_EQ(end_of(file, second_one), 150u);
}

// By submission: when it started and ended.
struct span {
    u64 start_ns = 0, end_ns = 0;
};

std::map<u64, span> spans(const std::vector<drm_vttm_event> &log, u32 engine)
{
    std::map<u64, span> jobs;
    for (const drm_vttm_event &e : log)
        if (e.type == DRM_VTTM_EVENT_JOB_END && e.from == engine)
            jobs[e.tag] = {e.start_ns, e.end_ns};
    return jobs;
}

TEST_F(vttm_link, the_real_clock_is_as_exact)
{
    reset(0);
    u32 bo = file.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    vttm_file other;
    u32 others = other.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    u64 a = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 60 * ms);
    u64 b = read_link(other, DRM_VTTM_ENGINE_COMPUTE, others, 60 * ms);
    EXPECT_EQ(file.wait(a, -1), 0);
    EXPECT_EQ(other.wait(b, -1), 0);
    EXPECT_GE(now(), 120 * ms);
    const std::vector<drm_vttm_event> log = job_events();
    const span gfx = spans(log, 0)[a], compute = spans(log, 2)[b];
    ASSERT_LT(compute.start_ns - gfx.start_ns, 60 * ms) << "they met";
    EXPECT_EQ(gfx.end_ns - gfx.start_ns, 120 * ms - (compute.start_ns - gfx.start_ns));
    EXPECT_EQ(compute.end_ns - gfx.start_ns, 120 * ms);
}

TEST_F(vttm_link, late_timers_do_not_add_up)
{
    reset(0);
    u32 bo = file.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    constexpr u64 count = 200;
    const u64 first = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 500 * ms);
    u64 last = first;
    for (u64 i = 1; i < count; i++)
        last = submit(file, DRM_VTTM_ENGINE_GFX, 100'000, bo, 0, 100'000);
    EXPECT_EQ(file.wait(last, -1), 0);
    std::map<u64, span> jobs = spans(job_events(), 0);
    ASSERT_EQ(jobs.size(), count);
    for (u64 i = first + 1; i <= last; i++)
        EXPECT_EQ(jobs[i].start_ns, jobs[i - 1].end_ns);
    EXPECT_EQ(jobs[last].end_ns - jobs[first].start_ns, 500 * ms + (count - 1) * 200'000);
}

TEST_F(vttm_link, sharing_makes_no_job_hang_and_a_hung_one_shares_nothing)
{
    reset(0);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, 100 * ms), 0);
    u32 bo = file.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    vttm_file other;
    u32 others = other.must_create(MiB, DRM_VTTM_DOMAIN_GTT);
    u64 a = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 90 * ms);
    u64 b = read_link(other, DRM_VTTM_ENGINE_COMPUTE, others, 90 * ms);
    EXPECT_EQ(file.wait(a, -1), 0);
    EXPECT_EQ(other.wait(b, -1), 0);
    EXPECT_GE(now(), 180 * ms) << "longer than the timeout";
    job_events();
    b = read_link(other, DRM_VTTM_ENGINE_COMPUTE, others, 101 * ms);
    a = read_link(file, DRM_VTTM_ENGINE_GFX, bo, 40 * ms);
    EXPECT_EQ(file.wait(a, -1), 0);
    EXPECT_EQ(other.wait(b, -1), -ETIMEDOUT);
    const std::vector<drm_vttm_event> log = job_events();
    EXPECT_EQ(spans(log, 0)[a].end_ns - spans(log, 0)[a].start_ns, 40 * ms);
    EXPECT_EQ(spans(log, 2)[b].end_ns - spans(log, 2)[b].start_ns, 100 * ms);
    EXPECT_EQ(file.state().flags, 0u);
}

} // namespace
} // namespace vramlab::tests
