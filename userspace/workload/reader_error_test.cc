// SPDX-License-Identifier: MIT
// Is everything that is wrong with a file refused, with its line, what it is and what was expected?
#include "workload/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace vramlab::workload {
namespace {

const char device[] = R"("device":{"vram_size":1048576,"gtt_size":2097152})";

std::string header(const std::string &order, const std::string &more = "")
{
    return fmt::format(R"({{"vramlab":1,"name":"n","order":"{}",{}{},"cgroups":[{{"path":"g"}}],)"
                       R"("processes":[{{"p":1,"name":"a"}},{{"p":2,"name":"b"}}]}})"
                       "\n",
                       order, device, more);
}

// What reading the text says, without the name of the file.
std::string said(const std::string &text)
{
    try {
        read_string(text, "f");
        return "nothing";
    } catch (const parse_error &e) {
        EXPECT_EQ(e.file(), "f");
        return std::string(e.what()).substr(2);
    }
}

struct bad_line {
    const char *lines;
    const char *message;
};

// Two VMs, BO 1 private to VM 1, BO 2 shared by VM 1 and 2, BO 3 of VM 1 alone; lines 2 to 6.
const char setup[] =
    R"({"op":"vm_open","p":1,"vm":1})"
    "\n"
    R"({"op":"vm_open","p":2,"vm":2})"
    "\n"
    R"({"op":"bo_create","p":1,"vm":1,"bo":1,"size":4096,"preferred":"vram","flags":"private"})"
    "\n"
    R"({"op":"bo_create","p":1,"vm":1,"bo":2,"size":4096,"preferred":"vram"})"
    "\n"
    R"({"op":"bo_share","p":1,"vm":1,"bo":2,"target_vm":2})"
    "\n"
    R"({"op":"bo_create","p":1,"vm":1,"bo":3,"size":2097152,"preferred":"vram"})"
    "\n";

void check(const std::string &order, const std::vector<bad_line> &all)
{
    for (const bad_line &b : all)
        EXPECT_EQ(said(header(order) + setup + b.lines + "\n"), b.message) << b.lines;
}

TEST(reader_error, form)
{
    check(
        "file",
        {
            {"", "8: not JSON at column 1, expected one JSON object a line"},
            {"{", "8: not JSON at column 2, expected one JSON object a line"},
            {"{} {}", "8: not JSON at column 4, expected one JSON object a line"},
            {"[]", "8: operation is an array, expected an object"},
            {"{}", "8: operation without key \"op\", expected it"},
            {R"({"op":1})", "8: operation: key \"op\" is an integer, expected a string"},
            {R"({"op":"sbmit"})", "8: operation: key \"op\" is \"sbmit\", expected an operation of "
                                  "Documentation/workload-format.rst"},
            {R"({"op":"frame","p":1,"p":1})", "8: duplicate key \"p\", expected each key once"},
            {R"({"op":"frame","p":1,"q":1})",
             "8: frame: unknown key \"q\", expected the keys of Documentation/workload-format.rst"},
            {R"({"op":"frame"})", "8: frame without key \"p\", expected it"},
            {R"({"op":"frame","p":"1"})",
             "8: frame: key \"p\" is a string, expected an integer from 1 to 4096"},
            {R"({"op":"frame","p":1.0})",
             "8: frame: key \"p\" is a number, expected an integer from 1 to 4096"},
            {R"({"op":"frame","p":-1})",
             "8: frame: key \"p\" is a number, expected an integer from 1 to 4096"},
            {R"({"op":"frame","p":0})", "8: frame: key \"p\" is 0, expected an integer from 1 to 4096"},
            {R"({"op":"frame","p":4294967297})",
             "8: frame: key \"p\" is 4294967297, expected an integer from 1 to 4096"},
            {R"({"op":"run","seed":18446744073709551616})",
             "8: run: key \"seed\" is a number, expected an integer from 0 to 18446744073709551615"},
            {R"({"op":"run","seed":1e999})", "8: number out of range, expected a finite number"},
            {R"({"op":"frame","p":[[[[[[[[1]]]]]]]]})", "8: nesting too deep, expected at most 6 levels"},
            {R"({"op":"submit","p":1,"vm":1,"begin":1})",
             "8: submit: key \"begin\" is an integer, expected true or false"},
            {R"({"op":"begin"})", "8: operation without key \"request\", expected it"},
            {R"({"op":"begin","request":1})", "8: request is an integer, expected an object"},
            {R"({"op":"begin","request":{"op":"frame","p":1}})",
             "8: request: key \"op\" is \"frame\", expected a request"},
            {R"({"op":"begin","request":{"op":"begin"}})", "8: request: key \"op\" is \"begin\", expected an "
                                                           "operation of Documentation/workload-format.rst"},
            {R"({"op":"begin","p":1,"request":{"op":"wait","p":1,"vm":1}})",
             "8: operation: unknown key \"p\", expected the keys of Documentation/workload-format.rst"},
            {R"({"op":"list_define","p":1,"vm":1,"id":1,"bos":["x"]})",
             "8: list_define: key \"bos\" has a string in it, expected BO tags"},
            {R"({"op":"touch_define","p":1,"vm":1,"id":1,"touches":[[1,2]]})",
             "8: touch_define: key \"touches\" has an array in it, expected arrays [bo, vram_bytes, "
             "link_bytes] of integers"},
            {R"({"op":"touch_define","p":1,"vm":1,"id":1,"touches":[1]})",
             "8: touch_define: key \"touches\" has an integer in it, expected arrays [bo, vram_bytes, "
             "link_bytes] of integers"},
            {R"({"op":"set_limits","cgroup":"g","low":"much"})",
             "8: set_limits: key \"low\" is a string, expected an integer or \"max\""},
        });
}

TEST(reader_error, create)
{
    const auto create = [](const std::string &keys) {
        return fmt::format(R"({{"op":"bo_create","p":1,"vm":1,{}}})", keys);
    };
    const std::vector<std::pair<std::string, std::string>> all = {
        {R"("bo":0,"size":4096,"preferred":"vram")",
         "bo_create: key \"bo\" is 0, expected an integer from 1 to 18446744073709551615"},
        {R"("bo":1,"size":4096,"preferred":"vram")", "BO 1 created twice, expected a tag not used before"},
        {R"("bo":9,"size":0,"preferred":"vram")",
         "BO 9 of 0 bytes, expected a multiple of 4096 from 4096 to 17592186044416"},
        {R"("bo":9,"size":4095,"preferred":"vram")",
         "BO 9 of 4095 bytes, expected a multiple of 4096 from 4096 to 17592186044416"},
        {R"("bo":9,"size":18446744073709547520,"preferred":"vram")",
         "BO 9 of 18446744073709547520 bytes, expected a multiple of 4096 from 4096 to 17592186044416"},
        {R"("bo":9,"size":1052672,"preferred":"vram","allowed":"vram")",
         "BO 9 of 1052672 bytes can never fit in \"vram\", expected at most 1048576"},
        {R"("bo":9,"size":1052672,"preferred":"vram","allowed":"vram","flags":"contiguous")",
         "BO 9 of 1052672 bytes can never fit in \"vram\", expected at most 1048576"},
        {R"("bo":9,"size":2101248,"preferred":"vram")",
         "BO 9 of 2101248 bytes can never fit in \"vram|gtt\", expected at most 2097152"},
        {R"("bo":9,"size":2101248,"preferred":"gtt")",
         "BO 9 of 2101248 bytes can never fit in \"gtt\", expected at most 2097152"},
        {R"("bo":9,"size":4096,"preferred":"")",
         "bo_create: key \"preferred\" is \"\", expected each at most once of \"vram\", \"gtt\" and "
         "\"system\", joined by |"},
        {R"("bo":9,"size":4096,"preferred":"vram|vram")",
         "bo_create: key \"preferred\" is \"vram|vram\", expected each at most once of \"vram\", \"gtt\" and "
         "\"system\", joined by |"},
        {R"("bo":9,"size":4096,"preferred":["vram",1])",
         "bo_create: key \"preferred\" is \"vram|\", expected each at most once of \"vram\", \"gtt\" and "
         "\"system\", joined by |"},
        {R"("bo":9,"size":4096,"preferred":4)",
         "bo_create: key \"preferred\" is an integer, expected a string or an array of strings"},
        {R"("bo":9,"size":4096,"preferred":"vram","allowed":"gtt")",
         "BO 9 allowed in \"gtt\", expected the preferred \"vram\" among them"},
        {R"("bo":9,"size":4096,"preferred":"vram","flags":"shared")",
         "bo_create: key \"flags\" is \"shared\", expected each at most once of \"private\", \"contiguous\" "
         "and \"explicit_sync\", joined by |"},
        {R"("bo":9,"size":4096,"preferred":"vram","priority":16)",
         "bo_create: key \"priority\" is 16, expected an integer from 0 to 15"},
    };

    for (const auto &[keys, message] : all)
        EXPECT_EQ(said(header("file") + setup + create(keys) + "\n"), "8: " + message) << keys;
}

TEST(reader_error, who_has_what)
{
    check(
        "file",
        {
            {R"({"op":"frame","p":3})", "8: unknown process 3, expected 1 to 2"},
            {R"({"op":"vm_open","p":1,"vm":1})", "8: VM 1 opened twice, expected a label not used before"},
            {R"({"op":"vm_close","p":1,"vm":3})", "8: unknown VM 3, expected \"vm_open\" before"},
            {R"({"op":"vm_close","p":1,"vm":2})", "8: VM 2 belongs to process 2, expected a VM of process 1"},
            {"{\"op\":\"vm_close\",\"p\":1,\"vm\":1}\n{\"op\":\"submit\",\"p\":1,\"vm\":1}",
             "9: VM 1 is closed, expected an open VM"},
            {"{\"op\":\"vm_close\",\"p\":1,\"vm\":1}\n{\"op\":\"vm_open\",\"p\":1,\"vm\":1}",
             "9: VM 1 opened twice, expected a label not used before"},
            {R"({"op":"bo_destroy","p":1,"vm":1,"bo":4})", "8: unknown BO 4, expected \"bo_create\" before"},
            {R"({"op":"bo_destroy","p":2,"vm":2,"bo":1})",
             "8: VM 2 has no BO 1, expected a BO shared with it"},
            {"{\"op\":\"bo_destroy\",\"p\":1,\"vm\":1,\"bo\":1}\n{\"op\":\"bo_destroy\",\"p\":1,\"vm\":1,"
             "\"bo\":1}",
             "9: VM 1 has no BO 1, expected a BO that exists"},
            {R"({"op":"bo_share","p":1,"vm":1,"bo":1,"target_vm":2})",
             "8: BO 1 shared, which is private, expected a BO without flag \"private\""},
            {R"({"op":"bo_share","p":1,"vm":1,"bo":2,"target_vm":2})",
             "8: BO 2 shared with VM 2, which has it, expected another VM"},
            {R"({"op":"bo_share","p":1,"vm":1,"bo":2,"target_vm":9})",
             "8: BO 2 shared with VM 9, which is unknown, expected an open VM"},
            {R"({"op":"bo_set_priority","p":1,"vm":1,"bo":2,"priority":1})",
             "8: priority of BO 2, which is not private, expected a BO with flag \"private\""},
            {R"({"op":"pin","p":1,"vm":1,"bo":3})",
             "8: BO 3 of 2097152 bytes can never be pinned, expected at most VRAM's 1048576"},
            {R"({"op":"flip","p":1,"vm":1,"bo":3})",
             "8: BO 3 of 2097152 bytes can never be pinned, expected at most VRAM's 1048576"},
            {R"({"op":"unpin","p":1,"vm":1,"bo":2})", "8: VM 1 has no pin on BO 2, expected \"pin\" before"},
            {R"({"op":"set_limits","cgroup":"h"})", "8: unknown cgroup \"h\", expected one of the header's"},
            {R"({"op":"set_limits","cgroup":"g","low":1})",
             "8: cgroup \"g\": limit 1, expected \"max\" or a multiple of 4096 up to 17592186044416"},
        });
}

TEST(reader_error, submit)
{
    const std::string lists =
        R"({"op":"list_define","p":1,"vm":1,"id":1,"bos":[1]})"
        "\n"
        R"({"op":"list_define","p":1,"vm":1,"id":2,"bos":[9]})"
        "\n"
        R"({"op":"touch_define","p":1,"vm":1,"id":1,"touches":[[2,1,1]]})"
        "\n"
        R"({"op":"touch_define","p":1,"vm":1,"id":2,"touches":[[1,17592186044416,0],[1,1,0]]})"
        "\n"
        R"({"op":"touch_define","p":1,"vm":1,"id":3,"touches":[[9,1,1]]})"
        "\n";
    const std::vector<std::pair<const char *, const char *>> all = {
        {R"("list":9)", "unknown list 9 of VM 1, expected \"list_define\" before"},
        {R"("touch":9)", "unknown touch set 9 of VM 1, expected \"touch_define\" before"},
        {R"("list":1)", "list 1 of VM 1 has BO 1, which is private, expected BOs without flag \"private\""},
        {R"("list":2)", "unknown BO 9, expected \"bo_create\" before"},
        {R"("touch":1)", "touch set 1 of VM 1 has BO 2, which is neither private nor listed, expected a "
                         "private or listed BO"},
        {R"("touch":2)", "touch set 2 of VM 1 is too large, expected at most 17592186044416 bytes in all"},
        {R"("touch":3)", "unknown BO 9, expected \"bo_create\" before"},
        {R"("compute_ns":17592186044417)",
         "submit: key \"compute_ns\" is 17592186044417, expected an integer from 0 to 17592186044416"},
    };

    for (const auto &[keys, message] : all)
        EXPECT_EQ(said(header("file") + setup + lists +
                       fmt::format(R"({{"op":"submit","p":1,"vm":1,{}}})", keys) + "\n"),
                  std::string("13: ") + message)
            << keys;
}

TEST(reader_error, a_submission_that_was_good_is_checked_again_after_a_destroy)
{
    EXPECT_EQ(said(header("file") + setup +
                   R"({"op":"list_define","p":1,"vm":1,"id":1,"bos":[2,3]})"
                   "\n"
                   R"({"op":"submit","p":1,"vm":1,"list":1})"
                   "\n"
                   R"({"op":"bo_destroy","p":1,"vm":1,"bo":2})"
                   "\n"
                   R"({"op":"submit","p":1,"vm":1,"list":1})"
                   "\n"),
              "11: VM 1 has no BO 2, expected a BO shared with it");
}

TEST(reader_error, sum_of_all_jobs)
{
    // Each of these takes half a year, and 128 of them 2^62 ns.
    std::string text =
        R"({"vramlab":1,"name":"n","order":"file","device":{"vram_bandwidth":1048576,"link_bandwidth":1048576},)"
        R"("processes":[{"p":1,"name":"a"}]})"
        "\n"
        R"({"op":"vm_open","p":1,"vm":1})"
        "\n"
        R"({"op":"bo_create","p":1,"vm":1,"bo":1,"size":4096,"preferred":"vram","flags":"private"})"
        "\n"
        R"({"op":"touch_define","p":1,"vm":1,"id":1,"touches":[[1,17592186044416,17592186044416]]})"
        "\n";

    for (int i = 0; i < 137; i++)
        text += R"({"op":"submit","p":1,"vm":1,"touch":1})"
                "\n";
    EXPECT_EQ(said(text), "nothing");
    text += R"({"op":"submit","p":1,"vm":1,"touch":1})"
            "\n";
    EXPECT_EQ(said(text), "142: the jobs take too long, expected at most 4611686018427387904 ns in all");
}

TEST(reader_error, order_and_time)
{
    check(
        "file",
        {
            {R"({"op":"sleep","p":1,"at_ns":1})",
             "8: \"sleep\" in a workload of order \"file\", expected order \"time\""},
            {R"({"op":"cpu","p":1,"for_ns":1})",
             "8: \"cpu\" in a workload of order \"file\", expected order \"time\""},
            {R"({"op":"vblank","p":1,"period_ns":1})",
             "8: \"vblank\" in a workload of order \"file\", expected order \"time\""},
            {R"({"op":"end","at_ns":1})",
             "8: \"end\" in a workload of order \"file\", expected order \"time\""},
            {"{\"op\":\"advance\",\"at_ns\":2}\n{\"op\":\"advance\",\"at_ns\":1}",
             "9: time goes back to 1, expected at least 2"},
            {R"({"op":"advance","at_ns":1152921504606846977})",
             "8: advance: key \"at_ns\" is 1152921504606846977, expected an integer from 0 to "
             "1152921504606846976"},
            {R"({"op":"wait","p":1,"vm":1,"seqno":1})",
             "8: wait for submission 1 of VM 1, expected at most 0, as many as there are"},
            {"{\"op\":\"submit\",\"p\":1,\"vm\":1,\"begin\":true}\n{\"op\":\"frame\",\"p\":1}",
             "9: process 1 has an operation under way, expected \"finish\" or \"run\" before"},
            {"{\"op\":\"submit\",\"p\":1,\"vm\":1,\"begin\":true}\n{\"op\":\"step\",\"p\":1}\n{\"op\":"
             "\"submit\",\"p\":1,\"vm\":1}",
             "10: process 1 has an operation under way, expected \"finish\" or \"run\" before"},
            {"{\"op\":\"submit\",\"p\":1,\"vm\":1,\"begin\":true}\n{\"op\":\"evict_all\"}",
             "9: \"evict_all\" with operations under way, expected \"finish\" or \"run\" before"},
            {R"({"op":"submit","p":1,"vm":1,"begin":true})",
             "8: process 1 left with an operation under way, expected \"finish\" or \"run\" after \"begin\""},
        });
    check("time",
          {
              {R"({"op":"submit","p":1,"vm":1,"begin":true})",
               "8: \"begin\" in a workload of order \"time\", expected order \"file\""},
              {R"({"op":"step","p":1})",
               "8: \"step\" in a workload of order \"time\", expected order \"file\""},
              {R"({"op":"finish","p":1})",
               "8: \"finish\" in a workload of order \"time\", expected order \"file\""},
              {R"({"op":"run","seed":1})",
               "8: \"run\" in a workload of order \"time\", expected order \"file\""},
              {R"({"op":"advance","at_ns":1})",
               "8: \"advance\" in a workload of order \"time\", expected order \"file\""},
              {R"({"op":"cpu","p":1,"for_ns":60000000001})",
               "8: cpu: key \"for_ns\" is 60000000001, expected an integer from 1 to 60000000000"},
              {R"({"op":"vblank","p":1,"period_ns":0})",
               "8: vblank: key \"period_ns\" is 0, expected an integer from 1 to 1152921504606846976"},
              {R"({"op":"sleep","p":3,"at_ns":0})", "8: unknown process 3, expected 1 to 2"},
              {"{\"op\":\"sleep\",\"p\":1,\"at_ns\":2}\n{\"op\":\"sleep\",\"p\":1,\"at_ns\":1}",
               "9: process 1 sleeps until 1, expected at least 2, as before"},
              {"{\"op\":\"end\",\"at_ns\":2}\n{\"op\":\"frame\",\"p\":1}",
               "9: \"frame\" after \"end\", expected \"end\" last"},
          });
}

TEST(reader_error, length)
{
    EXPECT_EQ(said(""), "1: empty file, expected a header");
    EXPECT_EQ(said(header("file") + R"({"op":"vm_open","p":1,"vm":1})"),
              "2: truncated file: the last line has no newline, expected a newline at its end");
    EXPECT_EQ(said(header("file", R"(,"operations":2)") + R"({"op":"vm_open","p":1,"vm":1})"
                                                          "\n"),
              "2: truncated file: 1 operations, expected 2, as the header says");
    EXPECT_EQ(said(header("file", R"(,"operations":0)") + R"({"op":"vm_open","p":1,"vm":1})"
                                                          "\n"),
              "2: one operation more, expected 0, as the header says");
    EXPECT_EQ(said(std::string(1, '\0') + "\n"), "1: not JSON at column 1, expected one JSON object a line");
}

struct bad_header {
    std::string text;
    std::string message;
};

TEST(reader_error, header)
{
    const std::string start = R"("vramlab":1,"name":"n","order":"file")";
    const std::string processes = R"("processes":[{"p":1,"name":"a"}])";
    const auto with_device = [&](const std::string &d) {
        return start + R"(,"device":{)" + d + "}," + processes;
    };
    const auto with_cgroups = [&](const std::string &g) {
        return start + "," + device + R"(,"cgroups":[)" + g + "]," + processes;
    };
    const auto with_processes = [&](const std::string &p) {
        return start + "," + device + R"(,"processes":[)" + p + "]";
    };
    const auto with_expect = [&](const std::string &e) {
        return start + "," + device + "," + processes + R"(,"expect":[)" + e + "]";
    };
    const std::string size = "a multiple of 4096 from 4096 to 17592186044416";
    const std::vector<bad_header> all = {
        {"", "header without key \"vramlab\", expected it"},
        {R"("vramlab":2)", "header: key \"vramlab\" is 2, expected an integer from 1 to 1"},
        {R"("vramlab":1,"name":"a b")",
         "header: key \"name\" is \"a b\", expected 1 to 128 of A-Z a-z 0-9 _ . : @ + -"},
        {R"("vramlab":1,"name":"n","order":"line")",
         "header: key \"order\" is \"line\", expected \"file\" or \"time\""},
        {start, "header without key \"device\", expected it"},
        {start + ",\"device\":{}", "header without key \"processes\", expected it"},
        {start + ",\"device\":{}," + processes + ",\"x\":0",
         "header: unknown key \"x\", expected the keys of Documentation/workload-format.rst"},
        {with_device(R"("vram_size":0)"), "device: vram_size is 0, expected " + size},
        {with_device(R"("vram_size":5000)"), "device: vram_size is 5000, expected " + size},
        {with_device(R"("gtt_size":18014398509481984)"),
         "device: gtt_size is 18014398509481984, expected " + size},
        {with_device(R"("vram_bandwidth":0)"),
         "device: vram_bandwidth is 0, expected 1048576 to 1125899906842624"},
        {with_device(R"("link_bandwidth":1)"),
         "device: link_bandwidth is 1, expected 1048576 to 1125899906842624"},
        {with_device(R"("copy_latency_ns":1000000001)"),
         "device: copy_latency_ns is 1000000001, expected 0 to 1000000000"},
        {with_device(R"("log2_max_mbps":32)"),
         "device: key \"log2_max_mbps\" is 32, expected an integer from 0 to 31"},
        {with_device(R"("colour":1)"),
         "device: unknown key \"colour\", expected the keys of Documentation/workload-format.rst"},
        {with_cgroups(R"({"path":""})"), "cgroup \"\", expected a path below the root: names (1 to 128 of "
                                         "A-Z a-z 0-9 _ . : @ + -) joined by /"},
        {with_cgroups(R"({"path":"a"},{"path":"a/../a"})"),
         "cgroup \"a/../a\", expected a path below the root: names (1 to 128 of A-Z a-z 0-9 _ . : @ + -) "
         "joined by /"},
        {with_cgroups(R"({"path":"/a"})"), "cgroup \"/a\", expected a path below the root: names (1 to 128 "
                                           "of A-Z a-z 0-9 _ . : @ + -) joined by /"},
        {with_cgroups(R"({"path":"a/b"})"),
         "cgroup \"a/b\" without its parent, expected parents before children"},
        {with_cgroups(R"({"path":"a/b"},{"path":"a"})"),
         "cgroup \"a/b\" without its parent, expected parents before children"},
        {with_cgroups(R"({"path":"a"},{"path":"a"})"), "cgroup \"a\" twice, expected each once"},
        {with_cgroups(R"({"path":"a","min":1})"),
         "cgroup \"a\": limit 1, expected \"max\" or a multiple of 4096 up to 17592186044416"},
        {with_processes(""), "0 processes, expected 1 to 4096"},
        {with_processes(R"({"p":2,"name":"a"})"), "process 2, expected 1: numbered from 1, in order"},
        {with_processes(R"({"p":1,"name":"a"},{"p":2,"name":"a"})"),
         "process name \"a\" twice, expected each once"},
        {with_processes(R"({"p":1,"name":""})"),
         "process 1: name \"\", expected 1 to 128 of A-Z a-z 0-9 _ . : @ + -"},
        {with_processes(R"({"p":1,"name":"a","cgroup":"h"})"),
         "process \"a\": unknown cgroup \"h\", expected one of the header's"},
        {with_expect(R"({"metric":"m","relation":"=","value":1})"),
         "expectation: key \"relation\" is \"=\", expected \"==\", \"!=\", \"<\", \"<=\", \">\" or \">=\""},
        {with_expect(R"({"metric":"m","relation":"==","value":"1"})"),
         "expectation: key \"value\" is a string, expected a number"},
        {with_expect(R"({"metric":"m","process":"z","relation":"==","value":1})"),
         "expectation of \"m\": unknown process \"z\", expected one of the header's"},
    };

    for (const bad_header &b : all)
        EXPECT_EQ(said("{" + b.text + "}\n"), "1: " + b.message) << b.text;
}

TEST(reader_error, counts)
{
    std::string bos = "1";

    for (int i = 0; i < 1 << 20; i++)
        bos += ",1";
    EXPECT_EQ(
        said(header("file") + setup + R"({"op":"list_define","p":1,"vm":1,"id":1,"bos":[)" + bos + "]}\n"),
        "8: list_define: key \"bos\" has 1048577 elements, expected at most 1048576");
    std::string keys = R"({"op":"frame")";

    for (int i = 0; i < 100; i++)
        keys += fmt::format(",\"k{}\":0", i);
    EXPECT_EQ(said(header("file") + keys + "}\n"), "2: too many keys, expected at most 64");
}

TEST(reader_error, files)
{
    try {
        read_file("/nonexistent/f.jsonl");
        FAIL();
    } catch (const parse_error &e) {
        EXPECT_STREQ(
            e.what(),
            "/nonexistent/f.jsonl: cannot open: No such file or directory, expected a readable file");
        EXPECT_EQ(e.line(), 0u);
    }
}

} // namespace
} // namespace vramlab::workload
