// SPDX-License-Identifier: MIT
// Does a trace become the workload that it shows, and does the reader of workloads accept it?
#include "gputrace/import.h"
#include "gputrace/trace_builder.h"
#include "workload/reader.h"
#include "workload/writer.h"

#include <gtest/gtest.h>

#include <map>

using namespace vramlab;
using namespace vramlab::gputrace;
using namespace vramlab::gputrace::test;
using workload::op_kind;
using workload::operation;

namespace {

struct imported {
    workload::workload w; // as read back from text
    import_summary summary;
    std::string words;

    u32 count(op_kind kind, u32 process) const
    {
        u32 n = 0;
        for (const operation &op : w.operations)
            n += op.kind == kind && op.process == process;
        return n;
    }
    std::vector<request> requests(request_kind kind, u32 process) const
    {
        std::vector<request> out;
        for (const operation &op : w.operations)
            if (op.kind == op_kind::request && op.req.kind == kind && op.process == process)
                out.push_back(op.req);
        return out;
    }
};

imported import_bytes(const std::vector<u8> &bytes, import_options o = {})
{
    const auto first = open(bytes), second = open(bytes);
    const frame_probe probe(*first);
    importer i(std::move(o));
    i.read(*second, probe);
    workload::workload w = i.header();
    i.operations([&](const operation &op) { w.operations.push_back(op); });
    return {workload::read_string(workload::write_string(w)), i.summary(), i.print_summary()};
}

TEST(import, jobs_and_frames)
{
    trace_builder b;
    for (u64 n = 0; n < 5; n++) {
        b.later(20 * n * ns_per_ms, [&b, n] {
            b.event(20 * n * ns_per_ms, 0, "drm_vblank_event", {{"crtc", u64{0}}, {"seq", n}});
        });
        for (u64 k = 0; k < 2; k++)
            b.sched_job(11, "gfx", 40, 1 + 2 * n + k, (20 * n + 1 + k) * ns_per_ms,
                        (20 * n + 1 + k) * ns_per_ms, (20 * n + 6 + 3 * k) * ns_per_ms);
    }
    b.sched_job(20, "gfx", 41, 1, 95 * ns_per_ms, 95 * ns_per_ms, 0); // never done
    const imported x = import_bytes(b.finish());
    EXPECT_EQ(x.summary.jobs, 10u);
    EXPECT_EQ(x.summary.frames, 6u);
    EXPECT_EQ(x.summary.unfinished_jobs, 1u);
    EXPECT_EQ(x.w.system.processes.at(0).name, "game-10");
    EXPECT_EQ(x.count(op_kind::frame, 1), 5u);
    const auto jobs = x.requests(request_kind::submit, 1);
    ASSERT_EQ(jobs.size(), 10u);
    for (std::size_t i = 0; i < jobs.size(); i++)
        EXPECT_EQ(jobs[i].compute_ns, (i % 2 ? 3 : 5) * ns_per_ms) << i;
    EXPECT_TRUE(x.requests(request_kind::submit, 2).empty());
    // When they were submitted, counted from the first event.
    std::vector<u64> times;
    for (const operation &op : x.w.operations)
        if (op.kind == op_kind::sleep && op.process == 1)
            times.push_back(op.at_ns);
    ASSERT_EQ(times.size(), 10u);
    for (std::size_t i = 0; i < times.size(); i++)
        EXPECT_EQ(times[i] - times[0], (20 * (i / 2) + i % 2) * ns_per_ms);
    // Nothing said what they use.
    u64 bytes = 0;
    for (const request &r : x.requests(request_kind::bo_create, 1)) {
        EXPECT_EQ(r.flags, bo_vm_private);
        bytes += r.size_bytes;
    }
    EXPECT_EQ(bytes, 256 * MiB);
    EXPECT_EQ(x.summary.without_bos, 2u);
    EXPECT_EQ(x.w.system.device.vram_size_bytes, 512 * MiB);
    EXPECT_NE(x.words.find("2 processes of whose memory"), std::string::npos) << x.words;
}

void bo(trace_builder &b, u64 t, s32 pid, u64 address, u64 pages, u64 domain)
{
    b.later(t, [=, &b] {
        b.event(
            t, pid, "amdgpu_bo_create",
            {{"bo", address}, {"pages", pages}, {"type", u64{0}}, {"prefer", domain}, {"allow", domain | 2}});
    });
}

void list(trace_builder &b, u64 t, s32 pid, std::vector<u64> addresses)
{
    for (const u64 a : addresses)
        b.later(t, [=, &b] {
            b.event(t, pid, "amdgpu_bo_list_set", {{"list", u64{0x9000}}, {"bo", a}, {"bo_size", 64 * KiB}});
        });
}

TEST(import, memory_that_the_trace_tells_of)
{
    trace_builder b;
    bo(b, 1 * ns_per_ms, 10, 0x100, 256, domain_vram);
    bo(b, 2 * ns_per_ms, 10, 0x200, 16, domain_vram);
    list(b, 3 * ns_per_ms, 10, {0x200, 0x300});
    b.sched_job(10, "gfx", 40, 1, 4 * ns_per_ms, 4 * ns_per_ms, 5 * ns_per_ms);
    b.sched_job(10, "gfx", 40, 2, 6 * ns_per_ms, 6 * ns_per_ms, 7 * ns_per_ms); // with the same list
    bo(b, 8 * ns_per_ms, 10, 0x200, 32, domain_gtt); // the address again: another BO
    b.sched_job(10, "gfx", 40, 3, 9 * ns_per_ms, 9 * ns_per_ms, 10 * ns_per_ms);
    list(b, 11 * ns_per_ms, 20, {0x300, 0x100}); // of the other process
    b.sched_job(20, "gfx", 41, 1, 12 * ns_per_ms, 12 * ns_per_ms, 13 * ns_per_ms);
    b.later(14 * ns_per_ms, [&b] {
        b.event(
            14 * ns_per_ms, 20, "amdgpu_bo_move",
            {{"bo", u64{0x400}}, {"bo_size", 2 * MiB}, {"new_placement", u64{1}}, {"old_placement", u64{2}}});
    });
    const imported x = import_bytes(b.finish(), {.vram_bytes = 8 * MiB});
    EXPECT_EQ(x.summary.bos_created, 3u);
    EXPECT_EQ(x.summary.bos_listed, 1u);
    EXPECT_EQ(x.summary.bos_moved, 1u);
    EXPECT_EQ(x.summary.shared_bos, 2u);
    EXPECT_EQ(x.summary.moves, 1u);
    EXPECT_EQ(x.summary.out_bytes, 2 * MiB);
    EXPECT_EQ(x.summary.without_bos, 0u);
    EXPECT_EQ(x.w.system.device.vram_size_bytes, 8 * MiB);
    const auto created = x.requests(request_kind::bo_create, 1);
    ASSERT_EQ(created.size(), 4u);
    std::map<u64, u64> bytes;
    for (const request &r : created)
        bytes[r.bo] = r.size_bytes;
    EXPECT_EQ(bytes[1], 1 * MiB);
    EXPECT_EQ(bytes[2], 64 * KiB);
    EXPECT_EQ(bytes[3], 64 * KiB);
    EXPECT_EQ(bytes[4], 128 * KiB);
    ASSERT_EQ(x.requests(request_kind::bo_destroy, 1).size(), 1u);
    EXPECT_EQ(x.requests(request_kind::bo_destroy, 1)[0].bo, 2u);
    const auto lists = x.requests(request_kind::list_define, 1);
    ASSERT_EQ(lists.size(), 2u);
    EXPECT_EQ(lists[0].bos, (std::vector<u64>{2, 3}));
    EXPECT_EQ(lists[1].bos, (std::vector<u64>{3})); // without what is gone
    EXPECT_EQ(x.requests(request_kind::bo_share, 1).size(), 2u);
    EXPECT_EQ(x.requests(request_kind::list_define, 2).at(0).bos, (std::vector<u64>{3, 1}));
}

// Drivers place a BO before they tell that it was created: one BO, with the domains that its creation told.
TEST(import, first_placement_and_creation_are_one)
{
    trace_builder b;
    for (u64 n = 1; n <= 3; n++) {
        b.event(
            n * ns_per_ms, 10, "vttm_bo_move",
            {{"tag", n}, {"size", n * MiB}, {"from", u64{0}}, {"to", u64{domain_vram}}, {"evict", u64{0}}});
        if (n < 3)
            b.event(n * ns_per_ms, 10, "vttm_bo_create",
                    {{"tag", n},
                     {"size", n * MiB},
                     {"preferred", u64{domain_vram}},
                     {"allowed", u64{domain_vram | domain_gtt}}});
    }
    b.event(
        4 * ns_per_ms, 10, "vttm_bo_create",
        {{"tag", u64{2}}, {"size", 2 * MiB}, {"preferred", u64{domain_gtt}}, {"allowed", u64{domain_gtt}}});
    b.sched_job(10, "gfx", 40, 1, 6 * ns_per_ms, 6 * ns_per_ms, 7 * ns_per_ms);
    const imported x = import_bytes(b.finish(), {});
    EXPECT_EQ(x.summary.bos_created, 4u) << "the last one has the tag of another";
    EXPECT_EQ(x.summary.bos_moved, 0u);
    const auto created = x.requests(request_kind::bo_create, 1);
    ASSERT_EQ(created.size(), 4u);
    EXPECT_EQ(created[0].allowed, domain_vram | domain_gtt);
    EXPECT_EQ(created[3].preferred, domain_gtt);
    EXPECT_EQ(x.requests(request_kind::bo_destroy, 1).size(), 1u);
}

// What the driver says of all BOs of a submission, when only some of them are known.
TEST(import, lists_larger_than_known)
{
    trace_builder b;
    bo(b, 1000, 10, 0x100, 256, domain_vram);
    b.later(2000, [&b] {
        b.event(2000, 10, "amdgpu_cs_bo_status", {{"total_bo", u64{100}}, {"total_size", 41 * MiB}});
    });
    b.sched_job(10, "gfx", 40, 1, 3000, 3000, 4000);
    const imported x = import_bytes(b.finish());
    EXPECT_EQ(x.summary.completed, 1u);
    EXPECT_EQ(x.summary.assumed_bytes, 40 * MiB);
    EXPECT_EQ(x.summary.needed_bytes, 41 * MiB);
    EXPECT_EQ(x.w.system.device.vram_size_bytes, 48 * MiB);
}

// The model makes its own copies: those of the trace are no jobs of a process.
TEST(import, copies_are_left_out)
{
    trace_builder b;
    b.sched_job(10, "gfx", 40, 1, 1000, 1000, 2000);
    b.sched_job(10, "copy", 41, 1, 1000, 1000, 2000);
    b.sched_job(10, "sdma0", 42, 1, 1000, 1000, 2000, "0000:03:00.0", ~u64{0} - 3);
    b.sched_job(0, "sdma0", 42, 2, 0, 2500, 3000);
    const imported x = import_bytes(b.finish());
    EXPECT_EQ(x.summary.jobs, 1u);
    EXPECT_EQ(x.summary.kernel_jobs, 3u);
    EXPECT_EQ(x.requests(request_kind::submit, 1).size(), 1u);
}

// Our own traces call the copy engine as amdgpu does, for gpuvis, and say on which ring it is.
TEST(import, copies_of_our_own_traces_are_left_out)
{
    const std::string s =
        " game-10 [000] 1.000001: amdgpu_cs_ioctl: timeline=gfx context=1 seqno=1 ring=gfx num_ibs=1\n"
        " game-10 [000] 1.000001: amdgpu_cs_ioctl: timeline=sdma0 context=1048576 seqno=1 ring=copy "
        "num_ibs=1\n"
        " game-10 [000] 1.000002: amdgpu_sched_run_job: timeline=gfx context=1 seqno=1 ring=gfx num_ibs=1\n"
        " game-10 [000] 1.000002: amdgpu_sched_run_job: timeline=sdma0 context=1048576 seqno=1 ring=copy "
        "num_ibs=1\n"
        " <idle>-0 [000] 1.000004: dma_fence_signaled: driver=vttm timeline=gfx context=1 seqno=1\n"
        " <idle>-0 [000] 1.000005: dma_fence_signaled: driver=vttm timeline=sdma0 context=1048576 seqno=1\n";
    const imported x = import_bytes(std::vector<u8>(s.begin(), s.end()));
    EXPECT_EQ(x.summary.jobs, 1u);
    EXPECT_EQ(x.summary.kernel_jobs, 1u);
}

TEST(import, nothing_to_replay)
{
    trace_builder b;
    b.event(1, 10, "mark", {{"x", u64{1}}});
    EXPECT_THROW(import_bytes(b.finish()), std::runtime_error);
}

} // namespace
