// SPDX-License-Identifier: MIT
// Is a scenario's device read as Documentation/scenario-format.rst says?
#include "workload/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace vramlab::workload {
namespace {

// The device from line 4 on, without a process or anything else.
std::string text_of(const std::string &device)
{
    return "vramlab = 1\nname = \"s\"\nduration = \"1s\"\n[device]\n" + device +
           "\n[[process]]\nname = \"p\"\n[[process.group]]\nname = \"g\"\ncount = 1\nsize = \"1MiB\"\n";
}

scenario parse(const std::string &device)
{
    return parse_scenario(text_of(device), "f");
}

std::string said(const std::string &device)
{
    try {
        parse(device);
        return "nothing";
    } catch (const parse_error &e) {
        return e.what();
    }
}

TEST(device, pcie_is_what_encoding_leaves)
{
    const auto link = [](u32 generation, u32 lanes) {
        return parse(fmt::format("pcie = {{generation = {}, lanes = {}}}", generation, lanes))
            .device.link_bandwidth;
    };
    EXPECT_EQ(link(1, 1), 250'000'000u);
    EXPECT_EQ(link(2, 16), 8'000'000'000u);
    EXPECT_EQ(link(3, 16), 15'753'846'153u);
    EXPECT_EQ(link(4, 8), link(3, 16));
    EXPECT_EQ(link(5, 16), 63'015'384'615u);
}

TEST(device, overlaps_only_if_told)
{
    EXPECT_FALSE(parse("").device.overlap);
    EXPECT_TRUE(parse("overlap = true").device.overlap);
}

constexpr const char *caches = "[device.caches]\nl2_size = \"6MiB\"\nl2_cycles = 200\nvram_cycles = 500\n"
                               "link_cycles = 2400\nclock_mhz = 2500\n";

TEST(device, caches)
{
    EXPECT_FALSE(parse("").caches);
    const std::optional<cache_config> c = parse(caches).caches;
    ASSERT_TRUE(c);
    EXPECT_EQ(*c, (cache_config{6 * MiB, 0, 200, 0, 500, 2400, 2500}));
}

TEST(device, what_is_wrong)
{
    const std::string all = caches;
    for (const auto &[device, message] : std::vector<std::pair<std::string, std::string>>{
             {"overlap = 1", "f:5: device: key \"overlap\" is 1, expected true or false"},
             {"pcie = {generation = 6, lanes = 1}",
              "f:5: device: pcie: key \"generation\" is 6, expected 1 to 5"},
             {"pcie = {generation = 4, lanes = 32}",
              "f:5: device: pcie: key \"lanes\" is 32, expected 1 to 16"},
             {"pcie = {generation = 4, lanes = 8}\nlink_bandwidth = 1_000_000_000",
              "f:6: device: key \"link_bandwidth\" is there beside \"pcie\", expected one of both"},
             {"[device.caches]\nl2_size = \"1MiB\"",
              "f:5: device: caches: no key \"l2_cycles\", expected it"},
             {all + "memory_side_size = \"32MiB\"",
              "f:5: device: caches: no key \"memory_side_cycles\", expected it"},
             {all + "memory_side_size = \"32MiB\"\nmemory_side_cycles = 200",
              "f:12: device: caches: key \"memory_side_cycles\" is 200, expected 201 to 499"},
             {all + "l3_size = \"1MiB\"",
              "f:11: device: caches: unknown key \"l3_size\", expected the keys of "
              "Documentation/scenario-format.rst, \"Device\""}})
        EXPECT_EQ(said(device), message);
}

// Each shipped file can be read, and tells its source.
TEST(device, shipped_ones)
{
    u32 with_caches = 0;
    for (const auto &e : std::filesystem::directory_iterator(VRAMLAB_SCENARIO_DIR "/devices")) {
        const std::string name = e.path().stem();
        const scenario s = parse_scenario(text_of("file = \"" + name + "\""), "f", {}, VRAMLAB_SCENARIO_DIR);
        EXPECT_GE(s.device.vram_size_bytes, 512 * MiB) << name;
        with_caches += s.caches.has_value();
    }
    EXPECT_GE(with_caches, 4u);
}

} // namespace
} // namespace vramlab::workload
