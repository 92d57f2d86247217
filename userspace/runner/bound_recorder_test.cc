// SPDX-License-Identifier: MIT
// Does a run become the right question? Events by hand, as the executor and the backends emit them.
#include "bounds/link_bound.h"
#include "runner/bound_recorder.h"

#include <gtest/gtest.h>

namespace vramlab::runner {
namespace {

using events::event_type;

class recording {
public:
    recording() { w.system.device.vram_size_bytes = 100; }

    // Call for all operations before the first event.
    u32 add(request r)
    {
        workload::operation op;
        op.kind = workload::op_kind::request;
        op.process = r.process;
        op.req = std::move(r);
        w.operations.push_back(op);
        return static_cast<u32>(w.operations.size() - 1);
    }
    u32 bo(u64 tag, u64 size, u32 preferred, u32 allowed = 0, u32 flags = 0)
    {
        return add({.kind = request_kind::bo_create,
                    .process = 1,
                    .vm = 1,
                    .bo = tag,
                    .size_bytes = size,
                    .preferred = preferred,
                    .allowed = allowed,
                    .flags = flags});
    }
    u32 touch_set(u32 id, std::vector<touch> touches)
    {
        return add({.kind = request_kind::touch_define,
                    .process = 1,
                    .vm = 1,
                    .id = id,
                    .touches = std::move(touches)});
    }
    u32 list(u32 id, std::vector<u64> bos)
    {
        return add(
            {.kind = request_kind::list_define, .process = 1, .vm = 1, .id = id, .bos = std::move(bos)});
    }
    u32 submit(u32 touches, u32 listed = 0)
    {
        return add(
            {.kind = request_kind::submit, .process = 1, .vm = 1, .list = listed, .touch_set = touches});
    }

    void done(u32 index, u64 seqno = 0, int error = 0)
    {
        recorder.record({.a = index, .process = 1, .type = event_type::op_begin});
        recorder.record({.a = index, .b = seqno, .process = 1, .error = error, .type = event_type::op_end});
    }
    void started(u64 seqno)
    {
        recorder.record({.b = seqno, .vm = 1, .process = 1, .type = event_type::job_start});
    }
    void submitted(u32 index, u64 seqno)
    {
        done(index, seqno);
        started(seqno);
    }
    void moved(u64 tag, u32 to) { recorder.record({.bo = tag, .b = to, .type = event_type::move}); }
    void pin(event_type type, u64 tag, int error = 0)
    {
        recorder.record({.bo = tag, .error = error, .type = type});
    }

