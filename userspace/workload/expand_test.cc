// SPDX-License-Identifier: MIT
// Does a scenario expand to what it says, the same every time and everywhere?
#include "workload/reader.h"
#include "workload/scenario.h"
#include "workload/writer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

namespace vramlab::workload {
namespace {

workload expanded(const std::string &text, const std::vector<setting> &settings = {})
{
    return expand(parse_scenario(text, "f", settings));
}

std::string operations_of(const workload &w)
{
    std::string text;

    for (const operation &op : w.operations)
        append_operation(text, op);
    return text;
}

u64 fnv1a(const std::string &text)
{
    u64 hash = 0xcbf29ce484222325;

    for (unsigned char c : text)
        hash = (hash ^ c) * 0x100000001b3;
    return hash;
}

const char frames[] = R"(
vramlab = 1
name = "frames"
duration = "34ms"
[device]
[[process]]
name = "compositor"
compute = "1ms"
  [[process.group]]
  name = "own"
  count = 1
  size = "1MiB"
[[process]]
name = "game"
present = "immediate"
max_fps = 50
submissions = 2
frames_in_flight = 3
swapchain = "images"
scanout = "self"
  [[process.group]]
  name = "images"
  count = 2
  size = "8MiB"
  private = false
  contiguous = true
  l2_hit = 500
  [[process.group]]
  name = "textures"
  count = 2
  size = "1MiB"
  rank = "created"
  touch_bytes = 500
  l2_hit = 200
  msc_hit = 500
  skew = 1
)";

// The CPU's time comes before each submission, not once a frame.
TEST(expand, submissions_take_the_programs_cpu)
{
    const std::string ops = operations_of(expanded(R"(vramlab = 1
name = "s"
duration = "10ms"
[device]
vram_size = "64MiB"
[[process]]
name = "p"
frames = 1
submissions = 2
submit_cpu = "250us"
  [[process.group]]
  name = "g"
  count = 1
  size = "1MiB"
)"));
    const std::string cpu = R"({"op":"cpu","p":1,"for_ns":250000})";
    const std::size_t first = ops.find(cpu), second = ops.find(cpu, first + 1);
    ASSERT_NE(second, std::string::npos) << ops;
    EXPECT_LT(first, ops.find("\"op\":\"submit\""));
    EXPECT_GT(second, ops.find("\"op\":\"submit\""));
}

// 1 MiB touched: the L2 serves a quarter of it, wherever it is; of the rest, the memory-side cache half, in
// VRAM only.
TEST(expand, caches_are_in_front_of_what_they_serve)
{
    const std::string ops = operations_of(expanded(R"(vramlab = 1
name = "s"
duration = "10ms"
[device]
vram_size = "64MiB"
[[process]]
name = "p"
frames = 1
  [[process.group]]
  name = "g"
  count = 1
  size = "1MiB"
  l2_hit = 250
  msc_hit = 500
)"));
    EXPECT_NE(ops.find("\"touches\":[[1,393216,786432]]"), std::string::npos) << ops;
}

TEST(expand, frames_submissions_and_flips)
{
    EXPECT_EQ(operations_of(expanded(frames)),
              R"({"op":"vm_open","p":1,"vm":1}
{"op":"bo_create","p":1,"vm":1,"bo":1,"size":1048576,"preferred":"vram","flags":"private"}
{"op":"frame","p":1}
{"op":"touch_define","p":1,"vm":1,"id":1,"touches":[[1,1048576,1048576]]}
{"op":"submit","p":1,"vm":1,"touch":1,"compute_ns":1000000}
{"op":"wait_back","p":1,"vm":1,"back":1}
{"op":"vblank","p":1,"period_ns":16666666}
{"op":"vm_open","p":2,"vm":2}
{"op":"bo_create","p":2,"vm":2,"bo":2,"size":8388608,"preferred":"vram","flags":"contiguous"}
{"op":"bo_create","p":2,"vm":2,"bo":3,"size":8388608,"preferred":"vram","flags":"contiguous"}
{"op":"bo_create","p":2,"vm":2,"bo":4,"size":1048576,"preferred":"vram","flags":"private"}
{"op":"bo_create","p":2,"vm":2,"bo":5,"size":1048576,"preferred":"vram","flags":"private"}
{"op":"frame","p":2}
{"op":"list_define","p":2,"vm":2,"id":1,"bos":[2,3]}
{"op":"touch_define","p":2,"vm":2,"id":1,"touches":[[2,4194304,4194304],[4,209715,419430]]}
{"op":"submit","p":2,"vm":2,"list":1,"touch":1}
{"op":"list_define","p":2,"vm":2,"id":2,"bos":[2,3]}
{"op":"touch_define","p":2,"vm":2,"id":2,"touches":[[5,104857,209715]]}
{"op":"submit","p":2,"vm":2,"list":2,"touch":2}
{"op":"flip","p":2,"vm":2,"bo":2}
{"op":"wait_back","p":2,"vm":2,"back":4}
{"op":"frame","p":1}
{"op":"submit","p":1,"vm":1,"touch":1,"compute_ns":1000000}
{"op":"wait_back","p":1,"vm":1,"back":1}
{"op":"vblank","p":1,"period_ns":16666666}
{"op":"sleep","p":2,"at_ns":20000000}
{"op":"frame","p":2}
{"op":"list_define","p":2,"vm":2,"id":3,"bos":[2,3]}
{"op":"touch_define","p":2,"vm":2,"id":3,"touches":[[3,4194304,4194304],[4,209715,419430]]}
{"op":"submit","p":2,"vm":2,"list":3,"touch":3}
{"op":"list_define","p":2,"vm":2,"id":4,"bos":[2,3]}
{"op":"touch_define","p":2,"vm":2,"id":4,"touches":[[5,104857,209715]]}
{"op":"submit","p":2,"vm":2,"list":4,"touch":4}
{"op":"flip","p":2,"vm":2,"bo":3}
{"op":"wait_back","p":2,"vm":2,"back":4}
{"op":"frame","p":1}
{"op":"submit","p":1,"vm":1,"touch":1,"compute_ns":1000000}
{"op":"wait_back","p":1,"vm":1,"back":1}
{"op":"vblank","p":1,"period_ns":16666666}
{"op":"frame","p":2}
{"op":"frame","p":1}
{"op":"end","at_ns":34000000}
)");
}

TEST(expand, a_compositor_shows_a_client_while_it_lives)
{
    std::string text = frames;

    text.replace(text.find("scanout = \"self\""), 16, "scanout = \"compositor\"");
    text.replace(text.find("compute"), 0, "direct_scanout = true\n");
    text.replace(text.find("34ms"), 4, "1s");
    text += "[[event]]\ndo = \"exit\"\nprocess = \"game\"\nat = \"500ms\"\n";
    const workload w = expanded(text);
    std::map<u64, u32> flips;
    u32 shares = 0;
    u32 destroys = 0;
    u64 flipped = 0;

    for (const operation &op : w.operations) {
        shares += op.kind == op_kind::request && op.req.kind == request_kind::bo_share;
        destroys += op.kind == op_kind::request && op.req.kind == request_kind::bo_destroy;
        if (op.kind == op_kind::flip) {
            EXPECT_EQ(op.process, 1u);
            EXPECT_EQ(op.vm, 1u);
            flips[op.bo]++;
            flipped = op.bo;
        }
    }
    EXPECT_EQ(shares, 2u);
    EXPECT_EQ(destroys, 2u);
    EXPECT_EQ(flipped, 0u); // the last one blanks the screen
    EXPECT_EQ(flips.size(), 3u);
    EXPECT_EQ(flips[0], 1u);
    EXPECT_EQ(flips[2] + flips[3], 24u); // 100 to 500 ms at 60 Hz
}

TEST(expand, events)
{
    const std::string text = R"(
vramlab = 1
name = "events"
duration = "1s"
[device]
[[cgroup]]
path = "c"
[[process]]
name = "p"
refresh = 10
  [[process.group]]
  name = "base"
  count = 1
  size = "1MiB"
  [[process.group]]
  name = "extra"
  count = 1
  size = "1MiB"
[[process]]
name = "idle"
submissions = 0
[[event]]
do = "burst"
at = "100ms"
for = "100ms"
process = "p"
group = "extra"
[[event]]
do = "burst"
at = "300ms"
for = "10s"
process = "p"
group = "extra"
[[event]]
do = "suspend"
at = "400ms"
for = "450ms"
[[event]]
do = "set_priority"
at = "950ms"
process = "p"
group = "base"
priority = 0
[[event]]
do = "set_limits"
at = "500ms"
cgroup = "c"
low = "1MiB"
[[event]]
do = "exit"
at = "600ms"
process = "idle"
)";
    std::string marks;

    for (const operation &op : expanded(text).operations) {
        if (op.kind == op_kind::sleep)
            marks += fmt::format("sleep{}:{} ", op.process, op.at_ns / ns_per_ms);
        if (op.kind == op_kind::frame)
            marks += "f ";
        if (op.kind == op_kind::evict_all)
            marks += "evict ";
        if (op.kind == op_kind::set_limits)
            marks += "limits ";
        if (op.kind != op_kind::request)
            continue;
        if (op.req.kind == request_kind::bo_create)
            marks += fmt::format("+{} ", op.req.bo);
        if (op.req.kind == request_kind::bo_destroy)
            marks += fmt::format("-{} ", op.req.bo);
        if (op.req.kind == request_kind::bo_set_priority)
            marks += fmt::format("prio{} ", op.req.bo);
        if (op.req.kind == request_kind::vm_close)
            marks += "close ";
    }
    EXPECT_EQ(marks, "+1 f +2 f -2 f +3 f sleep0:400 evict sleep0:500 limits sleep1:850 f sleep2:850 "
                     "sleep2:850 close prio1 f f ");
}

TEST(expand, rounds_begin_together)
{
    const std::string text = R"(
vramlab = 1
name = "rounds"
order = "file"
[device]
[[process]]
name = "c"
count = 2
  [[process.group]]
  name = "g"
  count = 2
  size = "1MiB"
  private = false
  list_order = "alternate"
  touch_bytes = 0
[[step]]
do = "round"
repeat = 2
[[step]]
do = "wait"
process = "c"
[[step]]
do = "advance"
by = "1ms"
[[step]]
do = "destroy"
process = "c"
group = "g"
bo = 2
[[step]]
do = "submit"
)";

    EXPECT_EQ(operations_of(expanded(text)), R"({"op":"vm_open","p":1,"vm":1}
{"op":"bo_create","p":1,"vm":1,"bo":1,"size":1048576,"preferred":"vram"}
{"op":"bo_create","p":1,"vm":1,"bo":2,"size":1048576,"preferred":"vram"}
{"op":"vm_open","p":2,"vm":2}
{"op":"bo_create","p":2,"vm":2,"bo":3,"size":1048576,"preferred":"vram"}
{"op":"bo_create","p":2,"vm":2,"bo":4,"size":1048576,"preferred":"vram"}
{"op":"list_define","p":1,"vm":1,"id":1,"bos":[1,2]}
{"op":"list_define","p":2,"vm":2,"id":1,"bos":[4,3]}
{"op":"submit","p":1,"vm":1,"list":1,"begin":true}
{"op":"submit","p":2,"vm":2,"list":1,"begin":true}
{"op":"run","seed":6205454626863691663}
{"op":"submit","p":1,"vm":1,"list":1,"begin":true}
{"op":"submit","p":2,"vm":2,"list":1,"begin":true}
{"op":"run","seed":6960175149297611719}
{"op":"wait","p":1,"vm":1}
{"op":"wait","p":2,"vm":2}
{"op":"advance","at_ns":1000000}
{"op":"bo_destroy","p":1,"vm":1,"bo":2}
{"op":"bo_destroy","p":2,"vm":2,"bo":4}
{"op":"submit","p":1,"vm":1}
{"op":"submit","p":2,"vm":2}
)");
}

// Every feature that draws.
const char drawn[] = R"(
vramlab = 1
name = "drawn"
duration = "500ms"
seed = 5
[device]
[[process]]
name = "p"
count = 2
vms = 2
submissions = 2
compute = "3ms"
allocation = "shuffled"
  [[process.group]]
  name = "a"
  total = "100MiB"
  size = {distribution = "log-uniform", min = "4KiB", max = "10MiB"}
  order = "shuffled"
  touch_share = 300
  skew = 2
  drift_every = 3
  drift_by = 2
  l2_hit = 333
  msc_hit = 501
  [[process.group]]
  name = "b"
  vm = 2
  count = 40
  size = {distribution = "uniform", min = "64KiB", max = "1MiB"}
  private = false
  list = "touched"
  list_order = "alternate"
  random = true
  touch_count = 7
  [[process.group]]
  name = "c"
  count = 10
  size = {distribution = "list", values = ["1MiB", "2MiB", 12288]}
  private = false
  order = "reverse"
)";

