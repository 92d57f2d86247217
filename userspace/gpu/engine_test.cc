// SPDX-License-Identifier: MIT
#include "gpu/engine.h"

#include <gtest/gtest.h>

#include <string>

using namespace vramlab;

namespace {

struct test_job final : gpu::engine_job {
    test_job(sim::event_queue &queue, std::string &l, char n, u64 seq, gpu::job_time t)
        : q(queue), log(l), name(n)
    {
        seqno = seq;
        time = t;
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
    gpu::link l;
    gpu::engine e(q, l, 0);
    std::string log;
    test_job a(q, log, 'a', 1, {10}), b(q, log, 'b', 2, {5}), c(q, log, 'c', 3, {1});
    EXPECT_EQ(e.end_ns(), 0u);
    e.run(a);
    q.set_now(4);
    e.run(b);
    EXPECT_EQ(e.end_ns(), 10u); // of the one that runs
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
    gpu::link l;
    gpu::engine gfx(q, l, 0), copy(q, l, 1);
    std::string log;
    test_job a(q, log, 'a', 9, {10}), b(q, log, 'b', 1, {10});
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
    gpu::link l;
    gpu::engine e(q, l, 0);
    std::string log;
    test_job a(q, log, 'a', 1, {}), b(q, log, 'b', 2, {});
    e.run(a);
    e.run(b);
    EXPECT_EQ(q.next_ns(), 0u);
    EXPECT_EQ(log, "+a0 ");
    q.run_next();
    q.run_next();
    EXPECT_EQ(log, "+a0 -a0 +b0 -b0 ");
}

constexpr gpu::link_direction in = gpu::link_direction::in, out = gpu::link_direction::out;

// Two engines and their link. run_all() returns what happened, in order.
struct two_engines {
    sim::event_queue q;
    gpu::link l;
    gpu::engine gfx{q, l, 0}, copy{q, l, 1};
    std::string log;

    std::string run_all()
    {
        while (!q.empty())
            q.run_next();
        return log;
    }
};

// The fixed part first, then the link; or both at once.
TEST(engine, fixed_part_and_transfer)
{
    two_engines e;
    test_job a(e.q, e.log, 'a', 1, {10, 30, in, false}), b(e.q, e.log, 'b', 2, {10, 30, in, true}),
        c(e.q, e.log, 'c', 3, {30, 10, in, true});
    for (test_job *j : {&a, &b, &c})
        e.gfx.run(*j);
    EXPECT_EQ(e.gfx.end_ns(), 40u);
    EXPECT_EQ(e.run_all(), "+a0 -a40 +b40 -b70 +c70 -c100 ");
}

// A job reads over the link while a copy comes in: each has half of it until one is done.
TEST(engine, remote_reads_and_copies_share_the_link)
{
    two_engines e;
    test_job job(e.q, e.log, 'j', 1, {0, 100, in, true}), move(e.q, e.log, 'm', 1, {0, 40, in, true});
    e.gfx.run(job);
    EXPECT_EQ(e.gfx.end_ns(), 100u);
    e.q.set_now(20);
    e.copy.run(move);
    EXPECT_EQ(e.gfx.end_ns(), 140u); // 20 + 2 * 40 + the other 40
    EXPECT_EQ(e.copy.end_ns(), 100u);
    EXPECT_EQ(e.run_all(), "+j0 +m20 -m100 -j140 ");
}

// What goes out does not slow down what comes in.
TEST(engine, the_links_directions_are_independent)
{
    two_engines e;
    test_job job(e.q, e.log, 'j', 1, {0, 100, in, true}), move(e.q, e.log, 'm', 1, {0, 40, out, true});
    e.gfx.run(job);
    e.copy.run(move);
    EXPECT_EQ(e.run_all(), "+j0 +m0 -m40 -j100 ");
}

// A transfer that ends while its job still computes gives its share back, though nothing else happens then.
TEST(engine, a_transfer_can_end_before_its_job)
{
    two_engines e;
    test_job job(e.q, e.log, 'j', 1, {1000, 10, in, true}), move(e.q, e.log, 'm', 1, {5, 40, in, false});
    e.gfx.run(job);
    e.copy.run(move);
    // Alone until 5; both until 15, when the job has its 10; then alone again: 5 of 40 done.
    EXPECT_EQ(e.copy.end_ns(), 50u);
    EXPECT_EQ(e.run_all(), "+j0 +m0 -m50 -j1000 ");
}

} // namespace
