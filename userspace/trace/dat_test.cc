// SPDX-License-Identifier: MIT
// Does what was written come back, from whole files and from damaged ones?
#include "trace/trace_fixture.h"

#include "trace/format_text.h"
#include "trace/ring_page.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <map>

using namespace vramlab;
using namespace vramlab::trace;
using namespace vramlab::trace::test;

namespace {

TEST(dat, formats_survive_their_text)
{
    const event_format f = job_format();
    const auto again = parse_format(format_text(f), f.system);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, f);
    const auto kernel = parse_format("name: sched_switch\nID: 314\nformat:\n"
                                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                                     "\n\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                     "\tfield:struct dma_fence * fence;\toffset:24;\tsize:8;\tsigned:0;\n"
                                     "\nprint fmt: \"a\", REC->a\n",
                                     "sched");
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->fields.at(0).type, "char[16]");
    EXPECT_EQ(kernel->fields.at(0).kind, field_kind::text);
    EXPECT_EQ(kernel->fields.at(1).type, "struct dma_fence *");
    EXPECT_EQ(kernel->fields.at(1).kind, field_kind::number);
    EXPECT_EQ(parse_format(format_text(*kernel), "sched"), kernel);
    EXPECT_FALSE(parse_format("name: x\nformat:\n", "s"));
}

TEST(dat, comes_back_event_for_event)
{
    for (const u32 cpus : {1u, 4u, 37u}) {
        const written w = write_trace(cpus, 5000, cpus);
        const read_result r = read_all(w.bytes);
        EXPECT_EQ(r.error, "");
        EXPECT_TRUE(r.damages.empty());
        ASSERT_EQ(r.events.size(), w.events.size());
        for (std::size_t i = 0; i < w.events.size(); i++)
            ASSERT_EQ(r.events[i], w.events[i]) << i;
    }
}

TEST(dat, says_who_and_where)
{
    const written w = write_trace(1, 10, 2);
    const auto reader = open_trace(source_of(w.bytes));
    EXPECT_EQ(reader->info().version, 6u);
    EXPECT_EQ(reader->info().clock, "global");
    EXPECT_EQ(reader->info().kernel, "Linux test 7.3 x86_64");
    EXPECT_EQ(reader->info().comm(2), "two words");
    EXPECT_EQ(reader->info().comm(99), "<...>");
    EXPECT_EQ(reader->info().cpus, 2u);
}

// Time that goes back, a long pause, lost events, an event as large as can be.
TEST(dat, odd_events)
{
    std::FILE *f = std::tmpfile();
    dat_writer writer(f, {});
    writer.add_format(job_format());
    const std::string longest(dat_writer::record_max_bytes - 38, 'x');
    writer.write(0, 100, job_record(1, 1, 1, 0, 0, "a"));
    writer.write(0, 50, job_record(1, 1, 2, 0, 0, "b"));
    writer.write(0, u64{1} << 58, job_record(1, 1, 3, 0, 0, "c"), 17);
    writer.write(0, (u64{1} << 58) + 1, job_record(1, 1, 4, 0, 0, longest), never_ns);
    EXPECT_THROW(writer.write(0, 1, std::vector<u8>(dat_writer::record_max_bytes + 1)), std::runtime_error);
    EXPECT_THROW(writer.write(dat_writer::cpus_max, 1, job_record(1, 1, 1, 0, 0, "")), std::runtime_error);
    EXPECT_THROW(writer.add_format(job_format()), std::runtime_error);
    writer.write(5, 60, job_record(1, 1, 5, 0, 0, "d")); // more CPUs than was said
    writer.finish(tasks());
    const std::vector<u8> bytes = contents(f);
    const read_result r = read_all(bytes);
    ASSERT_EQ(r.events.size(), 5u);
    EXPECT_EQ(r.events[0].cpu, 5u);
    EXPECT_EQ(r.events[2].time_ns, 50u);
    EXPECT_EQ(r.events[3].time_ns, u64{1} << 58);
    EXPECT_EQ(r.events[3].lost, 17u);
    EXPECT_EQ(r.events[4].values.back(), longest);
    EXPECT_EQ(r.events[4].lost, never_ns);
}

// Wherever a file ends: it is said, and exactly the events that end before the cut are there.
TEST(dat, cut_off_anywhere)
{
    const written w = write_trace(3, 250, 3);
    std::vector<u64> ends; // of the events, in order
    const auto reader = open_trace(source_of(w.bytes));
    for (record r; reader->next(r);)
        ends.push_back(r.offset + (r.data.size() > ring_data_max * 4 ? 8 : 4) + r.data.size());
    for (std::size_t size = 0; size < w.bytes.size(); size += 1 + size % 13) {
        const read_result r = read_all(std::span(w.bytes).first(size));
        ASSERT_TRUE(!r.error.empty() || !r.damages.empty()) << size;
        for (const damage &d : r.damages)
            ASSERT_LE(d.offset, size);
        std::size_t i = 0;
        for (std::size_t n = 0; r.error.empty() && n < ends.size(); n++)
            if (ends[n] <= size) {
                ASSERT_LT(i, r.events.size()) << size;
                ASSERT_EQ(r.events[i++], w.events[n]) << size;
            }
        ASSERT_EQ(i, r.events.size()) << size;
    }
}

// One byte changed: no crash, no hang.
TEST(dat, flipped_bytes)
{
    const written w = write_trace(4, 100, 2);
    rng random(5);
    for (u32 i = 0; i < 1000; i++) {
        std::vector<u8> bytes = w.bytes;
        bytes[random.below(bytes.size())] ^= static_cast<u8>(1 + random.below(255));
        read_all(bytes);
    }
}

// trace-cmd takes what we write, and prints every field as the event has it.
TEST(dat, trace_cmd_reads_it)
{
    if (std::system("command -v trace-cmd >/dev/null 2>&1"))
        GTEST_SKIP() << "no trace-cmd here";
    const written w = write_trace(6, 3000, 3);
    const temporary_path path(w.bytes);
    const std::vector<std::string> lines = output_of("trace-cmd report -t -i " + path.name() + " 2>&1");
    std::size_t n = 0;
    const std::map<s32, std::string> comms = tasks().comms;
    for (const std::string &line : lines) {
        const std::size_t at = line.find(": job:");
        if (at == std::string::npos) {
            EXPECT_EQ(line, "cpus=3");
            continue;
        }
        ASSERT_LT(n, w.events.size());
        const plain_event &e = w.events[n++];
        EXPECT_EQ(line.substr(line.find_first_not_of(' '), at - line.find_first_not_of(' ')),
                  fmt::format("{}-{:<5} [{:03}] {:5}.{:09}", comms.at(e.pid), e.pid, e.cpu,
                              e.time_ns / ns_per_s, e.time_ns % ns_per_s));
        const std::string fields = line.substr(line.find_first_not_of(' ', at + 6));
        EXPECT_EQ(fields, fmt::format("timeline={} context={} seqno={} error={} flag={}", e.values[4],
                                      e.values[0], e.values[1], e.values[2], e.values[3]));
    }
    EXPECT_EQ(n, w.events.size());
}

} // namespace
