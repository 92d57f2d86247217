// SPDX-License-Identifier: MIT
// Are text traces read that trace-cmd, ftrace and perf print, of old kernels and new ones?
#include "trace/text_reader.h"
#include "trace/text_writer.h"
#include "trace/trace_fixture.h"

#include <gtest/gtest.h>

using namespace vramlab;
using namespace vramlab::trace;
using namespace vramlab::trace::test;

namespace {

read_result read_text(const std::string &s)
{
    return read_all({reinterpret_cast<const u8 *>(s.data()), s.size()});
}

TEST(text, lines_of_every_kind)
{
    const struct {
        const char *line;
        const char *comm;
        s32 pid, tgid;
        u32 cpu;
        u64 time_ns;
        const char *name, *payload;
    } cases[] = {
        {"    RenderThread-25155 [003]  5442.123456: amdgpu_cs_ioctl:      timeline=gfx, fence=4929:3200",
         "RenderThread", 25155, -1, 3, 5442123456000, "amdgpu_cs_ioctl", "timeline=gfx, fence=4929:3200"},
        {"            bash-1977  [000] d..1. 17284.993652123: sys_close: fd=3", "bash", 1977, -1, 0,
         17284993652123, "sys_close", "fd=3"},
        {"            bash-1977  ( 1970) [000] .... 17284.993652: sys_close: ", "bash", 1977, 1970, 0,
         17284993652000, "sys_close", ""},
        {"           <...>-42    (-----) [001] d... .N.. 3.000001: a_b: c", "", 42, -1, 1, 3000001000, "a_b",
         "c"},
        {"          <idle>-0     [01] 10152.583854: drm_vblank_event: crtc=1", "", 0, -1, 1, 10152583854000,
         "drm_vblank_event", "crtc=1"},
        {" a b [7]-x-12 [002] 12345: e: f", "a b [7]-x", 12, -1, 2, 12345, "e", "f"},
        {"glxgears 12345 [002]  1.500000: drm:drm_vblank_event: crtc=0", "glxgears", 12345, -1, 2, 1500000000,
         "drm_vblank_event", "crtc=0"},
    };
    for (const auto &c : cases) {
        const auto l = parse_text_line(c.line);
        ASSERT_TRUE(l) << c.line;
        EXPECT_EQ(l->comm, c.comm) << c.line;
        EXPECT_EQ(l->pid, c.pid) << c.line;
        EXPECT_EQ(l->tgid, c.tgid) << c.line;
        EXPECT_EQ(l->cpu, c.cpu) << c.line;
        EXPECT_EQ(l->time_ns, c.time_ns) << c.line;
        EXPECT_EQ(l->name, c.name) << c.line;
        EXPECT_EQ(l->payload, c.payload) << c.line;
    }
    for (const char *line : {"", "# tracer: nop", "bash-1 [000] x: y", "bash [000] 1.0: a: b",
                             "bash-1 [000] 1.0: a b", "bash-1 [99999999999] 1.0: a: b", "[", "-1 [0] 1.0:"})
        EXPECT_FALSE(parse_text_line(line)) << line;
}

TEST(text, pairs)
{
    std::vector<text_pair> p;
    split_pairs("prev_comm=Web Content prev_pid=5 ==> next_comm=a,b, x=fence=1:2, high-prec=true y=", p);
    ASSERT_EQ(p.size(), 6u);
    EXPECT_EQ(p[0].value, "Web Content");
    EXPECT_EQ(p[1].value, "5 ==>");
    EXPECT_EQ(p[2].key, "next_comm");
    EXPECT_EQ(p[2].value, "a,b");
    EXPECT_EQ(p[3].value, "fence=1:2");
    EXPECT_EQ(p[4].key, "high-prec");
    EXPECT_EQ(p[5].value, "");
    split_pairs("ring=gfx, job count:1, hw job count:0, id=5", p);
    ASSERT_EQ(p.size(), 2u);
    EXPECT_EQ(p[0].value, "gfx");
    EXPECT_EQ(p[1].key, "id");
    split_pairs("no pairs == here =", p);
    EXPECT_TRUE(p.empty());
}

constexpr const char *sample =
    "cpus=4\n"
    "          <idle>-0     [001]     1.000001: drm_vblank_event:     crtc=1, seq=540828\n"
    "            game-77    [002]     1.000002: print:                tracing_mark_write: "
    "frame 3: begins\n"
    "CPU:2 [LOST 23 EVENTS]\n"
    "            game-77    [002]     1.000003: drm_vblank_event:     seq=9, crtc=2, more=1\n"
    "something else\n"
    "            game-77    [002]     1.000002: drm_vblank_event:     crtc=2, seq=10\n";

TEST(text, events_with_their_fields)
{
    const read_result r = read_text(sample);
    EXPECT_EQ(r.error, "");
    ASSERT_EQ(r.events.size(), 4u);
    EXPECT_EQ(r.events[0].values, (std::vector<std::string>{"1", "540828", "crtc=1, seq=540828"}));
    EXPECT_EQ(r.events[1].name, "print");
    EXPECT_EQ(r.events[1].values[1], "frame 3: begins");
    // Other orders, and keys that the first line did not have.
    EXPECT_EQ(r.events[2].values, (std::vector<std::string>{"2", "9", "seq=9, crtc=2, more=1"}));
    EXPECT_EQ(r.events[2].lost, 23u);
    EXPECT_EQ(r.events[3].time_ns, 1000003000u); // not back
    ASSERT_EQ(r.damages.size(), 2u);
    EXPECT_EQ(r.damages[0].offset, std::string(sample).find("something"));
    EXPECT_EQ(r.damages[1].what, "the time goes back");
}

TEST(text, numbers_in_text_are_numbers)
{
    const std::string s = "a-1 [000] 1.0: e: n=12 hex=0x10 text=own\n";
    const auto reader = open_trace(source_of({reinterpret_cast<const u8 *>(s.data()), s.size()}));
    record r;
    ASSERT_TRUE(reader->next(r));
    EXPECT_EQ(r.number("n"), 12u);
    EXPECT_EQ(r.number("hex"), 16u);
    EXPECT_EQ(r.text("text"), "n=12 hex=0x10 text=own");
    EXPECT_EQ(reader->info().comm(1), "a");
    EXPECT_FALSE(reader->next(r));
}

// trace.dat to text and back: the same events, fields as text.
TEST(text, what_was_written_comes_back)
{
    const written w = write_trace(3, 2000, 4);
    std::string text;
    const auto reader = open_trace(source_of(w.bytes));
    for (record r; reader->next(r);)
        append_text(text, r, reader->info());
    const read_result back = read_text(text);
    EXPECT_TRUE(back.damages.empty());
    ASSERT_EQ(back.events.size(), w.events.size());
    for (std::size_t i = 0; i < w.events.size(); i++) {
        plain_event e = back.events[i];
        ASSERT_EQ(e.values.size(), w.events[i].values.size() + 1);
        e.values.pop_back();
        EXPECT_EQ(e, w.events[i]) << i;
    }
}

TEST(text, what_is_no_trace)
{
    for (const std::string &s :
         {std::string("hello\n"), std::string(5000, 'x'), std::string(500, '\n') + "x\ny\n", std::string()}) {
        const read_result r = read_text(s);
        EXPECT_NE(r.error, "") << s.substr(0, 20);
    }
    EXPECT_EQ(read_text("# tracer: nop\n#\n").error, "");
}

// Longer than a record, than a line, than a block.
TEST(text, long_lines)
{
    for (const std::size_t n : {20'000u, 70'000u, 300'000u, 1'000'000u}) {
        const std::string s = "a-1 [000] 1.0: e: x=" + std::string(n, 'y') + "\na-1 [000] 2.0: e: x=z\n";
        const read_result r = read_text(s);
        ASSERT_EQ(r.events.size(), 2u) << n;
        EXPECT_EQ(r.damages.size(), 1u) << n;
        EXPECT_EQ(r.events[1].values[0], "z");
    }
}

TEST(text, cut_anywhere)
{
    const std::string s = sample;
    for (std::size_t n = 0; n <= s.size(); n++) {
        const read_result whole = read_text(s), r = read_text(s.substr(0, n));
        ASSERT_LE(r.events.size(), whole.events.size());
        for (std::size_t i = 0; i + 1 < r.events.size(); i++)
            ASSERT_EQ(r.events[i], whole.events[i]) << n;
    }
}

} // namespace
