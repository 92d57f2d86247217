// SPDX-License-Identifier: MIT
// Does a workload survive writing and reading, byte for byte?
#include "workload/reader.h"
#include "workload/writer.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace vramlab::workload {
namespace {

// Every operation of order "file", in canonical form.
const char file_order[] =
    R"({"vramlab":1,"name":"all","description":"every \"operation\"\n","order":"file","operations":31,)"
    R"("device":{"vram_size":1073741824,"gtt_size":2147483648,"vram_bandwidth":40000000000,"link_bandwidth":4000000000,)"
    R"("copy_latency_ns":5000,"log2_max_mbps":3},)"
    R"("cgroups":[{"path":"user"},{"path":"user/game","min":4096,"low":"max","max":1048576}],)"
    R"("processes":[{"p":1,"name":"game","cgroup":"user/game"},{"p":2,"name":"other"}],)"
    R"("expect":[{"metric":"failed_submissions","process":"game","relation":"==","value":0,"fails_on":"mainline","source":"why"},)"
    R"({"metric":"frame_time_avg_ms","relation":"<=","value":16.7}]})"
    "\n"
    R"({"op":"vm_open","p":1,"vm":1})"
    "\n"
    R"({"op":"vm_open","p":2,"vm":7})"
    "\n"
    R"({"op":"bo_create","p":1,"vm":1,"bo":1,"size":4096,"preferred":"vram"})"
    "\n"
    R"({"op":"bo_create","p":1,"vm":1,"bo":2,"size":8192,"preferred":"vram|gtt","allowed":"vram|gtt|system",)"
    R"("flags":"private|contiguous|explicit_sync","priority":15})"
    "\n"
    R"({"op":"bo_share","p":1,"vm":1,"bo":1,"target_vm":7})"
    "\n"
    R"({"op":"bo_set_priority","p":1,"vm":1,"bo":2,"priority":0})"
    "\n"
    R"({"op":"list_define","p":1,"vm":1,"id":1,"bos":[1]})"
    "\n"
    R"({"op":"list_define","p":2,"vm":7,"id":3,"bos":[]})"
    "\n"
    R"({"op":"touch_define","p":1,"vm":1,"id":2,"touches":[[1,100,200],[2,0,18014398509481984]]})"
    "\n"
    R"({"op":"touch_define","p":1,"vm":1,"id":2,"touches":[[1,100,200],[2,0,1]]})"
    "\n"
    R"({"op":"submit","p":1,"vm":1,"list":1,"touch":2,"compute_ns":1000000})"
    "\n"
    R"({"op":"submit","p":1,"vm":1})"
    "\n"
    R"({"op":"submit","p":1,"vm":1,"list":1,"begin":true})"
    "\n"
    R"({"op":"submit","p":2,"vm":7,"list":3,"begin":true})"
    "\n"
    R"({"op":"step","p":1})"
    "\n"
    R"({"op":"finish","p":1})"
    "\n"
    R"({"op":"run","seed":18446744073709551615})"
    "\n"
    R"({"op":"wait","p":1,"vm":1})"
    "\n"
    R"({"op":"wait","p":1,"vm":1,"seqno":2})"
    "\n"
    R"({"op":"advance","at_ns":5000})"
    "\n"
    R"({"op":"pin","p":1,"vm":1,"bo":1})"
    "\n"
    R"({"op":"unpin","p":1,"vm":1,"bo":1})"
    "\n"
    R"({"op":"wait_back","p":1,"vm":1,"back":2})"
    "\n"
    R"({"op":"flip","p":2,"vm":7,"bo":1})"
    "\n"
    R"({"op":"flip","p":2,"vm":7,"bo":0})"
    "\n"
    R"({"op":"frame","p":2})"
    "\n"
    R"({"op":"evict_all"})"
    "\n"
    R"({"op":"swapout"})"
    "\n"
    R"({"op":"set_limits","cgroup":"user","low":4096})"
    "\n"
    R"({"op":"bo_destroy","p":1,"vm":1,"bo":1})"
    "\n"
    R"({"op":"vm_close","p":1,"vm":1})"
    "\n";

const char time_order[] =
    R"({"vramlab":1,"name":"t","order":"time","operations":9,)"
    R"("device":{"vram_size":4096,"gtt_size":4096,"vram_bandwidth":1048576,"link_bandwidth":1048576,)"
    R"("copy_latency_ns":0,"log2_max_mbps":0},"processes":[{"p":1,"name":"a"}]})"
    "\n"
    R"({"op":"vm_open","p":1,"vm":1})"
    "\n"
    R"({"op":"sleep","p":1,"at_ns":10})"
    "\n"
    R"({"op":"frame","p":1})"
    "\n"
    R"({"op":"cpu","p":1,"for_ns":250000})"
    "\n"
    R"({"op":"vblank","p":1,"period_ns":16666666})"
    "\n"
    R"({"op":"wait_back","p":1,"vm":1})"
    "\n"
    R"({"op":"sleep","p":0,"at_ns":20})"
    "\n"
    R"({"op":"evict_all"})"
    "\n"
    R"({"op":"end","at_ns":1000000000})"
    "\n";

