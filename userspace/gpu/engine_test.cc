// SPDX-License-Identifier: MIT
#include "gpu/engine.h"

#include <gtest/gtest.h>

#include <string>

using namespace vramlab;

namespace {

struct test_job final : gpu::engine_job {
    test_job(sim::event_queue &queue, std::string &l, char n, u64 seq, u64 duration)
        : q(queue), log(l), name(n)
    {
        seqno = seq;
        duration_ns = duration;
    }
    void started() override { log += std::string{'+', name} + std::to_string(q.now_ns()) + " "; }
    void done() override { log += std::string{'-', name} + std::to_string(q.now_ns()) + " "; }
    sim::event_queue &q;
    std::string &log;
    char name;
};

TEST(engine, is_serial)
{
    sim::event_queue q;
    gpu::engine e(q, 0);
    std::string log;
    test_job a(q, log, 'a', 1, 10), b(q, log, 'b', 2, 5), c(q, log, 'c', 3, 1);
    EXPECT_EQ(e.end_ns(), 0u);
    e.run(a);
    q.set_now(4);
    e.run(b);
    EXPECT_EQ(e.end_ns(), 15u);
    EXPECT_EQ(e.running(), 2u);
    while (!q.empty())
        q.run_next();
    EXPECT_TRUE(e.idle());
    q.set_now(100);
    e.run(c); // an idle engine starts now
    EXPECT_EQ(c.start_ns, 100u);
    q.run_next();
    EXPECT_EQ(log, "+a0 -a10 +b10 -b15 +c100 -c101 ");
    EXPECT_EQ(e.end_ns(), 101u);
}

TEST(engine, ties_between_engines_go_by_rank_then_seqno)
{
    sim::event_queue q;
    gpu::engine gfx(q, 0), copy(q, 1);
    std::string log;
    test_job a(q, log, 'a', 9, 10), b(q, log, 'b', 1, 10);
    copy.run(b);
    gfx.run(a);
    q.run_next();
    EXPECT_TRUE(gfx.idle());
    EXPECT_FALSE(copy.idle());
    q.run_next();
    EXPECT_EQ(log, "+b0 +a0 -a10 -b10 ");
}

// A job without duration ends at once, but not before somebody makes time pass.
TEST(engine, zero_duration)
{
    sim::event_queue q;
    gpu::engine e(q, 0);
    std::string log;
    test_job a(q, log, 'a', 1, 0), b(q, log, 'b', 2, 0);
    e.run(a);
    e.run(b);
    EXPECT_EQ(q.next_ns(), 0u);
    EXPECT_EQ(log, "+a0 ");
    q.run_next();
    q.run_next();
    EXPECT_EQ(log, "+a0 -a0 +b0 -b0 ");
}

} // namespace
