// SPDX-License-Identifier: MIT
// Does the executor run operations in the order, and at the times, that the workload says?
#include "runner/executor.h"

#include "runner/fake_backend.h"

#include <gtest/gtest.h>

namespace vramlab::runner {
namespace {

using workload::op_kind;
using workload::operation;

struct builder {
    workload::workload w;

    explicit builder(workload::order_kind order) { w.order = order; }
    operation &add(op_kind kind, u32 process)
    {
        operation op;
        op.kind = kind;
        op.process = process;
        op.vm = process;
        op.line = static_cast<u32>(w.operations.size()) + 1;
        w.operations.push_back(op);
        return w.operations.back();
    }
    void request(request_kind kind, u32 process, u64 compute_ns = 0, op_kind how = op_kind::request)
    {
        operation &op = add(how, process);
        op.req.kind = kind;
        op.req.process = op.req.vm = process;
        op.req.list = 1;
        op.req.compute_ns = compute_ns;
    }
    void list(u32 process, std::vector<u64> bos)
    {
        request(request_kind::list_define, process);
        w.operations.back().req.id = 1;
        w.operations.back().req.bos = std::move(bos);
    }
    void submit(u32 process, u64 compute_ns) { request(request_kind::submit, process, compute_ns); }
    void begin(u32 process) { request(request_kind::submit, process, 0, op_kind::begin); }
    void at(op_kind kind, u32 process, u64 ns)
    {
        operation &op = add(kind, process);
        op.at_ns = op.period_ns = ns;
    }
    void flip(u32 process, u64 bo) { add(op_kind::flip, process).bo = bo; }
};

using calls = std::vector<std::string>;

TEST(TimeOrder, WhoeverIsReadyFirstGoesNext)
{
    builder b(workload::order_kind::time);
    b.at(op_kind::sleep, 2, 50);
    b.submit(2, 1);
    b.at(op_kind::sleep, 1, 70);
    b.submit(1, 1);
    b.at(op_kind::sleep, 1, 50); // in the past: at once
    b.submit(1, 1);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"50: submit 2 #1", "70: submit 1 #1", "70: submit 1 #2"}));
}

TEST(TimeOrder, TiesGoToTheLowerProcess)
{
    builder b(workload::order_kind::time);
    for (u32 p : {3u, 1u, 2u}) {
        b.at(op_kind::sleep, p, 10);
        b.submit(p, 1);
    }
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"10: submit 1 #1", "10: submit 2 #1", "10: submit 3 #1"}));
}

TEST(TimeOrder, WaitBackLetsOthersGoOn)
{
    builder b(workload::order_kind::time);
    b.submit(1, 100);
    b.submit(1, 100);
    b.add(op_kind::wait_back, 1).back = 1;
    b.submit(1, 5);
    b.at(op_kind::sleep, 2, 30);
    b.submit(2, 1);
    fake_backend f;
    const run_result r = execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"0: submit 1 #1", "0: submit 1 #2", "30: submit 2 #1", "100: submit 1 #3"}));
    EXPECT_EQ(r.results[2].begin_ns, 0u);
    EXPECT_EQ(r.results[2].end_ns, 100u);
}

TEST(TimeOrder, WaitRequestLetsOthersGoOn)
{
    builder b(workload::order_kind::time);
    b.submit(1, 100);
    b.request(request_kind::wait, 1);
    b.at(op_kind::sleep, 2, 30);
    b.submit(2, 1);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"0: submit 1 #1", "30: submit 2 #1", "100: wait 1"}));
}

TEST(TimeOrder, VblankIsTheNextMultiple)
{
    builder b(workload::order_kind::time);
    b.at(op_kind::vblank, 1, 16); // from 0: 16
    b.submit(1, 1);
    b.at(op_kind::vblank, 1, 16); // from 16: 32, never 16 again
    b.submit(1, 1);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"16: submit 1 #1", "32: submit 1 #2"}));
}

