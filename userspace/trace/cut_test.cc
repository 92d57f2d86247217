// SPDX-License-Identifier: MIT
// A file that ends anywhere: is it said where, and is everything before that read?
#include "trace/dat_compose.h"
#include "trace/text_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace vramlab;
using namespace vramlab::trace;
using namespace vramlab::trace::test;

namespace {

constexpr std::size_t step = 1000;

std::map<u32, std::vector<plain_event>> by_cpu(const read_result &r)
{
    std::map<u32, std::vector<plain_event>> out;
    for (const plain_event &e : r.events)
        out[e.cpu].push_back(e);
    return out;
}

// Of each CPU what stands before the cut, in order; a message with a place that is in the file.
void expect_prefix(const read_result &whole, const read_result &cut, std::size_t size, std::size_t bytes)
{
    if (!cut.error.empty()) {
        ASSERT_TRUE(cut.error.find("offset") != std::string::npos ||
                    cut.error.find("no trace") != std::string::npos)
            << size << cut.error;
        return;
    }
    ASSERT_FALSE(cut.damages.empty()) << size;
    for (const damage &d : cut.damages) {
        ASSERT_LE(d.offset, bytes) << size; // where something is, or should have been
        ASSERT_FALSE(d.what.empty());
    }
    auto all = by_cpu(whole);
    for (const auto &[cpu, events] : by_cpu(cut)) {
        const std::vector<plain_event> &of = all[cpu];
        ASSERT_LE(events.size(), of.size()) << size;
        for (std::size_t i = 0; i < events.size(); i++)
            ASSERT_EQ(events[i], of[i]) << size << " CPU " << cpu;
    }
}

void cut_every_step(std::span<const u8> bytes, std::size_t fewest_in_half)
{
    const read_result whole = read_all(bytes);
    ASSERT_EQ(whole.error, "");
    std::size_t before = 0;
    for (std::size_t size = step; size < bytes.size(); size += step) {
        const read_result cut = read_all(bytes.first(size));
        expect_prefix(whole, cut, size, bytes.size());
        ASSERT_GE(cut.events.size(), before) << size; // a longer file never gives less
        before = cut.events.size();
        ASSERT_TRUE(size <= bytes.size() / 2 || cut.events.size() >= fewest_in_half) << size;
    }
}

TEST(cut, version_6)
{
    const written w = write_trace(11, 4000, 3);
    ASSERT_GT(w.bytes.size(), 100 * step);
    cut_every_step(w.bytes, 1800);
}

TEST(cut, version_7)
{
    const machine m;
    for (const char *how : {"none", "zlib", "zstd"}) {
        std::vector<std::vector<u8>> pages;
        for (u32 i = 0; i < 3; i++)
            pages.push_back(tick_pages(m, 5000 + i, 3000));
        cut_every_step(test::version_7(m, how).file(pages), 0);
    }
}

// As many lines as there are before the cut, and perhaps a part of the last one.
TEST(cut, text)
{
    const written w = write_trace(12, 2000, 2);
    std::string text = "# tracer: nop\n";
    const auto reader = open_trace(source_of(w.bytes));
    for (record r; reader->next(r);)
        append_text(text, r, reader->info());
    const std::span<const u8> bytes(reinterpret_cast<const u8 *>(text.data()), text.size());
    const read_result whole = read_all(bytes);
    for (std::size_t size = step; size < bytes.size(); size += step) {
        const read_result cut = read_all(bytes.first(size));
        const auto lines =
            static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<long>(size), '\n'));
        ASSERT_GE(cut.events.size() + 1, lines) << size; // without the header
        ASSERT_TRUE(text[size - 1] == '\n' || !cut.damages.empty()) << size;
        for (std::size_t i = 0; i + 1 < lines; i++)
            ASSERT_EQ(cut.events[i], whole.events[i]) << size;
    }
}

// A trace of a real card, if there is one: VRAMLAB_SAMPLE_TRACE names it.
TEST(cut, sample)
{
    const char *path = std::getenv("VRAMLAB_SAMPLE_TRACE");
    if (!path)
        GTEST_SKIP() << "VRAMLAB_SAMPLE_TRACE names no trace";
    const auto source = open_file(path);
    std::vector<u8> bytes(source->size());
    ASSERT_EQ(source->read(0, bytes), bytes.size());
    const read_result whole = read_all(bytes);
    ASSERT_EQ(whole.error, "");
    // The largest file would take an hour: a hundred places, each at a multiple of the step.
    const std::size_t places = std::max<std::size_t>(bytes.size() / step / 100, 1) * step;
    for (std::size_t size = places; size < bytes.size(); size += places)
        expect_prefix(whole, read_all(std::span(bytes).first(size)), size, bytes.size());
}

} // namespace
