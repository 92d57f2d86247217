// SPDX-License-Identifier: MIT
// Are scenarios read as Documentation/scenario-format.rst says, and refused with line, problem and
// expectation else?
#include "workload/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace vramlab::workload {
namespace {

// Lines 1 to 13.
const char base[] = R"(vramlab = 1
name = "s"
duration = "1s"
[device]
vram_size = "64MiB"
[[cgroup]]
path = "a"
[[process]]
name = "p"
  [[process.group]]
  name = "g"
  count = 2
  size = "1MiB"
)";

std::string said(const std::string &text, const std::vector<setting> &settings = {})
{
    try {
        expand(parse_scenario(text, "f", settings));
        return "nothing";
    } catch (const parse_error &e) {
        return e.what();
    }
}

struct bad {
    const char *more; // after the base
    const char *message;
};

TEST(scenario, what_is_wrong_in_a_group)
{
    for (const bad &b : std::vector<bad>{
             {"vm = 0", "f:14: process \"p\": group \"g\": key \"vm\" is 0, expected 1 to 65536"},
             {"vm = 2", "f:10: group \"g\" in VM 2, expected 1 to 1, the process's vms"},
             {"total = \"1MiB\"", "f:10: process \"p\": group \"g\": both or neither of \"count\" and "
                                  "\"total\", expected one of them"},
             {"order = \"up\"", "f:14: process \"p\": group \"g\": key \"order\" is \"up\", expected one of "
                                "\"forward\", \"reverse\", \"shuffled\""},
             {"preferred = \"ram\"",
              "f:14: process \"p\": group \"g\": key \"preferred\" is \"ram\", expected each at most once of "
              "\"vram\", \"gtt\" and \"system\", joined by |"},
             {"allowed = \"gtt\"", "f:14: process \"p\": group \"g\": key \"allowed\" is \"gtt\", expected "
                                   "the preferred \"vram\" among them"},
             {"private = 1",
              "f:14: process \"p\": group \"g\": key \"private\" is 1, expected true or false"},
             {"priority = 16", "f:14: process \"p\": group \"g\": key \"priority\" is 16, expected 0 to 15"},
             {"priority = 1.5", "f:14: process \"p\": group \"g\": key \"priority\" is a number with a "
                                "fraction, expected an integer from 0 to 15"},
             {"list = \"all\"", "f:14: process \"p\": group \"g\": key \"list\" of a private group, expected "
                                "it with private = false only"},
             {"l2_hit = 1001",
              "f:14: process \"p\": group \"g\": key \"l2_hit\" is 1001, expected 0 to 1000"},
             {"touch_share = 1\ntouch_count = 1", "f:10: process \"p\": group \"g\": both \"touch_count\" "
                                                  "and \"touch_share\", expected one of them"},
             {"random = true\ndrift_every = 1", "f:15: process \"p\": group \"g\": key \"drift_every\" with "
                                                "random = true, expected one of them"},
             {"private = false\nlist = \"none\"\ntouch_count = 1",
              "f:10: process \"p\": group \"g\": touches BOs that it does not list, expected touch_count or "
              "touch_share 0 with list = \"none\""},
             {"colour = 1", "f:14: process \"p\": group \"g\": unknown key \"colour\", expected the keys of "
                            "Documentation/scenario-format.rst"},
             {"[[process.group]]\nname = \"g\"\ncount = 1\nsize = \"1MiB\"",
              "f:14: group \"g\" of process \"p\" twice, expected each once"},
             {"[[process.group]]\nname = \"h\"\ncount = 1",
              "f:14: process \"p\": group \"h\": no key \"size\", expected it"},
             {"[[process.group]]\nname = \"h\"\ncount = 1\nsize = \"1MB\"",
              "f:17: process \"p\": group \"h\": key \"size\" is \"1MB\", expected bytes, or an integer with "
              "B, KiB, MiB or GiB"},
             {"[[process.group]]\nname = \"h\"\ncount = 1\nsize = -1",
              "f:17: process \"p\": group \"h\": key \"size\" is -1, expected bytes, or an integer with B, "
              "KiB, MiB or GiB"},
             {"[[process.group]]\nname = \"h\"\ncount = 1\nsize = \"1GiB\"",
              "f:14: BO 3 of 1073741824 bytes can never be pinned, expected x"},
             {"[[process.group]]\nname = \"h\"\ncount = 1\nsize = {distribution = \"uniform\", min = "
              "\"2MiB\", max = \"1MiB\"}",
              "f:17: size: key \"max\" is \"1MiB\", expected 2097152 to 17592186044416"},
             {"[[process.group]]\nname = \"h\"\ncount = 1\nsize = {distribution = \"normal\"}",
              "f:17: size: key \"distribution\" is \"normal\", expected one of \"uniform\", \"log-uniform\", "
              "\"list\""},
             {"[[process.group]]\nname = \"h\"\ncount = 1\nsize = {distribution = \"list\", values = []}",
              "f:17: size: key \"values\" is an array, expected an array of 1 to 256 sizes"},
             {"[[process.group]]\nname = \"h\"\ntotal = \"1GiB\"\nsize = \"128MiB\"\nallowed = \"vram\"",
              "f:14: BO 3 of 134217728 bytes can never fit in \"vram\", expected at most 67108864"},
         }) {
        const std::string got = said(base + std::string(b.more) + "\n");

        if (std::string(b.message).ends_with("expected x")) // 1 GiB fits in the default GTT: nothing wrong
            EXPECT_EQ(got, "nothing") << b.more;
        else
            EXPECT_EQ(got, b.message) << b.more;
    }
}

