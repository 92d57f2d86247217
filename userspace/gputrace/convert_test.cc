// SPDX-License-Identifier: MIT
// Does gpuvis find in a converted trace what it draws, and everything else as it was?
#include "gputrace/convert.h"
#include "gputrace/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

using namespace vramlab;
using namespace vramlab::gputrace;
using namespace vramlab::gputrace::test;

namespace {

struct line {
    u64 time_ns;
    s32 pid;
    std::string name;
    std::string fields; // "name=value name=value"

    friend bool operator==(const line &, const line &) = default;
};

std::vector<u8> contents(std::FILE *f)
{
    std::fflush(f);
    std::vector<u8> bytes(static_cast<std::size_t>(std::ftell(f)));
    std::rewind(f);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), f));
    std::fclose(f);
    return bytes;
}

std::vector<line> lines_of(trace::trace_reader &in)
{
    std::vector<line> out;
    for (trace::record r; in.next(r);) {
        line l{r.time_ns, r.pid, r.format->name, ""};
        for (const trace::field &f : r.format->fields)
            l.fields += f.name + "=" + r.show(f) + " ";
        out.push_back(std::move(l));
    }
    EXPECT_EQ(in.damages().count(), 0u);
    return out;
}

struct converted {
    std::vector<line> lines;
    conversion c;

    u32 count(const std::string &name, const std::string &text) const
    {
        u32 n = 0;
        for (const line &l : lines)
            n += l.name == name && l.fields.find(text) != std::string::npos;
        return n;
    }
};

converted convert_bytes(const std::vector<u8> &bytes)
{
    const auto first = open(bytes), second = open(bytes);
    const dialect_probe probe(*first);
    std::FILE *f = std::tmpfile();
    const auto sink = make_dat_sink(f, second->info());
    converted out;
    out.c = convert(*second, &probe, *sink);
    const std::vector<u8> written = contents(f);
    const auto back = open(written);
    EXPECT_EQ(back->info().comm(10), "game");
    EXPECT_EQ(back->info().tgid(11), 10);
    out.lines = lines_of(*back);
    return out;
}

TEST(convert, jobs_of_the_scheduler)
{
    trace_builder b;
    b.sched_job(11, "gfx_0.0.0", 40, 1, 1000, 2000, 9000);
    b.sched_job(20, "sdma0", 41, 7, 1500, 1600, 3000);
    b.event(500, 10, "sched_switch", {{"prev_pid", u64{10}}, {"next_comm", std::string("game")}}, 3);
    const std::vector<u8> bytes = b.finish();
    const converted x = convert_bytes(bytes);
    EXPECT_EQ(x.c.events, 7u);
    EXPECT_EQ(x.c.added, 6u);
    EXPECT_EQ(x.c.jobs.done, 2u);
    for (const char *name : {"amdgpu_cs_ioctl", "amdgpu_sched_run_job", "dma_fence_signaled"}) {
        EXPECT_EQ(x.count(name, "timeline=gfx_0.0.0 context=40 seqno=1 "), 1u) << name;
        EXPECT_EQ(x.count(name, "timeline=sdma0 context=41 seqno=7 "), 1u) << name;
    }
    for (const line &l : x.lines)
        EXPECT_TRUE(l.name != "amdgpu_cs_ioctl" || l.pid == (l.time_ns == 1000 ? 11 : 20));
    // The rest is as it was.
    std::vector<line> others;
    for (const line &l : x.lines)
        if (!l.name.starts_with("amdgpu_") && l.name != "dma_fence_signaled")
            others.push_back(l);
    EXPECT_EQ(others, lines_of(*open(bytes)));
}

// Converting twice adds nothing: the dialect is there.
TEST(convert, adds_nothing_twice)
{
    trace_builder b;
    b.sched_job(10, "gfx", 40, 1, 1000, 2000, 9000);
    for (const char *name : {"amdgpu_cs_ioctl", "amdgpu_sched_run_job"})
        b.later(name[7] == 'c' ? 999 : 2001, [&b, name] {
            b.event(name[7] == 'c' ? 999 : 2001, 10, name,
                    {{"timeline", std::string("gfx")}, {"context", u64{40}}, {"seqno", u64{1}}});
        });
    b.later(9001, [&b] {
        b.event(9001, 0, "dma_fence_signaled",
                {{"timeline", std::string("gfx")}, {"context", u64{40}}, {"seqno", u64{1}}});
    });
    const converted x = convert_bytes(b.finish());
    EXPECT_EQ(x.c.added, 0u);
    EXPECT_EQ(x.c.jobs.done, 1u);
    EXPECT_EQ(x.c.jobs.seen_by_two, 3u);
    EXPECT_EQ(x.c.jobs.signals_alone, 0u);
}

