// SPDX-License-Identifier: MIT
// Is the page whole, does it name no other place, and does nothing that a scenario says end up as HTML? What
// it looks like in a browser, scripts/check-report asks.
#include "report/html/report_page.h"

#include "report/html/page_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace vramlab::report {
namespace {

using events::event;
using events::event_type;

// A scenario under two policies: BO 1 is evicted once under the first, BO 2 three times under the second.
struct pages {
    metrics a{{{1, "game", ""}}}, b{{{1, "game", ""}}};
    timeline s{{{1, "game", ""}}}, t{{{1, "game", ""}}};
    std::vector<page_scenario> scenarios{1};

    pages()
    {
        evict(s, 1, 1);
        evict(t, 2, 3);
        for (metrics *m : {&a, &b})
            m->finish(1000);
        for (timeline *l : {&s, &t})
            l->finish(1000);
        scenarios[0].system.processes = {{1, "game", ""}};
        scenarios[0].name = "name";
        scenarios[0].runs = {{"first", "does one thing", true, &a, &s, {}},
                             {"second", "", false, &b, &t, {"deadlock: yes"}}};
    }
    static void evict(timeline &l, u64 bo, int times)
    {
        l.record({.bo = bo,
                  .b = domain_vram,
                  .c = MiB,
                  .where = "bo_create",
                  .vm = 1,
                  .process = 1,
                  .type = event_type::op_begin});
        l.record({.bo = bo, .where = "bo_create", .vm = 1, .process = 1, .type = event_type::op_end});
        for (int i = 0; i < times; i++)
            l.record({.time_ns = 10,
                      .bo = bo,
                      .a = domain_vram,
                      .b = domain_gtt,
                      .c = MiB,
                      .process = 1,
                      .type = event_type::move,
                      .flag = 1});
    }
    nlohmann::json data(const page_options &o = {}) const
    {
        return nlohmann::json::parse(page_json(scenarios, o));
    }
};

TEST(page, what_it_is_built_of_names_no_other_place)
{
    const std::string page =
        std::string(page_to_title()) + std::string(page_to_data()) + std::string(page_to_end());
    EXPECT_EQ(page.find("src="), std::string::npos);
    EXPECT_EQ(page.find("@import"), std::string::npos);
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
    EXPECT_NE(page.find("Chart.js v"), std::string::npos);
    EXPECT_TRUE(page_to_title().starts_with("<!DOCTYPE html>"));
    EXPECT_TRUE(page_to_title().ends_with("<title>"));
    EXPECT_TRUE(page_to_data().ends_with("id=\"data\">"));
    EXPECT_TRUE(page_to_end().ends_with("</html>\n"));
}

TEST(page, nothing_that_a_scenario_says_becomes_html)
{
    pages p;
    p.scenarios[0].name = p.scenarios[0].description = "</script><script>alert('\xff \"&amp;')</script><!--";
    p.scenarios[0].runs[0].failures = {"<b>"};
    const std::string json = page_json(p.scenarios, {.command = "<>&"});
    EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
    for (const char c : json)
        ASSERT_TRUE(c >= ' ' && c <= '~');
    const auto data = nlohmann::json::parse(json);
    EXPECT_EQ(data["command"], "<>&");
    EXPECT_EQ(data["scenarios"][0]["runs"][0]["failures"][0], "<b>");

    char *text = nullptr;
    std::size_t size = 0;
    std::FILE *f = open_memstream(&text, &size);
    write_page(f, p.scenarios, {});
    std::fclose(f);
    const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
    const std::string page(text, size);
    EXPECT_NE(page.find("<title>&lt;/script&gt;&lt;script&gt;alert(&#39;"), std::string::npos);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

TEST(page, shows_the_bos_that_were_evicted_most_and_those_asked_for)
{
    pages p;
    p.scenarios[0].bos = {99};
    EXPECT_EQ(p.data()["scenarios"][0]["bos"], nlohmann::json({99, 2, 1}));
    EXPECT_EQ(p.data()["scenarios"][0]["bos_with_moves"], 2);
    EXPECT_EQ(p.data({.command = "", .bos_max = 2})["scenarios"][0]["bos"], nlohmann::json({99, 2}));
    EXPECT_EQ(p.data({.command = "", .bos_max = 0})["scenarios"][0]["bos"], nlohmann::json({99}));
    const auto run = p.data()["scenarios"][0]["runs"][1];
    EXPECT_FALSE(run["timeline"]["bos"].contains("1"));
    EXPECT_EQ(run["timeline"]["bos"]["2"]["evictions"], 3);
    EXPECT_EQ(run["checked"], false);
}

TEST(page, has_what_could_have_been_reached)
{
    pages p;
    p.scenarios[0].runs[0].bounds = {{"link x lower", "1.50"}};
    const nlohmann::json runs = p.data()["scenarios"][0]["runs"];
    EXPECT_EQ(runs[0]["bounds"], nlohmann::json::parse(R"([["link x lower", "1.50"]])"));
    EXPECT_TRUE(runs[1]["bounds"].empty());
}

TEST(page, has_every_metric_of_every_process)
{
    const pages p;
    const auto data = p.data();
    EXPECT_EQ(data["metrics"].size(), metric_table().size());
    const auto metrics = data["scenarios"][0]["runs"][0]["metrics"];
    for (const char *process : {"0", "1"}) {
        EXPECT_EQ(metrics[process]["values"].size(), metric_table().size());
        EXPECT_EQ(metrics[process]["texts"].size(), metric_table().size());
    }
}

} // namespace
} // namespace vramlab::report
