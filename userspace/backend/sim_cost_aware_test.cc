// SPDX-License-Identifier: MIT
// Does what is read most have the VRAM? The policy cost-aware, beside mainline on the same requests.
#include "backend/sim_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

class sim_cost_aware : public testing::Test {
protected:
    void use(const char *name)
    {
        b = std::make_unique<sim_backend>(driver::make_policy(name));
        system_config s = small_system(); // 16 MiB of VRAM
        b->reset(s);
        for (const process_config &p : s.processes)
            ASSERT_EQ(run({.kind = request_kind::vm_open, .vm = p.process}), 0);
    }
    int run(request r)
    {
        r.process = r.vm;
        return b->execute(r).error;
    }
    int make(u32 vm, u64 tag, u64 size_mib, u32 allowed = 0, u32 flags = 0)
    {
        return run({.kind = request_kind::bo_create,
                    .vm = vm,
                    .bo = tag,
                    .size_bytes = size_mib * MiB,
                    .preferred = domain_vram,
                    .allowed = allowed,
                    .flags = flags});
    }
    // Frames of 10 ms that list `bos` and read mib of each of `read`.
    void frames(u32 vm, std::vector<u64> bos, const std::vector<u64> &read, u64 mib, int count)
    {
        run({.kind = request_kind::list_define, .vm = vm, .id = 1, .bos = std::move(bos)});
        std::vector<touch> touches;
        for (u64 tag : read)
            touches.push_back({tag, mib * MiB, mib * MiB});
        run({.kind = request_kind::touch_define, .vm = vm, .id = 1, .touches = std::move(touches)});
        for (int i = 0; i < count; i++) {
            ASSERT_EQ(run({.kind = request_kind::submit, .vm = vm, .list = 1, .touch_set = 1}), 0);
            b->advance(b->now_ns() + 10'000'000);
        }
    }
    std::string where(u64 tag)
    {
        const std::string text = b->state(), head = "\nbo " + std::to_string(tag) + " ";
        const std::size_t at = text.find(" mem ", text.find(head)) + 5;
        return text.substr(at, text.find(' ', at) - at);
    }
    std::unique_ptr<sim_backend> b;
};

// All are listed by every frame, which is all that mainline sees.
TEST_F(sim_cost_aware, trades_what_is_only_listed_for_what_is_read)
{
    for (const char *policy : {"mainline-7.3.4", "cost-aware"}) {
        use(policy);
        for (u64 tag : {1, 2, 3})
            ASSERT_EQ(make(1, tag, 8), 0);
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
        ASSERT_EQ(make(1, tag, 8), 0);
    frames(1, {1, 2, 3}, {}, 0, 300); // all have cooled down
    run({.kind = request_kind::touch_define, .vm = 1, .id = 1, .touches = {{3, 4 * MiB, 4 * MiB}}});
    ASSERT_EQ(run({.kind = request_kind::submit, .vm = 1, .list = 1, .touch_set = 1}), 0);
    run({.kind = request_kind::touch_define, .vm = 1, .id = 1, .touches = {}});
    for (int i = 0; i < 50; i++) {
        ASSERT_EQ(run({.kind = request_kind::submit, .vm = 1, .list = 1}), 0);
        b->advance(b->now_ns() + 10'000'000);
    }
    EXPECT_EQ(where(3), "gtt"); // a move of 8 MiB would not have paid for one read of 4
}

TEST_F(sim_cost_aware, takes_vram_from_a_process_that_sleeps)
{
    use("cost-aware");
    ASSERT_EQ(make(1, 1, 15), 0);
    b->advance(5'000'000'000);
    ASSERT_EQ(make(2, 2, 8), 0);
    EXPECT_EQ(where(2), "vram");
    EXPECT_EQ(where(1), "gtt");
}

// BOs alike don't change places.
TEST_F(sim_cost_aware, does_not_shuttle)
{
    use("cost-aware");
    for (u64 tag : {1, 2, 3, 4})
        ASSERT_EQ(make(1, tag, 5), 0);
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
    ASSERT_EQ(make(1, 1, 8), 0);
    ASSERT_EQ(make(1, 2, 7), 0);
    frames(1, {1, 2}, {2}, 7, 20);
    ASSERT_EQ(make(2, 3, 6, domain_vram), 0);
    EXPECT_EQ(where(3), "vram");
    EXPECT_EQ(where(1), "gtt");
    EXPECT_EQ(where(2), "vram");
}

// One BO may be larger than what a plan moves.
TEST_F(sim_cost_aware, large_bos_come_back)
{
    b = std::make_unique<sim_backend>(driver::make_policy("cost-aware"));
    system_config s = small_system();
    s.device.vram_size_bytes = 512 * MiB;
    s.device.gtt_size_bytes = 1024 * MiB;
    b->reset(s);
    ASSERT_EQ(run({.kind = request_kind::vm_open, .vm = 1}), 0);
    ASSERT_EQ(make(1, 1, 300), 0);
    ASSERT_EQ(b->evict_all(), 0);
    EXPECT_EQ(where(1), "gtt");
    frames(1, {1}, {1}, 200, 30);
    EXPECT_EQ(where(1), "vram");
}

} // namespace
