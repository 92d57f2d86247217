// SPDX-License-Identifier: MIT
// A few hundred drawn inputs of the fuzz target, for those who have no libFuzzer; and do the invariants
// notice anything?
#include "fuzz/executor_input.h"
#include "fuzz/state_invariants.h"

#include "base/rng.h"
#include "workload/writer.h"

#include <gtest/gtest.h>

namespace vramlab::fuzz {
namespace {

TEST(FuzzExecutor, DrawnInputsKeepTheInvariants)
{
    rng random(1);
    for (u32 i = 0; i < 400; i++) {
        std::vector<u8> bytes(random.between(10, 1500));
        for (u8 &b : bytes)
            b = static_cast<u8>(random.next());
        const workload::workload w = workload_of(bytes.data(), bytes.size());
        const std::string problem = check_run(w);
        ASSERT_EQ(problem, "") << "input " << i << "\n" << workload::write_string(w);
    }
}

TEST(FuzzExecutor, EveryInputIsAWorkload)
{
    EXPECT_EQ(check_run(workload_of(nullptr, 0)), "");
    const u8 one = 0xff;
    EXPECT_EQ(check_run(workload_of(&one, 1)), "");
}

constexpr const char *good = "mgr vram size 16384 usage 8192\n"
                             "mgr gtt size 16384 usage 4096\n"
                             "free 8192+8192\n"
                             "budget accum_us 0 last_us 0 pinned 4096\n"
                             "vm 1 seqno 0 evicted 3\n"
                             "bo 1 vm - size 4096 mem vram place 0+4096 pin 1 prio 7\n"
                             "bo 2 vm 1 size 4096 mem vram place 4096+4096 pin 0 prio 7\n"
                             "bo 3 vm 1 size 4096 mem gtt place pin 0 prio 7\n"
                             "lru gtt 1 3\n"
                             "lru vram 1 2\n"
                             "lru unevictable 1\n"
                             "charge a 8192\n"
                             "charge a/b 4096\n";

std::string with(std::string what, const std::string &instead)
{
    std::string s = good;
    const std::size_t at = s.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return s.replace(at, what.size(), instead);
}

TEST(StateInvariants, GoodStateIsGood)
{
    EXPECT_EQ(check_state(good, {.at_rest = true, .all_charged = true, .bo_sizes = {}}), "");
}

TEST(StateInvariants, EachIsNoticed)
{
    auto broken = [](const std::string &what, const std::string &instead, bool at_rest = true) {
        EXPECT_NE(check_state(with(what, instead), {.at_rest = at_rest, .all_charged = true, .bo_sizes = {}}),
                  "")
            << instead;
    };
    broken("usage 8192", "usage 12288");
    broken("usage 4096", "usage 0");
    broken("free 8192+8192", "free 4096+8192", false); // overlaps BO 2
    broken("free 8192+8192", "free 8192+4096");
    broken("free 8192+8192", "free 12288+8192", false); // outside
    broken("place 4096+4096", "place 4096+2048");
    broken("lru vram 1 2", "lru vram 1 2 2", false);
    broken("lru vram 1 2", "lru vram 1 3", false); // in GTT
    broken("lru gtt 1 3", "lru gtt 1 9", false);   // no BO
    broken("lru vram 1 2\n", "");
    broken("lru vram 1 2", "lru vram 1 2 1", false); // twice
    broken("lru vram 1 2", "lru vram 1 2 ghost:4096");
    broken("pinned 4096", "pinned 0");
    broken("evicted 3", "evicted 1"); // not its own
    broken("charge a 8192", "charge a 4096");
    broken("charge a/b 4096", "charge a/b 12288");
}

} // namespace
} // namespace vramlab::fuzz