TEST(expand, golden_hash_of_all_that_is_drawn)
{
    // A change here changes what every seed means: say so in the commit.
    EXPECT_EQ(fnv1a(write_string(expanded(drawn))), 14319093062496841582u);
    EXPECT_EQ(write_string(expanded(drawn)), write_string(expanded(drawn)));
    EXPECT_NE(operations_of(expanded(drawn)), operations_of(expanded(drawn, {{"seed", "6"}})));
}

TEST(expand, totals_and_sizes_are_exact)
{
    std::map<std::pair<u32, bool>, u64> totals; // (process, group a) -> bytes
    u64 first_b = 0;

    for (const operation &op : expanded(drawn).operations) {
        if (op.kind != op_kind::request || op.req.kind != request_kind::bo_create)
            continue;
        EXPECT_EQ(op.req.size_bytes % 4096, 0u);
        if (op.req.flags & bo_vm_private)
            totals[{op.process, true}] += op.req.size_bytes;
        first_b = std::max(first_b, op.req.bo);
    }
    EXPECT_EQ((totals[{1, true}]), 100 * MiB);
    EXPECT_EQ((totals[{2, true}]), 100 * MiB);
}

TEST(expand, scale_divides_sizes_and_rates_only)
{
    const workload full = expanded(drawn);
    const workload half = expanded(drawn, {{"scale", "2"}});

    EXPECT_EQ(half.system.device.vram_size_bytes * 2, full.system.device.vram_size_bytes);
    EXPECT_EQ(half.system.device.link_bandwidth * 2, full.system.device.link_bandwidth);
    EXPECT_EQ(half.system.device.copy_latency_ns, full.system.device.copy_latency_ns);
    u64 bytes[2] = {};

    for (const workload *w : {&full, &half})
        for (const operation &op : w->operations)
            if (op.kind == op_kind::request && op.req.flags & bo_vm_private)
                bytes[w == &half] += op.req.size_bytes;
    EXPECT_EQ(bytes[0], 200 * MiB);
    EXPECT_EQ(bytes[1], 100 * MiB);
}