    workload::workload w;
    bound_recorder recorder{w};
};

TEST(bound_recorder, touches_of_what_ran)
{
    recording r;
    const u32 one = r.bo(7, 60, domain_vram), gtt = r.bo(8, 10, domain_gtt);
    const u32 set = r.touch_set(1, {{7, 1, 5}, {7, 1, 4}, {8, 1, 3}});
    const u32 first = r.submit(1), failed = r.submit(1), never = r.submit(1), last = r.submit(1);
    for (u32 i : {one, gtt, set})
        r.done(i);
    r.submitted(first, 1);
    r.done(failed, 0, -12);
    r.done(never, 2); // its job does not begin
    r.submitted(last, 3);
    const bounds::instance in = r.recorder.finish();
    EXPECT_EQ(in.steps, 2u);
    EXPECT_EQ(in.fixed_bytes, 6u); // GTT only: read over the link whatever happens
    ASSERT_EQ(in.objects.size(), 1u);
    EXPECT_EQ(in.objects[0].size_bytes, 60u);
    ASSERT_EQ(in.objects[0].uses.size(), 2u);
    EXPECT_EQ(in.objects[0].uses[1].step, 1u);
    EXPECT_EQ(in.objects[0].uses[1].remote_bytes, 9u);
}

// An idle engine begins a job before its submission returns: that one counts like all others.
TEST(bound_recorder, jobs_that_begin_at_once)
{
    recording r;
    const u32 one = r.bo(1, 60, domain_vram), set = r.touch_set(1, {{1, 1, 5}});
    const u32 at_once = r.submit(1), later = r.submit(1);
    r.done(one);
    r.done(set);
    r.recorder.record({.a = at_once, .process = 1, .type = event_type::op_begin});
    r.started(1);
    r.recorder.record({.a = at_once, .b = 1, .process = 1, .type = event_type::op_end});
    r.submitted(later, 2);
    const bounds::instance in = r.recorder.finish();
    EXPECT_EQ(in.steps, 2u);
    ASSERT_EQ(in.objects.size(), 1u);
    EXPECT_EQ(in.objects[0].uses.size(), 2u);
}

TEST(bound_recorder, only_vram_will_do)
{
    recording r;
    const u32 bos[] = {r.bo(1, 10, domain_vram, domain_vram),
                       r.bo(2, 10, domain_vram, domain_vram, bo_vm_private), r.bo(3, 10, domain_vram)};
    const u32 set = r.touch_set(1, {{3, 1, 2}}), listed = r.list(1, {1, 3});
    const u32 with = r.submit(1, 1), without = r.submit(0);
    const u32 gone = r.add({.kind = request_kind::bo_destroy, .process = 1, .vm = 1, .bo = 2});
    const u32 after = r.submit(0);
    for (u32 i : bos)
        r.done(i);
    for (u32 i : {set, listed})
        r.done(i);
    r.submitted(with, 1);
    r.submitted(without, 2);
    r.done(gone);
    r.submitted(after, 3);
    const bounds::instance in = r.recorder.finish();
    ASSERT_EQ(in.objects.size(), 3u);         // by tag, as the first submission needs all of them
    EXPECT_EQ(in.objects[0].uses.size(), 1u); // listed once
    EXPECT_EQ(in.objects[0].uses[0].remote_bytes, bounds::must_be_in_vram);
    EXPECT_EQ(in.objects[1].uses.size(), 2u); // private: for every submission while it exists
    EXPECT_EQ(in.objects[2].uses[0].remote_bytes, 2u);
}

TEST(bound_recorder, pins_all_the_while)
{
    recording r;
    const u32 one = r.bo(1, 10, domain_vram);
    const u32 before = r.submit(0), during = r.submit(0), late = r.submit(0), after = r.submit(0);
    r.done(one);
    r.moved(1, domain_vram);
    r.submitted(before, 1);
    r.pin(event_type::pin, 1, -12); // did not work
    r.recorder.record({.a = during, .process = 1, .type = event_type::op_begin});
    r.pin(event_type::pin, 1); // perhaps after the submission looked
    r.recorder.record({.a = during, .b = 2, .process = 1, .type = event_type::op_end});
    r.started(2);
    r.pin(event_type::pin, 1);
    r.pin(event_type::unpin, 1); // one is left
    r.submitted(late, 3);
    r.pin(event_type::unpin, 1);
    r.submitted(after, 4);
    const bounds::instance in = r.recorder.finish();
    ASSERT_EQ(in.objects.size(), 1u);
    ASSERT_EQ(in.objects[0].uses.size(), 1u);
    EXPECT_EQ(in.objects[0].uses[0].step, 2u);
    EXPECT_EQ(in.objects[0].uses[0].remote_bytes, bounds::must_be_in_vram);
}

// A pin can put into VRAM what is not allowed there: then it need not be read remotely. One that is elsewhere
// needs no VRAM.
TEST(bound_recorder, pins_where_the_bo_is)
{
    recording r;
    const u32 one = r.bo(1, 10, domain_gtt), two = r.bo(2, 10, domain_vram);
    const u32 set = r.touch_set(1, {{1, 1, 5}, {2, 1, 5}}), first = r.submit(1), second = r.submit(1);
    for (u32 i : {one, two, set})
        r.done(i);
    r.moved(2, domain_gtt);
    r.pin(event_type::pin, 2);
    r.submitted(first, 1);
    r.moved(1, domain_vram);
    r.pin(event_type::pin, 1);
    r.submitted(second, 2);
    const bounds::instance in = r.recorder.finish();
    EXPECT_EQ(in.fixed_bytes, 0u);
    ASSERT_EQ(in.objects.size(), 2u);
    EXPECT_EQ(in.objects[0].uses[0].remote_bytes, 5u);
    EXPECT_EQ(in.objects[0].uses[1].remote_bytes, bounds::must_be_in_vram);
    EXPECT_EQ(in.objects[1].uses[1].remote_bytes, 5u);
}

TEST(bound_recorder, births_and_evict_all)
{
    recording r;
    const u32 one = r.bo(1, 10, domain_vram), two = r.bo(2, 10, domain_vram);
    const u32 set = r.touch_set(1, {{1, 1, 4}}), both = r.touch_set(2, {{1, 1, 4}, {2, 1, 4}});
    const u32 submits[] = {r.submit(1), r.submit(1), r.submit(2)};
    workload::operation evict;
    evict.kind = workload::op_kind::evict_all;
    r.w.operations.push_back(evict);
    const u32 evict_all = static_cast<u32>(r.w.operations.size() - 1);
    for (u32 i : {one, set, both})
        r.done(i);
    r.submitted(submits[0], 1);
    r.done(evict_all);
    r.submitted(submits[1], 2);
    r.done(two);
    r.submitted(submits[2], 3);
    const bounds::instance in = r.recorder.finish();
    EXPECT_EQ(in.emptied, std::vector<u32>{1});
    EXPECT_EQ(in.objects[0].born, 0u);
    EXPECT_EQ(in.objects[1].born, 2u);
    EXPECT_EQ(bounds::least_link_bytes(in).upper_bytes,
              8u); // twice remote is cheaper than moving 10 bytes back
}

} // namespace
} // namespace vramlab::runner