TEST(convert, devices_are_apart)
{
    trace_builder b;
    b.sched_job(10, "gfx", 40, 1, 1000, 2000, 9000, "card-a");
    b.sched_job(10, "gfx", 50, 1, 1100, 2100, 8000, "card-b");
    const converted x = convert_bytes(b.finish());
    for (const char *name : {"amdgpu_cs_ioctl", "amdgpu_sched_run_job", "dma_fence_signaled"}) {
        EXPECT_EQ(x.count(name, "timeline=gfx context=40 seqno=1 "), 1u);
        EXPECT_EQ(x.count(name, "timeline=gfx_0.0.0 context=50 seqno=1 "), 1u);
    }
    EXPECT_EQ(x.c.jobs.out_of_order, 0u);
}

// Engines of any driver are on timelines that gpuvis has rows for, though the fences say other names.
TEST(convert, engines_that_gpuvis_does_not_know)
{
    trace_builder b;
    const std::pair<const char *, const char *> engines[] = {{"gfx", "gfx"},
                                                             {"rcs0", "gfx_0.0.0"},
                                                             {"copy", "sdma0"},
                                                             {"ccs0", "comp_1.0.0"},
                                                             {"rcs1", "comp_1.0.1"}};
    u64 context = 40;
    for (const auto &[name, row] : engines) {
        const u64 at = 100 * ++context;
        b.sched_job(10, name, context, 1, at, at + 10, at + 20);
        b.later(at + 21, [&b, at, context, name = std::string(name)] {
            b.event(at + 21, 0, "dma_fence_signaled",
                    {{"driver", std::string("drm_sched")},
                     {"timeline", name},
                     {"context", context},
                     {"seqno", u64{1}}});
        });
    }
    const converted x = convert_bytes(b.finish());
    context = 40;
    for (const auto &[name, row] : engines) {
        const std::string key =
            std::string("timeline=") + row + " context=" + std::to_string(++context) + " seqno=1 ";
        for (const char *event : {"amdgpu_cs_ioctl", "amdgpu_sched_run_job", "dma_fence_signaled"})
            EXPECT_EQ(x.count(event, key), 1u) << event << " of " << name;
    }
    EXPECT_EQ(x.c.added, 14u) << "gfx's fence says its row itself";
    EXPECT_EQ(x.c.jobs.done, 5u);
}

TEST(convert, timelines)
{
    std::vector<engine> engines;
    for (const char *name : {"rcs0", "bcs0", "vcs0", "uvd", "gfx"})
        engines.push_back({"", name, name});
    engines.push_back({"b", "gfx", "gfx@b"});
    const gpuvis_timelines t(engines, {"gfx_0.0.0"});
    const char *const expected[] = {"gfx_0.0.0", "sdma0", "vcn_dec", "uvd", "gfx", "comp_1.0.0"};
    for (u32 i = 0; i < engines.size(); i++)
        EXPECT_EQ(t.of(i), expected[i]);
    EXPECT_EQ(t.renamed(), (std::vector<u32>{0, 1, 2, 5}));
    EXPECT_TRUE(t.hidden().empty());

    // 72 rows for compute engines, 8 for copies, one each of graphics and video.
    std::vector<engine> many(100, engine{"", "ccs0", "ccs0@x"});
    const gpuvis_timelines all(many, {});
    EXPECT_EQ(all.hidden().size(), 100u - 72u);
    EXPECT_EQ(all.of(99), "ccs0@x");
}

// The same numbers in two contexts are two jobs; signals come as they like; begin and end are cut off.
TEST(convert, what_traces_look_like)
{
    trace_builder b;
    b.sched_job(10, "gfx", 40, 1, 1000, 2000, 9000);
    b.sched_job(20, "gfx", 41, 1, 1100, 2100, 8000); // signaled before the one that ran before it
    b.sched_job(10, "gfx", 40, 2, 9500, 9600, 0);    // the trace ends
    b.sched_job(10, "gfx", 40, 0, 0, 0, 900);        // begun before it
    b.sched_job(10, "gfx", 42, 5, 0, 700, 800);      // likewise, but seen to run
    b.sched_job(10, "gfx", 43, 5, 9100, 0, 9200);    // the run was lost
    b.later(9300, [&b] { b.event(9300, 10, "mark", {{"x", u64{1}}}, 2, 17); });
    const converted x = convert_bytes(b.finish());
    EXPECT_EQ(x.c.jobs.done, 4u);
    EXPECT_EQ(x.c.jobs.out_of_order, 1u);
    EXPECT_EQ(x.c.jobs.never_done, 1u);
    EXPECT_EQ(x.c.jobs.signals_alone, 1u);
    EXPECT_EQ(x.c.jobs.without_queue, 1u);
    EXPECT_EQ(x.c.jobs.without_run, 1u);
    EXPECT_EQ(x.c.lost_gaps, 1u);
    EXPECT_EQ(x.c.lost, 17u);
    EXPECT_EQ(x.count("dma_fence_signaled", "context=41 seqno=1 "), 1u);
    EXPECT_EQ(x.count("dma_fence_signaled", ""), 4u);
}

