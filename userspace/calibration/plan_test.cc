// SPDX-License-Identifier: MIT
// Are plans and predictions read as written, and refused with the line of what is wrong?
#include "calibration/predict.h"
#include "workload/parse_error.h"

#include <gtest/gtest.h>

using namespace vramlab;
using namespace vramlab::calibration;

namespace {

const std::string dir = VRAMLAB_SOURCE_DIR "/calibration";

std::string minimal_plan(const std::string &extra = "")
{
    return R"(vramlab = 1
name = "p"
scenario = "s"
process = "game"
rest = "pool"
policy = "mainline-7.3.4"
policy_source = "none"
[[data]]
name = "a"
demand = "1GiB"
metric = "frame_time_avg_ms"
value = 10
source = "s"
[[data]]
name = "b"
demand = "2GiB"
metric = "frame_time_avg_ms"
value = 20.5
source = "s"
[[fit]]
name = "compute"
unit = "time"
path = "process.game.compute"
divide = 2
first = 0
last = "40ms"
[[fit]]
name = "touched"
unit = "per mille"
path = "process.game.group.pool.touch_bytes"
first = 0
last = 1000
)" + extra +
           R"([draws]
policies = ["mainline-7.3.4"]
demands = ["1GiB"]
metric = "frame_time_avg_ms"
links = ["1GiB"]
link_path = "device.link_bandwidth"
link_source = "s"
spread = 500
tie = 20
wanted = 950
)";
}

std::string prediction_with(const std::string &text)
{
    return "vramlab = 1\nname = \"p\"\n[[prediction]]\nname = \"x\"\nsays = \"\"\nsource = \"\"\ncomputed = "
           "\"\"\n"
           "tolerance = \"\"\nunit = \"ms\"\nfirst = 1\n" +
           text;
}

template <typename parse> std::string error_of(parse &&what)
{
    try {
        what();
    } catch (const workload::parse_error &e) {
        return e.what();
    }
    return "";
}

std::string plan_error(const std::string &text)
{
    return error_of([&] { parse_plan(text, "f.toml"); });
}

std::string prediction_error(const std::string &text)
{
    return error_of([&] { parse_predictions(prediction_with(text), "f.toml"); });
}

void expect_says(const std::string &error, const std::string &what)
{
    EXPECT_NE(error.find(what), std::string::npos) << error;
}

} // namespace

TEST(plan, is_read_as_written)
{
    const plan p =
        parse_plan(minimal_plan("[[prior]]\nname = \"n\"\nunit = \"size\"\nvalue = \"3MiB\"\npaths = "
                                "[\"a.b\", \"c\"]\nsource = \"assumed\"\n"),
                   "f.toml");
    EXPECT_EQ(p.data[1].value, 20.5);
    EXPECT_EQ(p.data[0].demand_bytes, GiB);
    EXPECT_EQ(p.fit[0].divide, 2u);
    EXPECT_EQ(p.fit[0].last, 40 * ns_per_ms);
    ASSERT_EQ(p.priors.size(), 1u);
    EXPECT_EQ(p.priors[0].value, 3 * MiB);
    EXPECT_EQ(p.priors[0].paths, (std::vector<std::string>{"a.b", "c"}));
    EXPECT_TRUE(p.priors[0].vary);
}

TEST(plan, settings_are_paths_and_values)
{
    std::string text = minimal_plan();
    text.insert(text.find("policy_source"), "settings = [\"duration=4s\"]\n");
    EXPECT_EQ(parse_plan(text, "f.toml").settings, std::vector<std::string>{"duration=4s"});
    text.replace(text.find("duration=4s"), 11, "duration");
    expect_says(plan_error(text), "expected path=value");
}

TEST(plan, errors_have_a_line)
{
    expect_says(plan_error("vramlab = 1\nnonsense = 2\n"), "f.toml:1: no key \"name\"");
    expect_says(plan_error(minimal_plan("[[prior]]\nname = \"n\"\nunit = \"furlongs\"\n")), "f.toml:35: ");
    expect_says(plan_error(minimal_plan(
                    "[[prior]]\nname = \"n\"\nunit = \"per mille\"\npath = \"a\"\nvalue = 1001\n")),
                "f.toml:37: prior \"n\": key \"value\"");
    expect_says(
        plan_error(minimal_plan("[[prior]]\nname = \"n\"\nunit = \"count\"\npath = \"a\"\nvalue = 1\n")),
        "no key \"source\""); // a number without a source
    expect_says(plan_error(minimal_plan(
                    "[[fit]]\nname = \"third\"\nunit = \"count\"\npath = \"a\"\nfirst = 0\nlast = 2\n")),
                "3 tables [[fit]], expected 2");
    expect_says(plan_error(minimal_plan("[[nonsense]]\n")), "f.toml:33: unknown key \"nonsense\"");
    std::string one = minimal_plan();
    one.replace(one.find("frame_time_avg_ms"), 17, "nonsense");
    expect_says(plan_error(one), "f.toml:11: data: key \"metric\" is \"nonsense\"");
}

TEST(predictions, errors_have_a_line)
{
    expect_says(prediction_error("last = 2\nmeasure = \"nonsense\"\n"), "f.toml:12: prediction \"x\"");
    expect_says(prediction_error("last = 2\nmeasure = \"metric\"\nmetric = \"nonsense\"\ndemand = 1\n"),
                "f.toml:13: prediction \"x\": key \"metric\" is \"nonsense\"");
    expect_says(prediction_error("last = 0\nmeasure = \"flip_ms\"\ndemand = 1\n"), "less than");
    expect_says(prediction_error("last = 2\nmeasure = \"flip_ms\"\n"), "a scenario of its own");
    expect_says(prediction_error("last = 2\nmeasure = \"flip_ms\"\ndemand = 1\nscenario = \"s\"\n"),
                "a scenario of its own");
    expect_says(prediction_error("last = 2\nmeasure = \"curve_step\"\nmetric = \"frames\"\ndemand = 1\n"),
                "at least two");
    expect_says(prediction_error("last = 2\nmeasure = \"flip_ms\"\ndemand = 1\nsettings = [\"x\"]\n"),
                "path=value");
    expect_says(error_of([] { parse_predictions("vramlab = 1\nname = \"p\"\n", "f.toml"); }),
                "nothing is predicted");
}

TEST(predictions, a_scalar_that_is_not_fitted_is_refused)
{
    const plan p = parse_plan(minimal_plan(), "f.toml");
    const auto all =
        parse_predictions(prediction_with("last = 2\nmeasure = \"metric\"\nmetric = \"frames\"\nscenario = "
                                          "\"s\"\nfitted = {speed = \"a\"}\n"),
                          "f.toml");
    expect_says(error_of([&] { check_predictions(p, all, "f.toml"); }), "no scalar \"speed\"");
}

TEST(shipped, plans_and_predictions_are_whole)
{
    const plan game = read_plan(dir + "/game.toml");
    const plan shipped = read_plan(dir + "/shipped.toml");
    EXPECT_EQ(shipped.name, "shipped");
    EXPECT_EQ(shipped.priors.size(), game.priors.size());
    ASSERT_EQ(shipped.choices.size(), 2u);
    EXPECT_EQ(shipped.choices[0].value, "false");
    for (const prior &p : game.priors)
        EXPECT_FALSE(p.source.empty()) << p.name;
    const auto predictions = read_predictions(dir + "/predictions.toml");
    check_predictions(game, predictions, "predictions.toml");
    EXPECT_EQ(predictions.size(), 16u);
}
