// SPDX-License-Identifier: MIT
// Are files read that others write: version 7, packed, unknown options, 32 bits, big endian, and trace-cmd's
// own?
#include "trace/dat_compose.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace vramlab;
using namespace vramlab::trace;
using namespace vramlab::trace::test;

namespace {

// All ticks of `cpus` CPUs with `count` each, merged.
void expect_ticks(const read_result &r, u32 cpus, u32 count, const std::string &what)
{
    EXPECT_EQ(r.error, "") << what;
    EXPECT_TRUE(r.damages.empty()) << what << ": " << r.damages.front().what;
    ASSERT_EQ(r.events.size(), cpus * count) << what;
    for (u32 i = 0; i < cpus * count; i++) {
        const plain_event &e = r.events[i];
        ASSERT_EQ(e.cpu, i % cpus) << what;
        ASSERT_EQ(e.time_ns, 5000 + 1000 * u64{i / cpus} + e.cpu) << what;
        ASSERT_EQ(e.values, std::vector<std::string>{std::to_string(e.time_ns)}) << what;
        ASSERT_EQ(e.pid, 77) << what;
    }
}

std::vector<std::vector<u8>> ticks(const machine &m, u32 cpus, u32 count)
{
    std::vector<std::vector<u8>> out;
    for (u32 i = 0; i < cpus; i++)
        out.push_back(tick_pages(m, 5000 + i, count));
    return out;
}

constexpr machine machines[] = {{byte_order::little, 8, 4096},
                                {byte_order::little, 4, 4096},
                                {byte_order::big, 8, 65536},
                                {byte_order::big, 4, 4096}};

TEST(dat_versions, six_of_all_machines)
{
    for (const machine &m : machines) {
        const std::vector<u8> file = version_6(m, tick_pages(m, 5000, 1000));
        expect_ticks(read_all(file), 1, 1000, std::to_string(m.long_size));
        const auto reader = open_trace(source_of(file));
        EXPECT_EQ(reader->info().unknown_options, 1u);
        EXPECT_EQ(reader->info().comm(77), "task");
    }
}

TEST(dat_versions, seven_plain_and_packed)
{
    for (const machine &m : machines)
        for (const char *how : {"none", "zlib", "zstd"}) {
            const std::vector<u8> file = test::version_7(m, how).file(ticks(m, 3, 1000));
            expect_ticks(read_all(file), 3, 1000, how);
            const auto reader = open_trace(source_of(file));
            EXPECT_EQ(reader->info().version, 7u);
            EXPECT_EQ(reader->info().clock, "mono");
            EXPECT_EQ(reader->info().unknown_options, 1u);
        }
}

// What says where the events are stands at the end of the file, and is what a cut takes first.
TEST(dat_versions, seven_without_its_end)
{
    for (const char *how : {"none", "zstd"}) {
        const machine m;
        std::vector<u8> file = test::version_7(m, how).file(ticks(m, 3, 1000));
        file.resize(file.size() - 60);
        const read_result r = read_all(file);
        EXPECT_EQ(r.error, "");
        EXPECT_FALSE(r.damages.empty());
        EXPECT_EQ(r.events.size(), 3000u) << how;
        for (std::size_t size = 0; size < file.size(); size += 1 + size % 1009) {
            const read_result cut = read_all(std::span(file).first(size));
            ASSERT_TRUE(!cut.error.empty() || !cut.damages.empty()) << how << size;
        }
    }
}

TEST(dat_versions, flipped_bytes_of_seven)
{
    const machine m;
    const std::vector<u8> file = test::version_7(m, "zstd").file(ticks(m, 2, 300));
    rng random(8);
    for (u32 i = 0; i < 500; i++) {
        std::vector<u8> bytes = file;
        bytes[random.below(bytes.size())] ^= static_cast<u8>(1 + random.below(255));
        read_all(bytes);
    }
}

// A size that memory has not is a fault of the file, not ours.
TEST(dat_versions, sizes_beyond_the_file)
{
    const machine m;
    std::vector<u8> file = version_6(m, tick_pages(m, 5000, 10));
    for (std::size_t at = 12; at < 500; at++) {
        std::vector<u8> bytes = file;
        for (std::size_t i = at; i < at + 8; i++)
            bytes[i] = 0xff;
        read_all(bytes);
    }
}

TEST(dat_versions, what_trace_cmd_converts)
{
    if (std::system("trace-cmd convert --help 2>&1 | grep -q file-version"))
        GTEST_SKIP() << "no trace-cmd that converts here";
    const written w = write_trace(9, 3000, 3);
    const temporary_path in(w.bytes);
    for (const char *how : {"none", "any"}) {
        const temporary_path out({});
        output_of("trace-cmd convert -i " + in.name() + " -o " + out.name() +
                  " --file-version 7 --compression " + how + " 2>&1");
        const auto reader = open_trace(out.name());
        EXPECT_EQ(reader->info().version, 7u);
        std::size_t n = 0;
        for (record r; reader->next(r); n++)
            ASSERT_EQ(to_plain(r), w.events.at(n));
        EXPECT_EQ(n, w.events.size());
        EXPECT_EQ(reader->damages().count(), 0u);
    }
}

} // namespace