TEST(scenario, what_is_wrong_elsewhere)
{
    for (const bad &b : std::vector<bad>{
             {"[[process]]\nname = \"p\"",
              "f:14: process \"p\" twice, expected each once, copies numbered from 1"},
             {"[[process]]\nname = \"self\"",
              "f:14: process \"self\", expected another name: it means the process itself in scanout"},
             {"[[process]]\nname = \"q\"\ncgroup = \"b\"",
              "f: process \"q\": unknown cgroup \"b\", expected one of the header's"},
             {"[[process]]\nname = \"q\"\npresent = \"none\"",
              "f:14: process \"q\" without end, expected max_fps or frames, or present = \"fifo\""},
             {"[[process]]\nname = \"q\"\nmax_fps = 1",
              "f:16: process \"q\": unknown key \"max_fps\", expected the keys of "
              "Documentation/scenario-format.rst"},
             {"[[process]]\nname = \"q\"\nscanout = \"self\"",
              "f:14: process \"q\": scanout without swapchain, expected both"},
             {"[[process]]\nname = \"q\"\nswapchain = \"i\"",
              "f:14: unknown group \"i\" of process \"q\", expected a [[process.group]]"},
             {"[[process]]\nname = \"q\"\ndirect_scanout = true",
              "f:14: process \"q\": direct_scanout, expected a process whose scanout it is"},
             {"[[process]]\nname = \"q\"\nswapchain = \"i\"\nscanout = \"r\"\n[[process.group]]\nname = "
              "\"i\"\ncount = 2\nsize = \"1MiB\"\nprivate = false",
              "f:14: unknown process \"r\", expected a [[process]]"},
             {"[[process]]\nname = \"q\"\nswapchain = \"i\"\nscanout = \"p\"\n[[process.group]]\nname = "
              "\"i\"\ncount = 2\nsize = \"1MiB\"",
              "f:18: group \"i\" is private and a swapchain that \"p\" shows, expected private = false"},
             {"[[process]]\nname = \"q\"\nswapchain = \"i\"\nscanout = \"r\"\n[[process.group]]\nname = "
              "\"i\"\ncount = 2\nsize = \"1MiB\"\nprivate = false\n[[process]]\nname = \"r\"",
              "f:14: process \"q\" is shown by \"r\", expected a single process that is written before it "
              "and starts no later"},
             {"[[cgroup]]\npath = \"b/c\"",
              "f: cgroup \"b/c\" without its parent, expected parents before children"},
             {"[[cgroup]]\npath = \"b\"\nlow = \"-\"",
              "f:16: cgroup \"b\": key \"low\" is \"-\", expected bytes, or an integer with B, KiB, MiB or "
              "GiB, or \"max\""},
             {"[[event]]\ndo = \"dance\"",
              "f:15: event: key \"do\" is \"dance\", expected one of \"pause\", \"grow\", \"burst\", "
              "\"set_priority\", \"exit\", \"evict_all\", \"suspend\", \"swapout\", \"set_limits\""},
             {"[[event]]\ndo = \"pause\"\nat = \"1s\"\nprocess = \"p\"",
              "f:14: event: no key \"for\", expected it"},
             {"[[event]]\ndo = \"pause\"\nat = \"1s\"\nprocess = \"q\"\nfor = \"1s\"",
              "f:14: unknown process \"q\", expected a [[process]]"},
             {"[[event]]\ndo = \"evict_all\"\nat = \"1s\"\nprocess = \"p\"",
              "f:17: event: unknown key \"process\", expected the keys of Documentation/scenario-format.rst"},
             {"[[event]]\ndo = \"grow\"\nat = 1\nprocess = \"p\"\ngroup = \"h\"",
              "f:14: unknown group \"h\" of process \"p\", expected a [[process.group]]"},
             {"[[event]]\ndo = \"burst\"\nat = 1\nfor = 9\nprocess = \"p\"\ngroup = \"g\"\n[[event]]\ndo = "
              "\"grow\"\nat = 10\nprocess = \"p\"\ngroup = \"g\"",
              "f:20: group \"g\" exists already then, expected a time after its burst"},
             {"[[event]]\ndo = \"set_limits\"\nat = 1\ncgroup = \"z\"",
              "f:14: unknown cgroup \"z\", expected one of the header's"},
             {"[[step]]\ndo = \"round\"",
              "f:14: step in a scenario of order \"time\", expected events, or order = \"file\""},
             {"[[expect]]\nmetric = \"m\"\nrelation = \"~\"\nvalue = 1",
              "f:16: expect: key \"relation\" is \"~\", expected \"==\", \"!=\", \"<\", \"<=\", \">\" or "
              "\">=\""},
             {"[[expect]]\nmetric = \"m\"\nrelation = \"<\"\nvalue = nan",
              "f:17: expect: key \"value\" is a number with a fraction, expected a finite number"},
             {"[[expect]]\nmetric = \"m\"\nprocess = \"z\"\nrelation = \"<\"\nvalue = 1",
              "f:14: expectation of \"m\": unknown process \"z\", expected one of the header's"},
             {"[expect]\nmetric = 1",
              "f:14: key \"expect\" is a table, expected at most 4096 tables [[expect]]"},
             {"[[event]]\n do = \"pause\"\nat = \"9999999999999999999s\"\nfor = 1\nprocess = \"p\"",
              "f:16: event: key \"at\" is \"9999999999999999999s\", expected ns, or an integer with ns, us, "
              "ms or s"},
         })
        EXPECT_EQ(said(base + std::string(b.more) + "\n"), b.message) << b.more;
}

