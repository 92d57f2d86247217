// SPDX-License-Identifier: MIT
// Do the figures agree with what was put into a trace?
#include "gputrace/stats.h"
#include "gputrace/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace vramlab;
using namespace vramlab::gputrace;
using namespace vramlab::gputrace::test;

namespace {

trace_stats stats_of(const std::vector<u8> &bytes)
{
    const auto first = open(bytes), second = open(bytes);
    const frame_probe probe(*first);
    return collect_stats(*second, probe);
}

void vblank(trace_builder &b, u64 time_ns, u64 crtc)
{
    b.later(time_ns, [=, &b] {
        b.event(time_ns, 0, "drm_vblank_event", {{"crtc", crtc}, {"seq", time_ns / ns_per_ms}});
    });
}

void move(trace_builder &b, u64 time_ns, s32 pid, u64 bo, u64 from, u64 to)
{
    b.later(time_ns, [=, &b] {
        b.event(time_ns, pid, "amdgpu_bo_move",
                {{"bo", bo}, {"bo_size", 3 * MiB}, {"new_placement", to}, {"old_placement", from}});
    });
}

TEST(stats, engines_and_stalls)
{
    trace_builder b;
    b.sched_job(11, "gfx", 40, 1, 1 * ns_per_ms, 2 * ns_per_ms, 10 * ns_per_ms);
    b.sched_job(20, "gfx", 41, 1, 3 * ns_per_ms, 3 * ns_per_ms, 12 * ns_per_ms); // behind game
    b.sched_job(20, "sdma0", 42, 1, 4 * ns_per_ms, 4 * ns_per_ms, 5 * ns_per_ms);
    const trace_stats s = stats_of(b.finish());
    EXPECT_EQ(s.jobs.done, 3u);
    ASSERT_EQ(s.engines.size(), 2u);
    const engine_row &game = s.by_engine.at({10, 0}), &shell = s.by_engine.at({20, 0});
    EXPECT_EQ(game.busy_ns, 8 * ns_per_ms);
    EXPECT_EQ(game.wait_ns, 1 * ns_per_ms);
    EXPECT_EQ(shell.busy_ns, 2 * ns_per_ms); // the engine was free at 10 ms
    EXPECT_EQ(shell.longest_wait_ns, 7 * ns_per_ms);
    EXPECT_EQ(s.by_engine.at({20, 1}).busy_ns, 1 * ns_per_ms);
    ASSERT_EQ(s.stalls.size(), 2u);
    EXPECT_EQ(s.stalls[0].process, 20);
    EXPECT_EQ(s.stalls[0].behind, 10);
    EXPECT_EQ(s.stalls[0].behind_ns, 7 * ns_per_ms);
}

TEST(stats, frames_between_vblanks)
{
    trace_builder b;
    b.sched_job(11, "gfx", 39, 1, 1000, 1000, 2000); // before the first vblank: of no frame that is known
    for (u64 t = 0; t < 100; t += 10) {
        vblank(b, t * ns_per_ms + 5000, 1);
        const u64 length = t == 50 ? 9 : 4;
        b.sched_job(11, "gfx", 40, t + 1, (t + 1) * ns_per_ms, (t + 1) * ns_per_ms,
                    (t + 1 + length) * ns_per_ms);
        b.sched_job(11, "gfx", 40, t + 2, (t + 2) * ns_per_ms, (t + 2) * ns_per_ms,
                    (t + 1 + length) * ns_per_ms);
    }
    vblank(b, 5 * ns_per_ms, 0); // another display
    move(b, 52 * ns_per_ms, 10, 0x100, 1, 2);
    const trace_stats s = stats_of(b.finish());
    EXPECT_EQ(s.frames_by, "vblanks of crtc 1");
    const process_row &game = s.processes.at(10);
    EXPECT_EQ(game.name, "game");
    EXPECT_EQ(game.frames.frames, 10u);
    EXPECT_EQ(game.frames.worst_ns, 9 * ns_per_ms);
    EXPECT_EQ(game.frames.time_ns, (9 * 4 + 9) * ns_per_ms);
    ASSERT_EQ(s.worst.size(), 10u);
    const frame_row &worst = s.worst[0];
    EXPECT_EQ(worst.begin_ns, 51 * ns_per_ms);
    EXPECT_EQ(worst.jobs, 2u);
    EXPECT_EQ(worst.in_bytes, 3 * MiB);
    ASSERT_EQ(worst.moves.size(), 1u);
    EXPECT_EQ(worst.moves[0].bo, 0x100u);
    EXPECT_EQ(worst.longest.seqno, 51u);
}

TEST(stats, marks_are_believed)
{
    trace_builder b;
    for (u64 n = 1; n <= 3; n++) {
        b.sched_job(11, "gfx", 40, n, (20 * n - 15) * ns_per_ms, (20 * n - 15) * ns_per_ms,
                    (20 * n + 3) * ns_per_ms);
        b.later(20 * n * ns_per_ms, [&b, n] {
            b.event(20 * n * ns_per_ms, 10, "vramlab_frame_done", {{"number", n}, {"time_us", u64{20000}}});
        });
    }
    b.sched_job(11, "gfx", 40, 4, 65 * ns_per_ms, 65 * ns_per_ms,
                70 * ns_per_ms); // of a frame that never ends
    const trace_stats s = stats_of(b.finish());
    EXPECT_EQ(s.processes.at(10).frames.frames, 3u);
    EXPECT_EQ(s.processes.at(10).frames.time_ns, 60 * ns_per_ms);
    for (const frame_row &f : s.worst)
        EXPECT_EQ(f.jobs, 1u);
}

TEST(stats, moves_and_reversals)
{
    trace_builder b;
    b.sched_job(10, "gfx", 40, 1, 1, 2, 3);
    move(b, 1 * ns_per_s, 20, 0x100, 2, 1);
    move(b, 1 * ns_per_s + 5, 10, 0x100, 1, 2);
    move(b, 2 * ns_per_s, 20, 0x100, 2, 1);
    move(b, 4 * ns_per_s, 10, 0x100, 1, 2); // too late for a reversal
    move(b, 5 * ns_per_s, 10, 0x200, 0, 1); // not of VRAM
    const trace_stats s = stats_of(b.finish());
    EXPECT_EQ(s.processes.at(20).out_bytes, 6 * MiB);
    EXPECT_EQ(s.processes.at(10).in_bytes, 6 * MiB);
    EXPECT_EQ(s.processes.at(10).moves, 2u);
    EXPECT_EQ(s.processes.at(10).reversals, 1u);
    EXPECT_EQ(s.frames_by, "intervals of 16.7 ms (assumed: no vblanks in the trace)");
}

TEST(stats, text_and_json)
{
    trace_builder b;
    b.sched_job(11, "gfx", 40, 1, 1 * ns_per_ms, 2 * ns_per_ms, 10 * ns_per_ms);
    b.sched_job(20, "gfx", 41, 1, 3 * ns_per_ms, 3 * ns_per_ms, 13 * ns_per_ms);
    const trace_stats s = stats_of(b.finish());
    const std::string text = print_stats(s, report::painter(false));
    EXPECT_NE(text.find("shell-20: gfx job 41:1 waited 7 ms, 7 ms behind game-10"), std::string::npos)
        << text;
    const auto j = stats_json(s);
    EXPECT_EQ(j.at("processes").size(), 2u);
    EXPECT_EQ(j.at("worst_frames").at(0).at("pid"), 20);
    EXPECT_EQ(j.at("stalls").at(0).at("behind_ns"), 7 * ns_per_ms);
}

} // namespace