// A program that computes between its submissions, and one that goes on meanwhile.
TEST(TimeOrder, TheCpuOfOneIsNotThatOfAnother)
{
    builder b(workload::order_kind::time);
    b.at(op_kind::cpu, 1, 16);
    b.submit(1, 1);
    b.at(op_kind::cpu, 1, 16);
    b.submit(1, 1);
    b.at(op_kind::cpu, 2, 20);
    b.submit(2, 1);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"16: submit 1 #1", "20: submit 2 #1", "32: submit 1 #2"}));
}

TEST(TimeOrder, EndCutsProgramsOff)
{
    builder b(workload::order_kind::time);
    for (int i = 1; i < 10; i++) {
        b.at(op_kind::sleep, 1, i * 10);
        b.submit(1, 1);
    }
    b.at(op_kind::end, 0, 35);
    fake_backend f;
    const run_result r = execute(b.w, f);
    EXPECT_EQ(f.calls.size(), 3u);
    EXPECT_EQ(r.end_ns, 35u);
}

TEST(TimeOrder, SystemIsAProgramToo)
{
    builder b(workload::order_kind::time);
    b.at(op_kind::sleep, 0, 20);
    b.add(op_kind::evict_all, 0);
    b.at(op_kind::sleep, 1, 30);
    b.submit(1, 1);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"20: evict_all", "30: submit 1 #1"}));
}

TEST(TimeOrder, FramesCarryTimeAndSubmitLatency)
{
    builder b(workload::order_kind::time);
    events::event_log log;
    for (int i = 0; i < 3; i++) {
        b.add(op_kind::frame, 1);
        b.at(op_kind::vblank, 1, 16);
    }
    fake_backend f;
    execute(b.w, f, {.sink = &log});
    std::vector<u64> numbers, times;
    for (const auto &e : log.events())
        if (e.type == events::event_type::frame) {
            numbers.push_back(e.a);
            times.push_back(e.b);
        }
    EXPECT_EQ(numbers, (std::vector<u64>{0, 1, 2}));
    EXPECT_EQ(times, (std::vector<u64>{0, 16, 16}));
}

TEST(TimeOrder, FlipPinsTheNewBeforeItUnpinsTheOld)
{
    builder b(workload::order_kind::time);
    b.flip(1, 7);
    b.flip(1, 8);
    b.flip(1, 0);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"0: pin 7", "0: pin 8", "0: unpin 7", "0: unpin 8"}));
}

TEST(TimeOrder, FailedFlipKeepsWhatWasShown)
{
    builder b(workload::order_kind::time);
    b.flip(1, 7);
    b.flip(1, 8);
    b.flip(1, 0);
    fake_backend f;
    run_result r = execute(b.w, f, {.after_operation = [&](const operation_report &o) {
                               f.pin_error = o.index == 0 ? -ENOMEM : 0;
                               return true;
                           }});
    EXPECT_EQ(r.results[1].r.error, -ENOMEM);
    EXPECT_EQ(f.calls, (calls{"0: pin 7", "0: pin 8", "0: unpin 7"}));
}

TEST(TimeOrder, DestroyedBoIsNotShownAnyMore)
{
    builder b(workload::order_kind::time);
    b.flip(1, 7);
    b.request(request_kind::bo_destroy, 1);
    b.w.operations.back().req.bo = 7;
    b.flip(1, 8);
    fake_backend f;
    execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"0: pin 7", "0: pin 8"}));
}

TEST(TimeOrder, FileOrderOperationsAreRefused)
{
    builder b(workload::order_kind::time);
    b.add(op_kind::step, 1);
    fake_backend f;
    EXPECT_THROW(execute(b.w, f), workload_error);
}

TEST(FileOrder, BegunOperationEndsInTheStepThatEndsIt)
{
    builder b(workload::order_kind::file);
    b.list(1, {5});
    b.begin(1);
    b.add(op_kind::step, 1); // takes 5
    b.add(op_kind::step, 1); // ends
    fake_backend f;
    std::vector<std::pair<u32, std::vector<u32>>> seen;
    const run_result r = execute(b.w, f, {.after_operation = [&](const operation_report &o) {
                                     seen.emplace_back(o.index, o.completed);
                                     return true;
                                 }});
    EXPECT_EQ(seen[1].second, std::vector<u32>{});
    EXPECT_EQ(seen[2].second, std::vector<u32>{});
    EXPECT_EQ(seen[3].second, std::vector<u32>{1});
    EXPECT_EQ(r.results[1].r.seqno, 1u);
}

