// SPDX-License-Identifier: MIT
// Creating a BO that must be in VRAM while all that could make room is locked: mainline has no ticket to wait
// with and fails; with retry it starts over, and what it moved in vain counts.
#include "backend/sim_mechanisms_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

struct creation_case {
    const char *name;
    u32 flags;
};

class sim_create : public sim_mechanisms, public testing::WithParamInterface<creation_case> {
protected:
    // Process 1 has locked what is in VRAM, and is about to lock BO 3.
    void lock_everything(const char *policy)
    {
        use(policy);
        create(1, 1, 7, 0);
        create(1, 2, 7, 0);
        create(1, 3, 1, 0, priority_default, domain_gtt);
        sleep_ms(1000);
        run({.kind = request_kind::list_define, .vm = 1, .id = 1, .bos = {1, 2, 3}});
        b->begin({.kind = request_kind::submit, .process = 1, .vm = 1, .list = 1, .compute_ns = 1000});
        for (int locks = 0; locks < 3; locks++)
            ASSERT_EQ(b->step(1), task_state::parked);
    }
    task_state begin_creation()
    {
        return b->begin({.kind = request_kind::bo_create,
                         .process = 2,
                         .vm = 2,
                         .bo = 9,
                         .size_bytes = 8 * MiB,
                         .preferred = domain_vram,
                         .allowed = domain_vram,
                         .flags = GetParam().flags});
    }
    void run_on(u32 process)
    {
        while (b->state_of(process) == task_state::parked)
            b->step(process);
    }
    u64 count(events::event_type type) const
    {
        return static_cast<u64>(std::count_if(log.events().begin(), log.events().end(),
                                              [&](const events::event &e) { return e.type == type; }));
    }
};

TEST_P(sim_create, fails_in_mainline)
{
    lock_everything("mainline-7.3.4");
    begin_creation();
    run_on(2);
    EXPECT_EQ(b->state_of(2), task_state::idle) << "it waits for nobody";
    EXPECT_EQ(b->take_result(2).error, -ENOMEM);
    run_on(1);
    EXPECT_EQ(b->take_result(1).error, 0);
    EXPECT_EQ(line("bo 9"), "(none)");
}

TEST_P(sim_create, starts_over_with_retry)
{
    lock_everything("retry");
    begin_creation();
    run_on(2);
    EXPECT_EQ(b->state_of(2), task_state::blocked);
    EXPECT_EQ(count(events::event_type::lock_deadlk), 1u);
    EXPECT_EQ(line("bo 9"), "(none)") << "none is left of the first attempt";
    run_on(1);
    EXPECT_EQ(b->take_result(1).error, 0);
    run_on(2);
    EXPECT_EQ(b->take_result(2).error, 0);
    EXPECT_TRUE(in_vram(9));
    sleep_ms(1000);
    // Nothing is locked any more, and the new BO is as good as any.
    EXPECT_EQ(submit(1, {1, 2, 3}), 0);
    EXPECT_EQ(submit(2, GetParam().flags ? std::vector<u64>{} : std::vector<u64>{9}), 0);
    EXPECT_TRUE(in_vram(9));
}

// Who doesn't fit at all is told so, with nobody in the way and with the same error.
TEST_P(sim_create, what_does_not_fit_fails)
{
    for (const char *policy : {"mainline-7.3.4", "retry"}) {
        use(policy);
        create(1, 1, 12, 0);
        ASSERT_EQ(run({.kind = request_kind::pin, .vm = 1, .bo = 1}), 0);
        begin_creation();
        run_on(2);
        EXPECT_EQ(b->take_result(2).error, -ENOMEM) << policy;
        EXPECT_TRUE(in_vram(1));
    }
}

INSTANTIATE_TEST_SUITE_P(kind, sim_create,
                         testing::Values(creation_case{"shared", 0}, creation_case{"private", bo_vm_private}),
                         [](const auto &p) { return std::string(p.param.name); });

} // namespace
