// SPDX-License-Identifier: MIT
#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace vramlab;

namespace {

struct recorder final : sim::event_handler {
    recorder(int i, std::vector<int> &o) : id(i), out(o) {}
    void fire() override { out.push_back(id); }
    int id;
    std::vector<int> &out;
};

TEST(event_queue, orders_by_time_then_rank_then_seqno_then_insertion)
{
    sim::event_queue q;
    std::vector<int> out;
    recorder r[6] = {{0, out}, {1, out}, {2, out}, {3, out}, {4, out}, {5, out}};
    q.push(20, 0, 1, r[5]);
    q.push(10, 1, 1, r[3]);
    q.push(10, 1, 1, r[4]);
    q.push(10, 0, 7, r[2]);
    q.push(10, 0, 3, r[1]);
    q.push(5, 9, 9, r[0]);
    EXPECT_EQ(q.next_ns(), 5u);
    while (!q.empty())
        q.run_next();
    EXPECT_EQ(out, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(q.now_ns(), 20u);
    EXPECT_EQ(q.next_ns(), never_ns);
}

TEST(event_queue, clock_neither_goes_back_nor_passes_an_event)
{
    sim::event_queue q;
    std::vector<int> out;
    recorder r(0, out);
    q.push(10, 0, 0, r);
    q.set_now(7);
    EXPECT_THROW(q.set_now(6), std::logic_error);
    EXPECT_THROW(q.set_now(11), std::logic_error);
    EXPECT_THROW(q.push(6, 0, 0, r), std::logic_error);
    q.set_now(10);
    EXPECT_TRUE(out.empty()); // due now, fires with run_next()
    q.run_next();
    EXPECT_EQ(out.size(), 1u);
    EXPECT_THROW(q.run_next(), std::logic_error);
}

TEST(event_queue, an_event_may_be_moved_to_and_fro)
{
    sim::event_queue q;
    std::vector<int> out;
    recorder a(1, out), b(2, out);
    q.push(10, 0, 0, a);
    q.push(20, 1, 0, b);
    q.reschedule(30, a);
    EXPECT_EQ(q.next_ns(), 20u);
    q.run_next();
    q.reschedule(20, a); // now
    EXPECT_THROW(q.reschedule(19, a), std::logic_error);
    EXPECT_THROW(q.reschedule(40, b), std::logic_error); // it has fired
    q.run_next();
    EXPECT_EQ(out, (std::vector<int>{2, 1}));
    EXPECT_EQ(q.now_ns(), 20u);
}

// An event that fires may push another one for the same moment.
TEST(event_queue, events_may_push_events)
{
    sim::event_queue q;
    std::vector<int> out;
    recorder tail(1, out);
    struct pusher final : sim::event_handler {
        sim::event_queue &q;
        sim::event_handler &next;
        pusher(sim::event_queue &a, sim::event_handler &b) : q(a), next(b) {}
        void fire() override { q.push(q.now_ns(), 0, 0, next); }
    } p(q, tail);
    q.push(3, 0, 0, p);
    q.run_next();
    EXPECT_EQ(q.next_ns(), 3u);
    q.run_next();
    EXPECT_EQ(out, std::vector<int>{1});
}

} // namespace