TEST(scenario, what_is_no_toml)
{
    const std::string twice = said(base + std::string("size = 1\n"));

    EXPECT_EQ(twice.substr(0, 15), "f:14: not TOML:"); // the rest is the library's
    EXPECT_TRUE(twice.ends_with(", expected a TOML document")) << twice;
}

TEST(scenario, what_is_wrong_at_the_top)
{
    for (const bad &b : std::vector<bad>{
             {"", "f:1: no key \"vramlab\", expected it"},
             {"vramlab = 2", "f:1: key \"vramlab\" is 2, expected 1 to 1"},
             {"vramlab = 1", "f:1: no key \"name\", expected it"},
             {"vramlab = 1\nname = \"a b\"",
              "f:2: key \"name\" is \"a b\", expected a name of 1 to 128 of A-Z a-z 0-9 _ . : @ + -"},
             {"vramlab = 1\nname = \"n\"", "f:1: no key \"duration\", expected it"},
             {"vramlab = 1\nname = \"n\"\nduration = 0",
              "f:3: key \"duration\" is 0, expected 1 to 1152921504606846976"},
             {"vramlab = 1\nname = \"n\"\nduration = 1", "f:1: no table [device], expected it"},
             {"vramlab = 1\nname = \"n\"\nduration = 1\n[device]", "f: no process, expected a [[process]]"},
             {"vramlab = 1\nname = \"n\"\nduration = 1\n[device]\nfile = \"d\"",
              "f:5: device: key \"file\" is \"d\", expected the device itself: there is no directory of "
              "devices here"},
             {"vramlab = 1\nname = \"n\"\nduration = 1\n[device]\nvram_size = 100",
              "f:5: device: key \"vram_size\" is 100, expected 4096 to 17592186044416"},
             {"vramlab = 1\nname = \"n\"\nbase = \"b\"",
              "f:3: key \"base\" without a directory, expected a scenario in a file"},
             {"vramlab = 1\nname = \"n\"\norder = \"file\"\nduration = 1\n[device]\n[[process]]\nname = "
              "\"p\"",
              "f:4: unknown key \"duration\", expected the keys of Documentation/scenario-format.rst"},
         })
        EXPECT_EQ(said(std::string(b.more) + "\n"), b.message) << b.more;
}

