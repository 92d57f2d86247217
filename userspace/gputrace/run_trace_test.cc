// SPDX-License-Identifier: MIT
// A kernel's trace with the device's times, and with what the run wrote itself.
#include "gputrace/device_clock.h"
#include "gputrace/merged_reader.h"
#include "gputrace/trace_builder.h"

#include <gtest/gtest.h>

using namespace vramlab;
using namespace vramlab::gputrace;
using namespace vramlab::gputrace::test;

namespace {

struct seen {
    u64 time_ns;
    std::string name;
    s32 pid;

    friend bool operator==(const seen &, const seen &) = default;
};

std::vector<seen> all_of(trace::trace_reader &in)
{
    std::vector<seen> out;
    for (trace::record r; in.next(r);)
        out.push_back({r.time_ns, r.format->name, r.pid});
    return out;
}

void job(trace_builder &b, u64 at, const char *what, u64 time_ns)
{
    b.event(at, 60, what,
            {{"time_ns", time_ns}, {"start_ns", u64{1}}, {"context", u64{16}}, {"seqno", u64{1}}});
}

void signal(trace_builder &b, u64 at)
{
    b.event(at, 0, "dma_fence_signaled",
            {{"driver", std::string("vttm")},
             {"timeline", std::string("gfx")},
             {"context", u64{16}},
             {"seqno", u64{1}}});
}

TEST(device_clock, follows_what_vttm_tells)
{
    trace_builder b;
    b.event(1000, 10, "sched_switch", {{"x", u64{1}}});
    b.event(2000, 10, "vttm_submit", {{"time_ns", u64{50}}});
    job(b, 2100, "vttm_job_run", 50);
    signal(b, 2200); // somebody else's
    job(b, 3000, "vttm_job_end", 900);
    signal(b, 3100);
    b.event(3300, 10, "sched_switch", {{"x", u64{1}}});
    job(b, 3400, "vttm_job_run", 900);
    b.event(3500, 10, "vttm_submit", {{"time_ns", u64{800}}}); // back
    b.event(3600, 10, "vttm_submit", {{"time_ns", u64{901}}});
    device_clock clock(open(b.finish()));
    const std::vector<seen> expected = {{0, "sched_switch", 10},   {50, "vttm_submit", 10},
                                        {50, "vttm_job_run", 60},  {50, "dma_fence_signaled", 0},
                                        {900, "vttm_job_end", 60}, {900, "dma_fence_signaled", 0},
                                        {900, "sched_switch", 10}, {900, "vttm_job_run", 60},
                                        {900, "vttm_submit", 10},  {901, "vttm_submit", 10}};
    EXPECT_EQ(all_of(clock), expected);
    EXPECT_EQ(clock.told(), 6u);
    EXPECT_EQ(clock.went_back(), 1u);
}

TEST(device_clock, other_traces_have_none)
{
    trace_builder b;
    b.event(1000, 10, "amdgpu_submit", {{"time_ns", u64{50}}});
    device_clock clock(open(b.finish()));
    EXPECT_EQ(all_of(clock), (std::vector<seen>{{0, "amdgpu_submit", 10}}));
    EXPECT_EQ(clock.told(), 0u);
}

TEST(merged_reader, by_time_with_one_name_a_task)
{
    trace_builder kernel, run;
    kernel.event(100, 10, "ttm_bo_move", {{"size", u64{1}}});
    kernel.event(300, 20, "ttm_bo_move", {{"size", u64{2}}});
    // Tasks of trace_builder are 10 (game), 11 (worker) and 20 (shell) in both.
    run.event(50, 11, "vramlab_frame", {{"number", u64{1}}});
    run.event(100, 10, "vramlab_frame", {{"number", u64{2}}});
    run.event(150, 10, "amdgpu_cs_ioctl", {{"seqno", u64{1}}});
    run.event(160, 10, "dma_fence_signaled", {{"seqno", u64{1}}});
    run.event(400, 99, "vramlab_frame", {{"number", u64{3}}});
    merged_reader in(open(kernel.finish()), open(run.finish()));
    const std::vector<seen> expected = {{50, "vramlab_frame", 11},
                                        {100, "vramlab_frame", 10},
                                        {100, "ttm_bo_move", 10},
                                        {300, "ttm_bo_move", 20},
                                        {400, "vramlab_frame", 99}};
    EXPECT_EQ(all_of(in), expected);
}

// Both have formats 500 and so on: what is read must be each one's own.
TEST(merged_reader, formats_are_told_apart)
{
    trace_builder kernel, run;
    kernel.event(100, 10, "one", {{"size", u64{1}}});
    kernel.event(100, 10, "two", {{"size", u64{2}}});
    run.event(200, 10, "three", {{"number", u64{3}}});
    run.event(300, 10, "two", {{"size", u64{4}}});
    merged_reader in(open(kernel.finish()), open(run.finish()));
    std::vector<std::pair<std::string, u64>> values;
    std::vector<u16> ids;
    for (trace::record r; in.next(r);) {
        values.emplace_back(r.format->name, r.number(r.format->fields.front()).value_or(0));
        ids.push_back(r.format->id);
        EXPECT_EQ(trace::load16(r.data.data(), r.order), r.format->id);
    }
    EXPECT_EQ(values,
              (std::vector<std::pair<std::string, u64>>{{"one", 1}, {"two", 2}, {"three", 3}, {"two", 4}}));
    EXPECT_EQ(ids[1], ids[3]) << "the same format is the same";
    EXPECT_NE(ids[2], ids[0]);
    EXPECT_NE(ids[2], ids[1]);
}

} // namespace
