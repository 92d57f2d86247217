// SPDX-License-Identifier: MIT
// Does what is read most have the VRAM? The policy cost-aware, beside mainline on the same requests.
#include "backend/sim_policy_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

class sim_cost_aware : public sim_policy {
protected:
    // Frames of 10 ms that list `bos` and read mib of each of `read`.
    void frames(u32 vm, std::vector<u64> bos, const std::vector<u64> &read, u64 mib, int count)
    {
        do_it({.kind = request_kind::list_define, .vm = vm, .id = 1, .bos = std::move(bos)});
        std::vector<touch> touches;
        for (u64 tag : read)
            touches.push_back({tag, mib * MiB, mib * MiB});
        do_it({.kind = request_kind::touch_define, .vm = vm, .id = 1, .touches = std::move(touches)});
        for (int i = 0; i < count; i++) {
            ASSERT_EQ(do_it({.kind = request_kind::submit, .vm = vm, .list = 1, .touch_set = 1}).error, 0);
            other->advance(other->now_ns() + 10'000'000);
        }
    }
};

// All are listed by every frame, which is all that mainline sees.
TEST_F(sim_cost_aware, trades_what_is_only_listed_for_what_is_read)
{
    for (const char *policy : {"mainline-7.3.4", "cost-aware"}) {
        use(policy);
        for (u64 tag : {1, 2, 3})
            make(1, tag, 8);
        const bool evicts = std::string_view(policy) != "cost-aware";
        EXPECT_EQ(where(3), evicts ? "vram" : "gtt") << policy; // a new BO evicts nobody who is as new
        const u64 outside = evicts ? 1 : 3;
        frames(1, {1, 2, 3}, {outside}, 4, 60);
        EXPECT_EQ(where(outside), evicts ? "gtt" : "vram") << policy;
    }
}

TEST_F(sim_cost_aware, leaves_what_is_read_seldom_where_it_is)
{
    use("cost-aware");
    for (u64 tag : {1, 2, 3})
        make(1, tag, 8);
    frames(1, {1, 2, 3}, {}, 0, 300); // all have cooled down
    frames(1, {1, 2, 3}, {3}, 4, 1);
    frames(1, {1, 2, 3}, {}, 0, 50);
    EXPECT_EQ(where(3), "gtt"); // a move of 8 MiB would not have paid for one read of 4
}

TEST_F(sim_cost_aware, takes_vram_from_a_process_that_sleeps)
{
    use("cost-aware");
    make(1, 1, 15);
    other->advance(5'000'000'000);
    make(2, 2, 8);
    EXPECT_EQ(where(2), "vram");
    EXPECT_EQ(where(1), "gtt");
}

// BOs alike don't change places.
TEST_F(sim_cost_aware, does_not_shuttle)
{
    use("cost-aware");
    for (u64 tag : {1, 2, 3, 4})
        make(1, tag, 5);
    frames(1, {1, 2, 3, 4}, {1, 2, 3, 4}, 5, 50);
    std::vector<std::string> before, after;
    for (u64 tag : {1, 2, 3, 4})
        before.push_back(where(tag));
    frames(1, {1, 2, 3, 4}, {1, 2, 3, 4}, 5, 50);
    for (u64 tag : {1, 2, 3, 4})
        after.push_back(where(tag));
    EXPECT_EQ(before, after);
}

TEST_F(sim_cost_aware, what_only_vram_can_hold_evicts_the_coldest)
{
    use("cost-aware");
    make(1, 1, 8);
    make(1, 2, 7);
    frames(1, {1, 2}, {2}, 7, 20);
    make(2, 3, 6, 0, domain_vram);
    EXPECT_EQ(where(3), "vram");
    EXPECT_EQ(where(1), "gtt");
    EXPECT_EQ(where(2), "vram");
}

// One BO may be larger than what a plan moves.
TEST_F(sim_cost_aware, large_bos_come_back)
{
    system_config s = small_system();
    s.device.vram_size_bytes = 512 * MiB;
    s.device.gtt_size_bytes = 1024 * MiB;
    use("cost-aware", s);
    make(1, 1, 300);
    ASSERT_EQ(other->evict_all(), 0);
    EXPECT_EQ(where(1), "gtt");
    frames(1, {1}, {1}, 200, 30);
    EXPECT_EQ(where(1), "vram");
}

} // namespace
