// SPDX-License-Identifier: MIT
// Do explanations say what the events say, and is what repeats told once?
#include "report/explain.h"
#include "report/explain_failed.h"

#include <gtest/gtest.h>

namespace vramlab::report {
namespace {

using events::event;
using events::event_type;

// "game" (VM 1) with BO 10 and "compositor" (VM 2) with BO 20, both 4 MiB in VRAM.
struct recorder {
    explainer x;
    failure_explainer f;
    u64 index = 0;

    explicit recorder(u64 bo) : x(bo, processes()), f(processes())
    {
        for (u32 p : {1u, 2u}) {
            op(0, p, "vm_open", 0);
            begin(0, p, "bo_create", p * 10);
            move(0, p, p * 10, 0, domain_vram, false);
            end(0, p, "bo_create", p * 10);
        }
    }
    static std::vector<process_config> processes() { return {{1, "game", ""}, {2, "compositor", ""}}; }
    void record(event e)
    {
        if (e.type == event_type::op_begin && std::string_view(e.where) == "bo_create") {
            e.b = domain_vram | u64{e.bo == 10 ? flags_of_10 : 0u} << 16 | u64{7} << 24;
            e.c = 4 * MiB;
        }
        x.record(e);
        f.record(e);
    }
    void begin(u64 t, u32 p, const char *name, u64 bo)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = index,
                .where = name,
                .vm = p,
                .process = p,
                .type = event_type::op_begin});
    }
    void end(u64 t, u32 p, const char *name, u64 bo, int error = 0)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = index++,
                .where = name,
                .vm = p,
                .process = p,
                .error = error,
                .type = event_type::op_end});
    }
    void op(u64 t, u32 p, const char *name, u64 bo)
    {
        begin(t, p, name, bo);
        end(t, p, name, bo);
    }
    void move(u64 t, u32 p, u64 bo, u64 from, u64 to, bool evict)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = from,
                .b = to,
                .c = 4 * MiB,
                .process = p,
                .type = event_type::move,
                .flag = evict});
    }
    void evict(u64 t, u32 p, u64 bo, u64 bo2)
    {
        record({.time_ns = t, .bo = bo, .bo2 = bo2, .process = p, .type = event_type::evict_begin});
        move(t, p, bo, domain_vram, domain_gtt, true);
    }
    void validate(u64 t, u32 p, u64 bo, u64 asked, u64 before, u64 after, int error = 0)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = asked,
                .b = before,
                .c = after,
                .process = p,
                .error = error,
                .type = event_type::validate});
    }
    void budget(u64 t, u32 p, u64 bytes)
    {
        record({.time_ns = t, .a = bytes, .process = p, .type = event_type::budget});
    }
    std::string text()
    {
        x.finish(0);
        return x.render(painter(false));
    }

    u32 flags_of_10 = 0;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_HAS_NOT(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

TEST(Explain, EvictedForWhomAndWhy)
{
    recorder r(10);
    r.begin(5, 1, "submit", 0);
    r.validate(5, 1, 10, domain_vram, domain_vram, domain_vram);
    r.end(5, 1, "submit", 0);
    r.begin(9, 2, "flip", 20);
    r.record({.bo = 20, .a = domain_vram, .b = 4 * MiB, .process = 2, .type = event_type::alloc_failed});
    r.record({.bo = 11, .bo2 = 20, .where = "pinned", .process = 2, .type = event_type::evict_skipped});
    r.record({.bo = 11,
              .bo2 = 20,
              .where = "pinned",
              .process = 2,
              .type = event_type::evict_skipped}); // another pass
    r.evict(9, 2, 10, 20);
    r.end(9, 2, "flip", 20);
    const std::string text = r.text();
    EXPECT_HAS(text, "evicted from VRAM to make room for BO 20 (4 MiB of compositor, scanout) in "
                     "compositor's flip: next in LRU "
                     "order, last used by the submission at 0.000000005 s (skipping 1 pinned)");
    EXPECT_HAS(text, "It has not come back because no submission has used it since.");
}

TEST(Explain, StaysOutsideForTheBudget)
{
    recorder r(10);
    r.evict(1, 2, 10, 20);
    for (u64 t = 10; t < 20; t++) {
        r.begin(t, 1, "submit", 0);
        r.budget(t, 1, 4 * MiB);
        r.move(t, 1, 11, domain_gtt, domain_vram, false);
        r.validate(t, 1, 10, domain_vram | domain_gtt, domain_gtt, domain_gtt);
        r.end(t, 1, "submit", 0);
    }
    const std::string text = r.text();
    EXPECT_HAS(text, "the submission's move threshold is used up (4 MiB of 4 MiB)");
    EXPECT_HAS(text, "(10 times until 0.000000019 s)");
    EXPECT_HAS(text, "(10 times in a row)");
}

TEST(Explain, PrivateBoThatLeftTheEvictedList)
{
    recorder r(10);
    r.flags_of_10 = bo_vm_private;
    r.begin(0, 1, "bo_create", 10);
    r.move(0, 1, 10, 0, domain_vram, false);
    r.end(0, 1, "bo_create", 10);
    r.evict(1, 2, 10, 20);
    r.begin(2, 1, "submit", 0);
    r.budget(2, 1, 0);
    r.validate(2, 1, 10, domain_vram | domain_gtt, domain_gtt, domain_gtt);
    r.end(2, 1, "submit", 0);
    for (u64 t = 3; t < 6; t++)
        r.op(t, 1, "submit", 0);
    const std::string text = r.text();
    EXPECT_HAS(text, "it left the list when it was validated in an allowed domain");
    EXPECT_HAS(text, "the last 3 submissions of its VM did not look at it");
}

TEST(Explain, ComesBack)
{
    recorder r(10);
    r.evict(1, 2, 10, 20);
    r.begin(2, 1, "submit", 0);
    r.move(2, 1, 10, domain_gtt, domain_vram, false);
    r.validate(2, 1, 10, domain_vram, domain_gtt, domain_vram);
    r.end(2, 1, "submit", 0);
    const std::string text = r.text();
    EXPECT_HAS(text, "game's submit: moved from GTT into VRAM");
    EXPECT_HAS(text, "It is in VRAM since 0.000000002 s.");
}

TEST(Explain, AComingAndGoingIsToldOnce)
{
    recorder r(10);
    for (u64 t = 10; t < 1000; t += 10) {
        r.evict(t, 2, 10, 20);
        r.begin(t + 2, 1, "submit", 0);
        r.move(t + 2, 1, 10, domain_gtt, domain_vram, false);
        r.validate(t + 2, 1, 10, domain_vram, domain_gtt, domain_vram);
        r.end(t + 2, 1, "submit", 0);
    }
    r.x.finish(0);
    EXPECT_LT(r.x.story().lines().size(), 8u) << r.text();
    u64 evictions = 0;
    for (const auto &l : r.x.story().lines())
        evictions += l.key.starts_with("evicted") ? l.count : 0;
    EXPECT_EQ(evictions, 99u);
}

TEST(Explain, UnknownBo)
{
    recorder r(77);
    r.x.finish(0);
    EXPECT_FALSE(r.x.known());
}

TEST(Explain, SkippedAndDeadlocked)
{
    recorder r(10);
    r.begin(1, 2, "submit", 0);
    r.record({.time_ns = 1,
              .bo = 10,
              .bo2 = 20,
              .where = "locked",
              .process = 2,
              .type = event_type::evict_skipped});
    r.record(
        {.time_ns = 1, .bo = 10, .a = 1, .process = 2, .error = -EDEADLK, .type = event_type::lock_deadlk});
    r.end(1, 2, "submit", 0);
    const std::string text = r.text();
    EXPECT_HAS(text, "looked at for eviction to make room for BO 20 (4 MiB of compositor) in compositor's "
                     "submit, and left: locked");
    EXPECT_HAS(text, "compositor asked for its lock and had to die: -EDEADLK (held by game, who is older)");
}

TEST(ExplainFailed, ChainWithFunctionNames)
{
    recorder r(10);
    auto convert = [&](int from, int to, const char *where) {
        r.record({.bo = 20,
                  .a = static_cast<u64>(from),
                  .where = where,
                  .process = 2,
                  .error = -to,
                  .type = event_type::error_converted});
    };
    for (u64 t : {5u, 7u}) {
        r.begin(t, 2, "submit", 0);
        r.record({.bo = 20,
                  .a = domain_vram,
                  .b = 32 * MiB,
                  .process = 2,
                  .error = -ENOSPC,
                  .type = event_type::alloc_failed});
        r.record({.bo = 11, .bo2 = 20, .where = "locked", .process = 2, .type = event_type::evict_skipped});
        convert(EAGAIN, EBUSY, "unrelated");
        r.record({.bo = 10, .a = 1, .process = 2, .error = -EDEADLK, .type = event_type::lock_deadlk});
        convert(EDEADLK, ENOSPC, "ttm_lru_walk_ticketlock");
        convert(ENOSPC, ENOMEM, "ttm_bo_validate");
        r.end(t, 2, "submit", 0, -ENOMEM);
    }
    ASSERT_EQ(r.f.failures().size(), 1u);
    EXPECT_EQ(r.f.failures()[0].count, 2u);
    EXPECT_EQ(r.f.failures()[0].chain,
              "-EDEADLK from the lock → -ENOSPC in ttm_lru_walk_ticketlock → -ENOMEM in ttm_bo_validate");
    EXPECT_EQ(
        r.f.failures()[0].example,
        "BO 20 wanted 32 MiB of VRAM; victims skipped: 1 locked; BO 10 was locked by game, who is older");
}

TEST(ExplainFailed, NoSpace)
{
    recorder r(10);
    r.begin(5, 1, "bo_create", 12);
    r.record({.bo = 12,
              .a = domain_gtt,
              .b = MiB,
              .process = 1,
              .error = -ENOSPC,
              .type = event_type::alloc_failed});
    r.record({.bo = 12,
              .a = ENOSPC,
              .where = "ttm_bo_validate",
              .process = 1,
              .error = -ENOMEM,
              .type = event_type::error_converted});
    r.end(5, 1, "bo_create", 12, -ENOMEM);
    ASSERT_EQ(r.f.failures().size(), 1u);
    EXPECT_EQ(r.f.failures()[0].chain, "-ENOSPC from the allocator: no space → -ENOMEM in ttm_bo_validate");
}

TEST(ExplainFailed, NothingFailed)
{
    recorder r(10);
    EXPECT_EQ(r.f.render(painter(false)), "no operation failed\n");
}

TEST(Narrative, FoldsRunsAndCycles)
{
    narrative n;
    for (u64 t = 0; t < 10; t++)
        n.add(t, "a", "a");
    for (u64 t = 10; t < 30; t++)
        n.add(t, t % 2 ? "c" : "b", "bc");
    n.add(30, "d", "d");
    ASSERT_EQ(n.lines().size(), 4u);
    EXPECT_EQ(n.lines()[0].count, 10u);
    EXPECT_EQ(n.lines()[1].count, 10u);
    EXPECT_EQ(n.lines()[2].count, 10u);
    EXPECT_EQ(n.lines()[2].last_ns, 29u);
}

TEST(Narrative, FoldsCyclesInWhichALineRepeats)
{
    narrative n;
    for (u64 t = 0; t < 100; t += 10) {
        n.add(t, "out", "out");
        n.add(t + 1, "in", "in");
        for (u64 i = 0; i < 1 + t % 3; i++)
            n.add(t + 2, "skipped", "skipped");
    }
    ASSERT_EQ(n.lines().size(), 3u);
    EXPECT_EQ(n.lines()[0].count, 10u);
    EXPECT_EQ(n.lines()[1].count, 10u);
}

} // namespace
} // namespace vramlab::report