TEST(convert, text_traces_too)
{
    const std::string s =
        "     game-10    [001] .....    1.000001: amdgpu_cs_ioctl: timeline=gfx_0.0.0, fence=40:7, "
        "ring_name=gfx_0.0.0, num_ibs=1\n"
        "      gfx-190   [002] .....    1.000002: drm_sched_job_run: dev=0000:03:00.0, fence=40:7, "
        "ring=gfx_0.0.0, job count:1, hw job count:0, client_id:5\n"
        "   <idle>-0     [002] d.h1.    1.000005: drm_sched_job_done: fence=40:7 signaled\n";
    const std::vector<u8> bytes(s.begin(), s.end());
    const auto first = open(bytes), second = open(bytes);
    const dialect_probe probe(*first);
    std::FILE *f = std::tmpfile();
    const auto sink = make_dat_sink(f, second->info());
    const conversion c = convert(*second, &probe, *sink);
    EXPECT_EQ(c.added, 3u);
    EXPECT_EQ(c.jobs.done, 1u);
    const std::vector<u8> written = contents(f);
    const auto lines = lines_of(*open(written));
    u32 found = 0;
    for (const line &l : lines)
        found += l.fields.find("timeline=gfx_0.0.0 context=40 seqno=7 ") != std::string::npos;
    EXPECT_EQ(found, 3u);
    EXPECT_EQ(lines.size(), 6u);
}

TEST(convert, perfetto)
{
    trace_builder b;
    b.sched_job(10, "gfx", 40, 1, 1000, 2000, 9000);
    b.later(9500, [&b] {
        b.event(9500, 10, "odd \"name\"\xff", {{"a", u64{3}}, {"b", std::string("\\\n")}});
    });
    const std::vector<u8> bytes = b.finish();
    const auto in = open(bytes);
    std::FILE *f = std::tmpfile();
    const auto sink = make_perfetto_sink(f);
    convert(*in, nullptr, *sink);
    const std::vector<u8> text = contents(f);
    const auto j = nlohmann::json::parse(text.begin(), text.end());
    std::map<std::string, u32> phases;
    for (const auto &e : j.at("traceEvents")) {
        phases[e.at("ph")]++;
        if (e.at("ph") == "X") {
            EXPECT_EQ(e.at("name"), "game");
            EXPECT_EQ(e.at("ts"), 2.0);
            EXPECT_EQ(e.at("dur"), 7.0);
            EXPECT_EQ(e.at("args").at("wait_us"), 1.0);
        }
        if (e.at("ph") == "i") {
            EXPECT_EQ(e.at("args").at("b"), "\\\n");
        }
    }
    EXPECT_EQ(phases["X"], 1u);
    EXPECT_EQ(phases["i"], 1u);
    EXPECT_EQ(phases["b"], 1u);
    EXPECT_EQ(phases["e"], 1u);
}

// Of the scheduler before 6.17: fences are addresses, used again.
TEST(convert, old_scheduler)
{
    trace_builder b;
    for (const u64 base : {1000u, 5000u}) {
        const auto job = [&](u64 at, const char *name) {
            b.later(at, [&b, at, name] {
                b.event(at, 10, name, {{"fence", u64{0xffff888000001000}}, {"name", std::string("gfx")}});
            });
        };
        job(base, "drm_sched_job");
        job(base + 100, "drm_run_job");
        b.later(base + 900, [&b, base] {
            b.event(base + 900, 0, "drm_sched_process_job", {{"fence", u64{0xffff888000001000}}});
        });
    }
    const converted x = convert_bytes(b.finish());
    EXPECT_EQ(x.c.jobs.done, 2u);
    EXPECT_EQ(x.c.added, 0u); // gpuvis draws it
}

} // namespace