TEST(expand, too_much_is_refused)
{
    const auto message = [](const std::vector<setting> &settings, const expansion_limits &limits) {
        try {
            expand(parse_scenario(drawn, "f", settings), limits);
            return std::string("nothing");
        } catch (const parse_error &e) {
            return std::string(e.what());
        }
    };

    EXPECT_EQ(message({}, {.operations = 1000}),
              "f:7: the scenario expands to too many operations, expected at most 1000");
    EXPECT_EQ(message({}, {.elements = 1000}),
              "f: the scenario expands to too many elements of lists and touch sets, expected at most 1000");
    EXPECT_EQ(message({}, {.work = 100}),
              "f:14: the scenario takes too long to expand, expected at most 100 BOs in all submissions");
    EXPECT_EQ(message({{"process.p.group.a.total", "1TiB"}}, {}).substr(0, 3), "f: ");
    EXPECT_EQ(message({{"process.p.group.a.total", "100GiB"}, {"process.p.group.a.size", "4KiB"}}, {}),
              "f:14: group \"a\" has too many BOs, expected at most 16777216 in the scenario");
    EXPECT_EQ(message({{"process.p.count", "4096"}, {"process.p.vms", "17"}}, {}),
              "f:7: too many VMs, expected at most 65536");
}

// What comes along must expand, and survive its explicit form.
class shipped : public testing::TestWithParam<std::string> {};