TEST(FileOrder, BlockedRequestLetsTheLowestProcessGoOn)
{
    builder b(workload::order_kind::file);
    for (u32 p : {1u, 2u, 3u})
        b.list(p, {p == 1 ? 6u : 5u});
    b.begin(1);
    b.begin(2);
    b.add(op_kind::step, 1);
    b.add(op_kind::step, 2);
    b.submit(3, 0); // wants 5, which 2 holds: 1 is lower and goes first
    fake_backend f;
    const run_result r = execute(b.w, f);
    EXPECT_EQ(f.calls, (calls{"0: submit 1 #1", "0: submit 2 #1", "0: submit 3 #1"}));
    EXPECT_TRUE(r.failures.empty());
}

TEST(FileOrder, TasksLeftUnderWayAreFinished)
{
    builder b(workload::order_kind::file);
    b.list(1, {5});
    b.begin(1);
    fake_backend f;
    const run_result r = execute(b.w, f);
    EXPECT_TRUE(r.results[1].done);
}

TEST(FileOrder, RunPicksBySeed)
{
    auto order = [](u64 seed) {
        builder b(workload::order_kind::file);
        for (u32 p = 1; p <= 4; p++) {
            b.list(p, {p});
            b.begin(p);
        }
        b.add(op_kind::run, 0).seed = seed;
        fake_backend f;
        execute(b.w, f);
        return f.calls;
    };
    EXPECT_EQ(order(1).size(), 4u);
    EXPECT_EQ(order(1), order(1));
    // Two seeds may draw the same order; eight of them do not all.
    bool differs = false;
    for (u64 seed = 2; seed <= 8; seed++)
        differs |= order(seed) != order(1);
    EXPECT_TRUE(differs);
}

TEST(FileOrder, DeadlockIsAFailedInvariant)
{
    builder b(workload::order_kind::file);
    b.list(1, {5, 6});
    b.list(2, {6, 5});
    b.begin(1);
    b.begin(2);
    b.add(op_kind::step, 1);
    b.add(op_kind::step, 2);
    b.add(op_kind::finish, 1);
    fake_backend f;
    const run_result r = execute(b.w, f);
    ASSERT_EQ(r.failures.size(), 1u);
    EXPECT_EQ(r.failures[0].invariant, "deadlock");
    EXPECT_EQ(r.failures[0].line, 3u);
}

TEST(FileOrder, EndlessTaskIsAFailedInvariant)
{
    builder b(workload::order_kind::file);
    b.list(1, {5});
    b.begin(1);
    b.add(op_kind::run, 0);
    fake_backend f;
    f.endless = true;
    const run_result r = execute(b.w, f, {.max_steps = 1000});
    ASSERT_EQ(r.failures.size(), 1u);
    EXPECT_EQ(r.failures[0].invariant, "livelock");
}

TEST(FileOrder, OneOperationOfAProcessAtATime)
{
    builder b(workload::order_kind::file);
    b.list(1, {5});
    b.begin(1);
    b.submit(1, 0);
    fake_backend f;
    try {
        execute(b.w, f);
        FAIL();
    } catch (const workload_error &e) {
        EXPECT_EQ(e.line(), 3u);
    }
}

TEST(FileOrder, HookStopsTheRun)
{
    builder b(workload::order_kind::file);
    for (int i = 0; i < 5; i++)
        b.submit(1, 0);
    fake_backend f;
    const run_result r =
        execute(b.w, f, {.after_operation = [](const operation_report &o) { return o.index < 2; }});
    EXPECT_TRUE(r.stopped);
    EXPECT_EQ(f.calls.size(), 3u);
}

} // namespace
} // namespace vramlab::runner