std::string temporary(const char *name)
{
    return testing::TempDir() + std::to_string(getpid()) + name;
}

std::string bytes_of(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;

    out << in.rdbuf();
    return out.str();
}

TEST(reader, canonical_files_come_back_byte_for_byte)
{
    for (const char *text : {file_order, time_order})
        EXPECT_EQ(write_string(read_string(text)), text);
}

TEST(reader, fields_arrive_where_they_belong)
{
    const workload w = read_string(file_order);

    EXPECT_EQ(w.name, "all");
    EXPECT_EQ(w.description, "every \"operation\"\n");
    EXPECT_EQ(w.system.device.vram_size_bytes, GiB);
    EXPECT_EQ(w.system.cgroups[1], (cgroup_config{"user/game", 4096, ~u64{0}, MiB}));
    EXPECT_EQ(w.system.processes[0], (process_config{1, "game", "user/game"}));
    EXPECT_EQ(w.expectations[1].value, 16.7);
    const request &create = w.operations[3].req;

    EXPECT_EQ(create.process, 1u);
    EXPECT_EQ(create.preferred, domain_vram | domain_gtt);
    EXPECT_EQ(create.allowed, domain_mask);
    EXPECT_EQ(create.flags, bo_flags_mask);
    EXPECT_EQ(create.priority, 15u);
    EXPECT_EQ(w.operations[2].req.priority, priority_default);
    EXPECT_EQ(w.operations[9].req.touches[0], (touch{1, 100, 200}));
    EXPECT_EQ(w.operations[12].kind, op_kind::begin);
    EXPECT_EQ(w.operations[12].line, 14u);
    EXPECT_EQ(w.operations[16].seed, ~u64{0});
}

TEST(reader, other_spellings_become_canonical)
{
    const std::string head =
        R"({"vramlab":1,"order":"file","name":"x","processes":[{"name":"a","p":1}],"device":{}})"
        "\n"
        R"({"op":"vm_open","p":1,"vm":1})"
        "\n";
    const workload w = read_string(
        head +
        R"( { "bo" : 1 , "flags" : ["contiguous","private"], "preferred":["gtt","vram"], "size":4096,"vm":1,"p":1,)"
        R"("op":"bo_create","allowed":"gtt|vram","priority":7} )"
        "\n"
        R"({"op":"begin","request":{"op":"submit","p":1,"vm":1}})"
        "\n"
        R"({"op":"finish","p":1})"
        "\n"
        R"({"op":"submit","p":1,"vm":1,"begin":false,"compute_ns":0})"
        "\n");
    std::string text;

    for (const operation &op : w.operations)
        append_operation(text, op);
    EXPECT_EQ(
        text,
        R"({"op":"vm_open","p":1,"vm":1})"
        "\n"
        R"({"op":"bo_create","p":1,"vm":1,"bo":1,"size":4096,"preferred":"vram|gtt","allowed":"vram|gtt","flags":"private|contiguous"})"
        "\n"
        R"({"op":"submit","p":1,"vm":1,"begin":true})"
        "\n"
        R"({"op":"finish","p":1})"
        "\n"
        R"({"op":"submit","p":1,"vm":1})"
        "\n");
    EXPECT_EQ(write_string(read_string(write_string(w))), write_string(w));
}

TEST(reader, streams_one_operation_at_a_time)
{
    reader r(lines_of(file_order, "f"));
    operation op;
    u32 n = 0;

    EXPECT_EQ(r.header().system.processes.size(), 2u);
    while (r.next(op))
        EXPECT_EQ(op.line, ++n + 1);
    EXPECT_EQ(n, 31u);
}

TEST(reader, files_plain_and_compressed_hold_the_same)
{
    const workload w = read_string(file_order);

    for (const char *name : {"w.jsonl", "w.jsonl.zst"}) {
        const std::string path = temporary(name);

        write_file(w, path);
        EXPECT_EQ(write_string(read_file(path)), file_order) << name;
        std::remove(path.c_str());
    }
}

TEST(reader, long_compressed_files_survive_buffer_boundaries)
{
    workload w = read_string(time_order);
    operation frame = w.operations[2];

    w.operations.pop_back();
    w.operations.insert(w.operations.end(), 40'000, frame);
    const std::string path = temporary("long.jsonl.zst");

    write_file(w, path);
    EXPECT_EQ(write_string(read_file(path)), write_string(w));
    // The same in several frames, as `cat a.zst b.zst` makes it, and cut short at every kind of place.
    const std::string whole = bytes_of(path);
    u32 complete = 0;

    for (std::size_t cut : {std::size_t{0}, std::size_t{3}, whole.size() / 2, whole.size() - 1}) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, cut);
        try {
            read_file(path);
            complete++;
        } catch (const parse_error &e) {
            EXPECT_EQ(e.problem(), "truncated zstd data") << cut;
        }
    }
    EXPECT_EQ(complete, 0u);
    std::remove(path.c_str());
}

TEST(writer, a_file_that_cannot_be_written_is_an_error_and_leaves_nothing)
{
    EXPECT_THROW(write_file(read_string(time_order), "/nonexistent/w.jsonl"), std::runtime_error);
}

} // namespace
} // namespace vramlab::workload