TEST_P(shipped, expands_and_round_trips)
{
    const std::string path = std::string(VRAMLAB_SCENARIO_DIR) + "/" + GetParam();
    const workload w = load(path);
    const std::string text = write_string(w);

    EXPECT_EQ(GetParam(), w.name + ".toml");
    // Two are for conformance alone: whatever could be expected of them holds under every policy.
    EXPECT_EQ(w.expectations.empty(), w.name == "field-c6" || w.name == "field-h1");
    for (const expectation &e : w.expectations) {
        EXPECT_FALSE(e.source.empty());
        EXPECT_FALSE(e.fails_on.empty());
    }
    EXPECT_EQ(write_string(load(path)), text);
    EXPECT_EQ(write_string(read_string(text)), text);
    // Every point of the sweep is a workload, too; long ones are left to the sweep itself.
    if (w.operations.size() < 10'000) {
        for (const auto &point : sweep_points(read_sweep(path)))
            EXPECT_NO_THROW(load(path, point)) << point.front().path << "=" << point.front().value;
    }
}

std::vector<std::string> scenario_names()
{
    std::vector<std::string> names;

    for (const auto &entry : std::filesystem::directory_iterator(VRAMLAB_SCENARIO_DIR))
        if (entry.path().extension() == ".toml")
            names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(all, shipped, testing::ValuesIn(scenario_names()), [](const auto &param) {
    std::string name = param.param.substr(0, param.param.find('.'));

    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
} // namespace vramlab::workload
