// SPDX-License-Identifier: MIT
// Does conformance find what differs, and does shrinking leave what matters? The "kernel" is the model,
// through a backend that lies.
#include "backend/sim_backend.h"
#include "base/rng.h"
#include "runner/conform.h"
#include "runner/conform_words.h"
#include "runner/shrink.h"
#include "workload/checker.h"
#include "workload/swarm.h"

#include <gtest/gtest.h>

namespace vramlab::runner {
namespace {

using workload::op_kind;
using workload::operation;

// The model, but for one lie.
class lying_backend final : public backend::memory_backend {
public:
    enum class lie { none, pins_fail, bo_moved, throws };
    explicit lying_backend(lie l) : lie_(l) {}

    void reset(const system_config &s) override
    {
        pins_ = 0;
        sim_.reset(s);
    }
    result execute(const request &r) override
    {
        result res = sim_.execute(r);
        if (r.kind == request_kind::pin && res.error == 0) {
            pins_++;
            if (lie_ == lie::throws)
                throw std::runtime_error("hung");
            if (lie_ == lie::pins_fail)
                res.error = -ENOMEM;
        }
        return res;
    }
    backend::task_state begin(const request &r) override { return sim_.begin(r); }
    backend::task_state step(u32 process) override { return sim_.step(process); }
    backend::task_state state_of(u32 process) override { return sim_.state_of(process); }
    result take_result(u32 process) override { return sim_.take_result(process); }
    u64 now_ns() override { return sim_.now_ns(); }
    u64 next_event_ns() override { return sim_.next_event_ns(); }
    void advance(u64 to_ns) override { sim_.advance(to_ns); }
    bool signaled(u32 vm, u64 seqno) override { return sim_.signaled(vm, seqno); }
    int evict_all() override { return sim_.evict_all(); }
    int swapout() override { return sim_.swapout(); }
    int set_limits(const cgroup_config &c) override { return sim_.set_limits(c); }
    backend::usage query_usage() override { return sim_.query_usage(); }
    void set_event_sink(events::event_sink *sink) override { sim_.set_event_sink(sink); }
    std::string state() override
    {
        std::string text = sim_.state();
        const std::size_t at = text.find(" pin 1 ");
        if (lie_ == lie::bo_moved && pins_ && at != std::string::npos)
            text.replace(at, 7, " pin 2 ");
        return text;
    }

private:
    backend::sim_backend sim_;
    lie lie_;
    u32 pins_ = 0;
};

comparison compare_with(const workload::workload &w, lying_backend::lie l)
{
    backend::sim_backend model;
    lying_backend kernel(l);
    return compare(w, model, kernel);
}

// A seed with a pin that succeeds outside of a block of concurrent operations.
workload::workload with_pins()
{
    return workload::make_swarm(3);
}

TEST(conform, equal_backends_do_not_differ)
{
    u64 deadlk = 0;
    for (u64 seed = 1; seed <= 20; seed++) {
        const workload::workload w = workload::make_swarm(seed);
        const comparison c = compare_with(w, lying_backend::lie::none);
        EXPECT_FALSE(c.diff) << "seed " << seed << ": " << c.diff->text;
        EXPECT_EQ(c.operations, w.operations.size());
        deadlk += c.deadlk > 0;
    }
    EXPECT_GE(deadlk, 2u); // at least a tenth
}

TEST(conform, finds_another_result)
{
    const comparison c = compare_with(with_pins(), lying_backend::lie::pins_fail);
    ASSERT_TRUE(c.diff);
    EXPECT_EQ(c.diff->kind, difference_kind::result);
    EXPECT_EQ(c.diff->index, c.operations);
    EXPECT_NE(c.diff->text.find("model success"), std::string::npos) << c.diff->text;
    EXPECT_NE(c.diff->text.find("kernel ENOMEM"), std::string::npos) << c.diff->text;
}

TEST(conform, finds_another_state_and_says_which_bo)
{
    const comparison c = compare_with(with_pins(), lying_backend::lie::bo_moved);
    ASSERT_TRUE(c.diff);
    EXPECT_EQ(c.diff->kind, difference_kind::state);
    EXPECT_NE(c.diff->text.find("pin model 1, kernel 2"), std::string::npos) << c.diff->text;
}

TEST(conform, a_side_that_throws_is_a_difference)
{
    const comparison c = compare_with(with_pins(), lying_backend::lie::throws);
    ASSERT_TRUE(c.diff);
    EXPECT_EQ(c.diff->kind, difference_kind::broken);
}

TEST(conform, finds_the_operation_when_states_are_compared_rarely)
{
    backend::sim_backend model;
    lying_backend kernel(lying_backend::lie::bo_moved);
    conform_options every;
    every.state_every = 1;
    conform_options rarely;
    rarely.state_every = 16;
    const comparison a = compare(with_pins(), model, kernel, every);
    const comparison b = compare(with_pins(), model, kernel, rarely);
    ASSERT_TRUE(a.diff && b.diff);
    EXPECT_LE(a.diff->index, b.diff->index);
    EXPECT_LT(b.diff->index - a.diff->index, 200u);
}

TEST(shrink, leaves_what_is_needed)
{
    const auto fails = [](const workload::workload &w) {
        return compare_with(w, lying_backend::lie::pins_fail).diff.has_value();
    };
    const workload::workload small = shrink(with_pins(), fails);
    EXPECT_TRUE(fails(small));
    // Open a VM, create a BO, pin it.
    EXPECT_LE(small.operations.size(), 3u);
    EXPECT_EQ(small.system.processes.size(), 1u);
    EXPECT_TRUE(small.system.cgroups.empty());

    workload::checker c;
    c.reset(small.system, small.order);
    for (const operation &op : small.operations)
        EXPECT_FALSE(c.take(op));
    EXPECT_FALSE(c.finish());
}

TEST(shrink, any_part_of_a_workload_becomes_well_formed)
{
    for (u64 seed = 1; seed <= 100; seed++) {
        workload::workload w = workload::make_swarm(seed);
        rng draw(seed);
        std::erase_if(w.operations, [&](const operation &) { return draw.below(3) == 0; });
        w = make_well_formed(w);
        workload::checker c;
        c.reset(w.system, w.order);
        for (const operation &op : w.operations) {
            const workload::defect d = c.take(op);
            ASSERT_FALSE(d) << "seed " << seed << ", line " << op.line << ": " << d.problem;
        }
        EXPECT_FALSE(c.finish());
    }
}

TEST(conform_words, lists_are_cut_to_where_they_part)
{
    const std::string text =
        describe_state_difference("lru vram 1 1 2 3 4 5\nclock 1\n", "lru vram 1 1 2 3 5 4\nclock 1\n");
    EXPECT_NE(text.find("lru vram 1: from entry 4"), std::string::npos) << text;
    EXPECT_EQ(text.find("clock"), std::string::npos) << text;
}

} // namespace
} // namespace vramlab::runner
