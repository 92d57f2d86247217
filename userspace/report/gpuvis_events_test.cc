// SPDX-License-Identifier: MIT
// Does a trace hold what happened, and in the form that gpuvis draws?
#include "report/gpuvis_events.h"
#include "report/gpuvis_formats.h"
#include "trace/reader.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

using namespace vramlab;
using events::event;
using events::event_type;

namespace {

struct read_back {
    std::vector<std::pair<std::string, std::string>> events; // name, fields as text
    std::vector<event> model;
    report::event_record_decoder decoder; // owns the strings

    u32 count(const std::string &name, const std::string &fields) const
    {
        u32 n = 0;
        for (const auto &[event_name, text] : events)
            n += event_name == name && text.starts_with(fields);
        return n;
    }
};

std::unique_ptr<read_back> trace_of(const std::vector<event> &run, std::vector<u64> periods = {})
{
    std::FILE *f = std::tmpfile();
    report::gpuvis_events sink(f, {{{1, "game", ""}, {2, "shell", ""}}, std::move(periods), "test"});
    for (const event &e : run)
        sink.record(e);
    sink.finish();
    auto out = std::make_unique<read_back>();
    const auto reader = trace::open_trace(trace::source_of(f));
    EXPECT_EQ(reader->info().comm(report::first_pid + 1), "game");
    u64 last_ns = 0;
    for (trace::record r; reader->next(r);) {
        EXPECT_GE(r.time_ns, last_ns);
        last_ns = r.time_ns;
        std::string text;
        for (const trace::field &x : r.format->fields)
            text += x.name + "=" + r.show(x) + " ";
        out->events.emplace_back(r.format->name, text);
        event e;
        if (out->decoder.decode(r, e))
            out->model.push_back(e);
    }
    EXPECT_EQ(reader->damages().count(), 0u);
    return out;
}

bool same(const event &a, const event &b)
{
    const std::string_view wa = a.where ? a.where : "", wb = b.where ? b.where : "";
    return a.time_ns == b.time_ns && a.bo == b.bo && a.bo2 == b.bo2 && a.a == b.a && a.b == b.b &&
           a.c == b.c && wa == wb && a.vm == b.vm && a.vm2 == b.vm2 && a.process == b.process &&
           a.error == b.error && a.type == b.type && a.flag == b.flag;
}

event begin(const char *op, u32 process, u32 vm, u64 bo = 0, u64 size = 0)
{
    return {.bo = bo, .c = size, .where = op, .vm = vm, .process = process, .type = event_type::op_begin};
}

event end(const char *op, u32 process, u32 vm, u64 seqno = 0, u64 bo = 0)
{
    return {.bo = bo, .b = seqno, .where = op, .vm = vm, .process = process, .type = event_type::op_end};
}

// Every type, every member with a value of its own, largest values too.
TEST(gpuvis_events, events_come_back)
{
    std::vector<event> run;
    for (u32 type = 0; type <= static_cast<u32>(event_type::range_chosen); type++) {
        const u64 n = 100 * u64{type};
        run.push_back({n, n + 1, n + 2, n + 3, n + 4, n + 5, type % 2 ? "some reason" : nullptr, type + 6,
                       type + 7, type % 3, -static_cast<s32>(type), event_type(type), static_cast<u8>(type)});
        run.push_back(run.back());
        event &e = run.back();
        e.bo = e.bo2 = e.a = e.b = e.c = ~u64{0};
        e.vm = e.vm2 = ~u32{0};
        e.flag = 255;
    }
    const auto back = trace_of(run);
    ASSERT_EQ(back->model.size(), run.size());
    for (std::size_t i = 0; i < run.size(); i++)
        EXPECT_TRUE(same(back->model[i], run[i])) << i;
}

// Queued, run, done: once each, whether the job starts before or after its submission has returned.
TEST(gpuvis_events, jobs)
{
    event start{.time_ns = 10, .a = 0, .b = 1, .c = 4096, .vm = 7, .type = event_type::job_start};
    event done{.time_ns = 20, .a = 0, .b = 1, .c = 4096, .vm = 7, .type = event_type::job_end};
    for (const bool early : {true, false}) {
        std::vector<event> run{begin("vm_open", 1, 7), end("vm_open", 1, 7), begin("submit", 1, 7)};
        if (early)
            run.insert(run.end(), {start, done});
        event returned = end("submit", 1, 7, 1);
        returned.time_ns = early ? 20 : 5;
        run.push_back(returned);
        if (!early)
            run.insert(run.end(), {start, done});
        const auto t = trace_of(run);
        EXPECT_EQ(t->count("amdgpu_cs_ioctl", "timeline=gfx context=7 seqno=1 "), 1u);
        EXPECT_EQ(t->count("amdgpu_sched_run_job", "timeline=gfx context=7 seqno=1 "), 1u);
        EXPECT_EQ(t->count("dma_fence_signaled", "driver=vttm timeline=gfx context=7 seqno=1 "), 1u);
        EXPECT_EQ(t->count("amdgpu_cs_ioctl", ""), 1u);
    }
}

TEST(gpuvis_events, moves_are_copy_jobs)
{
    const event out{.time_ns = 5,
                    .bo = 3,
                    .a = domain_vram,
                    .b = domain_gtt,
                    .c = 2 * MiB,
                    .vm = 7,
                    .process = 2,
                    .type = event_type::move,
                    .flag = 1};
    const event start{
        .time_ns = 5, .bo = 3, .a = 1, .b = 40, .vm = 7, .type = event_type::job_start, .flag = 1};
    const event done{.time_ns = 9, .bo = 3, .a = 1, .b = 40, .vm = 7, .type = event_type::job_end, .flag = 1};
    const event in{.time_ns = 2,
                   .bo = 3,
                   .b = domain_vram,
                   .c = 2 * MiB,
                   .vm = 7,
                   .process = 1,
                   .type = event_type::move};
    for (const bool early : {true, false}) {
        std::vector<event> run{begin("vm_open", 1, 7), end("vm_open", 1, 7),
                               begin("bo_create", 1, 7, 3, 2 * MiB), end("bo_create", 1, 7, 0, 3), in};
        run.push_back({.time_ns = 3,
                       .bo = 3,
                       .bo2 = 9,
                       .vm = 7,
                       .vm2 = 8,
                       .process = 2,
                       .type = event_type::evict_begin});
        if (early)
            run.insert(run.end(), {start, out, done});
        else
            run.insert(run.end(), {out, start, done});
        const auto t = trace_of(run);
        for (const char *name : {"amdgpu_cs_ioctl", "amdgpu_sched_run_job"})
            EXPECT_EQ(t->count(name, "timeline=sdma0 context=1048576 seqno=1 "), 1u) << early;
        EXPECT_EQ(t->count("dma_fence_signaled", "driver=vttm timeline=sdma0 context=1048576 seqno=1 "), 1u);
        EXPECT_EQ(t->count("vramlab_bo_move", "bo=3 bytes=2097152 evict=1 from=VRAM to=GTT owner=game "
                                              "reason=evicted for shell "),
                  1u);
        EXPECT_EQ(t->count("vramlab_vram", "mib=2 bos=1 "), 1u);
        EXPECT_EQ(t->count("vramlab_vram", "mib=0 bos=0 "), 1u);
    }
}

TEST(gpuvis_events, frames_and_vblanks)
{
    const std::vector<event> run{
        {.time_ns = 5 * ns_per_ms, .process = 1, .type = event_type::frame},
        {.time_ns = 21 * ns_per_ms, .a = 1, .b = 16 * ns_per_ms, .process = 1, .type = event_type::frame}};
    const auto t = trace_of(run, {10 * ns_per_ms, 1});
    EXPECT_EQ(t->count("drm_vblank_event", "crtc=0 "),
              3u); // at 0, 10 and 20 ms; a period of 1 ns is no display
    EXPECT_EQ(t->count("print", "ip=0 buf=frame 1 of game (lduration=-16000000) "), 1u);
    EXPECT_EQ(t->count("vramlab_frame_done", "process=1 number=1 time_us=16000 link_kib=0 name=game "), 1u);
}

// A device that idles for years has no vblank for each 16 ms of them.
TEST(gpuvis_events, long_pauses)
{
    const std::vector<event> run{{.time_ns = u64{1} << 57, .process = 1, .type = event_type::frame}};
    const auto t = trace_of(run, {16 * ns_per_ms});
    EXPECT_LT(t->events.size(), 1100u);
}

} // namespace
