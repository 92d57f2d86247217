// SPDX-License-Identifier: MIT
// Does what is drawn over time add up to what happened?
#include "report/timeline.h"

#include "report/engines.h"

#include <gtest/gtest.h>

namespace vramlab::report {
namespace {

using events::event;
using events::event_type;

// A game (process 1) with BO 10 and a compositor (2) with BO 20, of 4 MiB each, both in VRAM.
class timeline_test : public testing::Test {
public:
    timeline t{{{1, "game", ""}, {2, "compositor", ""}},
               {.bins_max = 100, .frames_max = 4, .changes_max = 3}};

    timeline_test()
    {
        for (const u32 p : {1u, 2u}) {
            op(p, 0, "vm_open", 0);
            begin(p, 0, "bo_create", p * 10);
            move(p, 0, p * 10, 0, domain_vram);
            end(p, 0, "bo_create", p * 10);
        }
    }
    void begin(u32 p, u64 at, const char *name, u64 bo)
    {
        t.record({.time_ns = at,
                  .bo = bo,
                  .b = domain_vram | u64{7} << 24,
                  .c = 4 * MiB,
                  .where = name,
                  .vm = p,
                  .process = p,
                  .type = event_type::op_begin});
    }
    void end(u32 p, u64 at, const char *name, u64 bo)
    {
        t.record({.time_ns = at, .bo = bo, .where = name, .vm = p, .process = p, .type = event_type::op_end});
    }
    void op(u32 p, u64 at, const char *name, u64 bo)
    {
        begin(p, at, name, bo);
        end(p, at, name, bo);
    }
    void move(u32 p, u64 at, u64 bo, u64 from, u64 to, bool eviction = false)
    {
        t.record({.time_ns = at,
                  .bo = bo,
                  .a = from,
                  .b = to,
                  .c = 4 * MiB,
                  .process = p,
                  .type = event_type::move,
                  .flag = eviction});
    }
    void job(u64 begin_ns, u64 end_ns, u64 engine, u64 bo, u64 bytes)
    {
        event e{.time_ns = begin_ns, .bo = bo, .a = engine, .c = bytes, .type = event_type::job_start};
        e.flag = engine == engine_copy ? job_kind_copy : job_kind_job;
        t.record(e);
        e.type = event_type::job_end;
        e.time_ns = end_ns;
        t.record(e);
    }
    void frame(u32 p, u64 at, u64 number, u64 duration_ns)
    {
        t.record({.time_ns = at, .a = number, .b = duration_ns, .process = p, .type = event_type::frame});
    }
};

TEST_F(timeline_test, vram_follows_moves_and_destruction)
{
    move(2, 1000, 10, domain_vram, domain_gtt, true);
    move(1, 3000, 10, domain_gtt, domain_vram);
    op(2, 5000, "bo_destroy", 20);
    t.finish(8000);
    const time_levels &v = t.vram();
    ASSERT_EQ(v.width_ns(), 1000u);
    EXPECT_EQ(v.at_end(1, 0), 4 * MiB);
    EXPECT_EQ(v.at_end(1, 1), 0u);
    EXPECT_EQ(v.at_end(1, 3), 4 * MiB);
    EXPECT_EQ(v.at_end(2, 4), 4 * MiB);
    EXPECT_EQ(v.at_end(2, 5), 0u);
    EXPECT_EQ(v.at_end(t.demand_row(), 1), 8 * MiB); // wanted there, where ever it is
    EXPECT_EQ(v.at_end(t.demand_row(), 5), 4 * MiB);
}

TEST_F(timeline_test, copies_go_the_way_of_their_moves)
{
    move(2, 0, 10, domain_vram, domain_gtt, true);
    move(1, 100, 10, domain_gtt, domain_vram);
    job(200, 1200, engine_copy, 10, 4 * MiB);
    job(1200, 2200, engine_copy, 10, 4 * MiB);
    job(0, 2000, engine_gfx, 0, 999);
    job(3000, 3100, engine_copy, 77, 5); // nobody asked for it
    t.record({.time_ns = 3200, .a = engine_gfx, .c = 50, .type = event_type::job_start});
    t.finish(4000);
    EXPECT_EQ(t.link().sum(timeline::moved_out), 4 * MiB);
    EXPECT_EQ(t.link().sum(timeline::moved_in), 4 * MiB);
    EXPECT_EQ(t.link().sum(timeline::remote_reads), 999u);
    EXPECT_GT(t.link().value(timeline::moved_out, 0), t.link().value(timeline::moved_in, 0));
    EXPECT_EQ(t.unknown_copies(), 1u);
    EXPECT_EQ(t.cut_jobs(), 1u);
    EXPECT_EQ(t.cut_bytes(), 50u);
}

TEST_F(timeline_test, evictions_are_told_by_their_cause)
{
    begin(2, 1000, "flip", 20);
    t.record({.time_ns = 1000, .bo = 10, .bo2 = 20, .process = 2, .type = event_type::evict_begin});
    move(2, 1000, 10, domain_vram, domain_gtt, true);
    end(2, 1000, "flip", 20);
    move(1, 2000, 10, domain_gtt, domain_vram);
    t.record({.time_ns = 3000, .bo = 10, .bo2 = 11, .process = 1, .type = event_type::evict_begin});
    move(1, 3000, 10, domain_vram, domain_gtt, true);
    t.record({.time_ns = 4000, .bo = 20, .bo2 = 10, .process = 1, .type = event_type::evict_begin});
    move(1, 4000, 20, domain_vram, domain_gtt, true);
    t.finish(5000);
    EXPECT_EQ(t.changes().sum(timeline::evicted_for_scanout), 1u);
    EXPECT_EQ(t.changes().sum(timeline::evicted_for_own), 1u);
    EXPECT_EQ(t.changes().sum(timeline::evicted_for_others), 1u);
    EXPECT_EQ(t.changes().sum(timeline::came_back), 1u);

    const timeline::bo_life &life = t.lives().at(10);
    EXPECT_EQ(life.evictions, 2u);
    ASSERT_EQ(life.changes.size(), 3u); // the fourth is over the limit
    EXPECT_EQ(life.left_out, 1u);
    EXPECT_EQ(t.left_out_changes(), 1u);
    EXPECT_TRUE(life.changes[1].eviction);
    EXPECT_TRUE(life.changes[1].for_scanout);
    EXPECT_EQ(life.changes[1].for_bo, 20u);
    EXPECT_EQ(life.changes[1].process, 2u);
    EXPECT_FALSE(life.changes[2].eviction);
    EXPECT_EQ(life.destroyed_ns, never_ns);
    EXPECT_EQ(life.info.priority, 7u);
}

TEST_F(timeline_test, a_tag_that_is_used_again_is_another_bo)
{
    op(1, 100, "bo_destroy", 10);
    EXPECT_EQ(t.lives().at(10).destroyed_ns, 100u);
    op(1, 200, "bo_create", 10);
    t.finish(300);
    EXPECT_TRUE(t.lives().at(10).name_again);
    EXPECT_EQ(t.lives().at(10).created_ns, 200u);
    EXPECT_EQ(t.lives().at(10).destroyed_ns, never_ns);
}

TEST_F(timeline_test, frames_are_thinned_to_the_longest)
{
    frame(1, 0, 0, 0); // the first begins
    for (u64 i = 1; i <= 100; i++)
        frame(1, i * 10, i, i == 37 ? 500 : i);
    frame(2, 5, 0, 0);
    frame(2, 25, 1, 20);
    t.finish(1000);
    const timeline::frame_series &f = t.frames(1);
    EXPECT_EQ(f.frames, 100u);
    EXPECT_LE(f.kept.size(), 4u);
    EXPECT_GE(f.stride * f.kept.size(), 100u);
    u64 longest = 0, last_ns = 0;
    for (const timeline::frame &x : f.kept) {
        longest = std::max(longest, x.duration_ns);
        EXPECT_GT(x.end_ns, last_ns);
        last_ns = x.end_ns;
    }
    EXPECT_EQ(longest, 500u);
    EXPECT_EQ(f.kept.back().duration_ns, 100u);
    ASSERT_EQ(t.frames(2).kept.size(), 1u);
    EXPECT_EQ(t.frames(2).kept[0].end_ns, 25u);
    EXPECT_EQ(t.frames(2).stride, 1u);
}

} // namespace
} // namespace vramlab::report