TEST(scenario, settings_reach_every_key)
{
    const auto with = [](const std::string &text) {
        return parse_scenario(
            base + std::string("[parameters]\nsize = [\"process.p.group.g.size\", \"device.vram_size\"]\n"),
            "f", {parse_setting(text)});
    };

    EXPECT_EQ(with("process.p.group.g.count=5").processes[0].groups[0].count, 5u);
    EXPECT_EQ(with("process.1.group.1.priority=3").processes[0].groups[0].priority, 3u);
    EXPECT_EQ(with("cgroup.a.low=4MiB").cgroups[0].low_bytes, 4 * MiB);
    EXPECT_EQ(with("cgroup.\"a\".low=max").cgroups[0].low_bytes, ~u64{0});
    EXPECT_EQ(with("process.p.group.g.private=false").processes[0].groups[0].flags, 0u);
    EXPECT_EQ(with("process.p.swapchain=g").processes[0].swapchain, "g");
    EXPECT_EQ(with("seed=7").seed, 7u);
    const scenario s = with("size=8MiB");

    EXPECT_EQ(s.device.vram_size_bytes, 8 * MiB);
    EXPECT_EQ(s.processes[0].groups[0].size.min_bytes, 8 * MiB);
}

TEST(scenario, settings_that_lead_nowhere)
{
    const auto message = [](const std::string &text) {
        try {
            return said(base, {parse_setting(text)});
        } catch (const parse_error &e) {
            return std::string(e.what());
        }
    };

    EXPECT_EQ(message("x"), "setting: \"x\", expected path=value");
    EXPECT_EQ(message("=x"), "setting: \"=x\", expected path=value");
    EXPECT_EQ(message("a..b=1"), "setting: a..b=1: not a path, expected keys joined by dots");
    EXPECT_EQ(message("process.q.count=1"), "setting: process.q.count=1: no \"q\" in the scenario, expected "
                                            "a path of tables, elements by name or number");
    EXPECT_EQ(message("process.2.count=1"), "setting: process.2.count=1: no \"2\" in the scenario, expected "
                                            "a path of tables, elements by name or number");
    EXPECT_EQ(message("name.x=1"),
              "setting: name.x=1: leads to no table, expected a path of tables, elements by name or number");
    EXPECT_EQ(
        message("process.p.colour=1"),
        "f: process \"p\": unknown key \"colour\", expected the keys of Documentation/scenario-format.rst");
    EXPECT_EQ(message("process.p.count=many"),
              "f: process \"p\": key \"count\" is \"many\", expected an integer from 1 to 4096");
}

TEST(scenario, sweeps)
{
    const auto axes = parse_sweep("[sweep]\nb = [1, 2]\na = [\"1MiB\", true, 3]\n", "f");
    const auto points = sweep_points(axes);

    ASSERT_EQ(axes.size(), 2u);
    EXPECT_EQ(axes[0].values, (std::vector<std::string>{"1MiB", "true", "3"}));
    ASSERT_EQ(points.size(), 6u);
    EXPECT_EQ(points[1][0].path, "a");
    EXPECT_EQ(points[1][0].value, "1MiB");
    EXPECT_EQ(points[1][1].value, "2");
    EXPECT_EQ(sweep_points({}).size(), 1u);
    try {
        parse_sweep("[sweep]\na = []\n", "f");
        FAIL();
    } catch (const parse_error &e) {
        EXPECT_STREQ(e.what(), "f:2: sweep: key \"a\" is an array, expected an array of 1 to 4096 values");
    }
}

} // namespace
} // namespace vramlab::workload
