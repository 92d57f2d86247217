// SPDX-License-Identifier: MIT
// The text of the state, line by line, and that equal workloads give equal states and events.
#include "backend/sim_fixture.h"

#include "base/rng.h"

#include <map>

using namespace vramlab;
using namespace vramlab::backend;

namespace {

class sim_state : public sim_test {};

TEST_F(sim_state, of_a_fresh_device)
{
    system_config s = small_system();
    s.cgroups = {{"a", 0, 0, ~u64{0}}, {"a/b", 0, 0, ~u64{0}}};
    s.processes[1].cgroup = "a/b";
    b.reset(s);
    EXPECT_EQ(b.state(), "clock 0\n"
                         "budget accum_us 0 last_us 0 pinned 0\n"
                         "mgr vram size 16777216 usage 0\n"
                         "mgr gtt size 67108864 usage 0\n"
                         "free 0+16777216\n"
                         "engine gfx end 0 running 0 queued 0\n"
                         "engine copy end 0 running 0 queued 0\n"
                         "moves 0\n"
                         "charge a 0\n"
                         "charge a/b 0\n"
                         "task 1 idle\n"
                         "task 2 idle\n");
}

// Times worked out by hand: a fill of 4 MiB takes 20,259 ns, a copy 249,141 ns.
TEST_F(sim_state, of_a_small_workload)
{
    for (u64 tag = 1; tag <= 6; tag++)
        ASSERT_EQ(create(1, tag, 4, tag < 4 ? bo_vm_private : 0), 0);
    ASSERT_EQ(submit(1, {4, 5, 6}), 0);
    EXPECT_EQ(
        b.state(),
        "clock 0\n"
        "budget accum_us -4194304 last_us 0 pinned 0\n" // 6 x 4 MiB placed, 2 x 4 MiB evicted
        "mgr vram size 16777216 usage 16777216\n"
        "mgr gtt size 67108864 usage 8388608\n"
        "free\n"
        "engine gfx end 0 running 0 queued 1\n"
        "engine copy end 20259 running 8 queued 0\n"
        "moves 1\n"
        "vm 1 seqno 1 evicted\n"
        "vm 2 seqno 0 evicted\n"
        "bo 1 vm 1 size 4194304 mem gtt place pin 0 prio 7 pref 4 allowed 6 flags 1 cpu 0 busy 1\n"
        "bo 2 vm 1 size 4194304 mem gtt place pin 0 prio 7 pref 4 allowed 6 flags 1 cpu 0 busy 1\n"
        "bo 3 vm 1 size 4194304 mem vram place 4194304+4194304 pin 0 prio 7 pref 4 allowed 6 flags 1 cpu 0 "
        "busy 1\n"
        "bo 4 vm - size 4194304 mem vram place 0+4194304 pin 0 prio 7 pref 4 allowed 6 flags 0 cpu 0 busy 1\n"
        "bo 5 vm - size 4194304 mem vram place 12582912+4194304 pin 0 prio 7 pref 4 allowed 6 flags 0 cpu 0 "
        "busy 1\n"
        "bo 6 vm - size 4194304 mem vram place 8388608+4194304 pin 0 prio 7 pref 4 allowed 6 flags 0 cpu 0 "
        "busy 1\n"
        "lru gtt 1 1 2\n"
        "lru vram 1 4 5 6 3\n"
        "task 1 idle\n"
        "task 2 idle\n");
    ASSERT_EQ(wait(1), 0);
    ASSERT_EQ(pin(1, 5), 0);
    ASSERT_EQ(b.evict_all(), 0);
    ASSERT_EQ(destroy(1, 4), 0);
    EXPECT_EQ(b.state(),
              "clock 1368259\n" // 619,836 + 1,000 + 3 x 249,141
              "budget accum_us -4194304 last_us 0 pinned 4194304\n"
              "mgr vram size 16777216 usage 4194304\n"
              "mgr gtt size 67108864 usage 16777216\n"
              "free 0+8388608 8388608+4194304\n"
              "engine gfx end 620836 running 0 queued 0\n"
              "engine copy end 1368259 running 0 queued 0\n"
              "moves 0\n"
              "vm 1 seqno 1 evicted 3\n"
              "vm 2 seqno 0 evicted\n"
              "bo 1 vm 1 size 4194304 mem gtt place pin 0 prio 7 pref 4 allowed 6 flags 1 cpu 0 busy 0\n"
              "bo 2 vm 1 size 4194304 mem gtt place pin 0 prio 7 pref 4 allowed 6 flags 1 cpu 0 busy 0\n"
              "bo 3 vm 1 size 4194304 mem gtt place pin 0 prio 7 pref 4 allowed 6 flags 1 cpu 0 busy 0\n"
              "bo 5 vm - size 4194304 mem vram place 12582912+4194304 pin 1 prio 7 pref 4 allowed 6 flags 2 "
              "cpu 1 busy 0\n"
              "bo 6 vm - size 4194304 mem gtt place pin 0 prio 7 pref 4 allowed 6 flags 0 cpu 0 busy 0\n"
              "lru gtt 1 1 2 3 6\n" // private ones stay together
              "lru unevictable 5\n"
              "task 1 idle\n"
              "task 2 idle\n");
}

TEST_F(sim_state, ghosts_are_named_by_size)
{
    ASSERT_EQ(create(1, 1, 8), 0);
    ASSERT_EQ(create(2, 2, 12), 0);
    idle();
    ASSERT_EQ(destroy(2, 2), 0);
    ASSERT_EQ(submit(1, {1}), 0); // back into VRAM
    EXPECT_EQ(line("lru gtt 1"), "ghost:8388608");
    idle();
    EXPECT_EQ(line("lru gtt 1"), "(none)");
}

// Everything that a run shows.
struct record {
    std::vector<events::event> events;
    std::vector<std::string> states;
    std::vector<int> errors;
};

bool same(const events::event &a, const events::event &b)
{
    return a.time_ns == b.time_ns && a.bo == b.bo && a.bo2 == b.bo2 && a.a == b.a && a.b == b.b &&
           a.c == b.c && a.where == b.where && a.vm == b.vm && a.vm2 == b.vm2 && a.process == b.process &&
           a.error == b.error && a.type == b.type && a.flag == b.flag;
}

class sim_determinism : public sim_test {
protected:
    record run_random(u64 seed, bool listen = true)
    {
        record out;
        log.clear();
        b.set_event_sink(listen ? &log : nullptr);
        reset(small_system());
        rng r(seed);
        u64 next = 1;
        for (u32 i = 0; i < 300; i++) {
            const u32 vm = static_cast<u32>(r.between(1, 2));
            const u64 some = r.between(1, next);
            switch (r.below(10)) {
            case 0:
            case 1:
            case 2: {
                const u64 size = r.between(1, 6);
                const u32 flags = static_cast<u32>(r.below(8)), preferred = static_cast<u32>(r.between(1, 7));
                out.errors.push_back(create(vm, next++, size, flags, preferred));
                break;
            }
            case 3:
                out.errors.push_back(destroy(vm, some));
                break;
            case 4:
                out.errors.push_back(share(vm, some, 3 - vm));
                break;
            case 5:
                out.errors.push_back(pin(vm, some));
                break;
            case 6:
                out.errors.push_back(unpin(vm, some));
                break;
            case 7:
                b.advance(b.now_ns() + r.below(ns_per_ms));
                break;
            default: {
                std::vector<u64> bos;
                for (u64 n = r.below(8); n > 0; n--)
                    bos.push_back(r.between(1, next));
                out.errors.push_back(submit(vm, bos, r.below(ns_per_ms)));
            }
            }
            out.states.push_back(b.state());
        }
        b.set_event_sink(nullptr);
        out.events = log.events();
        return out;
    }
};

TEST_F(sim_determinism, the_same_workload_twice)
{
    for (u64 seed = 1; seed <= 5; seed++) {
        const record one = run_random(seed), two = run_random(seed);
        EXPECT_EQ(one.errors, two.errors);
        EXPECT_EQ(one.states, two.states);
        EXPECT_TRUE(
            std::equal(one.events.begin(), one.events.end(), two.events.begin(), two.events.end(), same));
        EXPECT_GT(one.events.size(), 300u);
    }
}

// What the events say has happened is where BOs are.
TEST_F(sim_determinism, moves_tell_where_bos_are)
{
    const record r = run_random(7);
    std::map<u64, u64> where;
    for (const events::event &e : r.events)
        if (e.type == events::event_type::move) {
            EXPECT_EQ(where[e.bo], e.a);
            where[e.bo] = e.b;
        }
    const char *names[] = {"none", "system", "gtt", "", "vram"};
    for (const auto &[tag, domain] : where) {
        if (const std::string mem = bo(tag, "mem"); mem != "(none)") {
            EXPECT_EQ(mem, names[domain]) << tag;
        }
    }
}

TEST_F(sim_determinism, listening_changes_nothing)
{
    const record with = run_random(3), without = run_random(3, false);
    EXPECT_EQ(with.states, without.states);
    EXPECT_TRUE(without.events.empty());
}

} // namespace
