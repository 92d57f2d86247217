// SPDX-License-Identifier: MIT
// Runs as one HTML file that needs nothing else: no network, no other file. The page (page.html, page.css,
// *.js, and Chart.js from its Debian package) is built into the program; what is written into it is data, as
// JSON, with everything escaped that could end it.
#pragma once

#include "report/metrics.h"
#include "report/timeline.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramlab::report {

// One policy on one workload. Neither pointer is owned.
struct page_run {
    std::string policy;
    std::string description; // of the policy
    bool checked = false;    // a kernel can do it, so `vramlab conform` compares its decisions
    const metrics *m = nullptr;
    const timeline *t = nullptr;
    std::vector<std::string> failures; // invariants that did not hold
    // Beside what any policy could have reached: heading and text. The same headings for all runs, or none.
    std::vector<std::pair<std::string, std::string>> bounds = {};
};

// One workload: what it is, and what it became under each policy.
struct page_scenario {
    std::string file;
    std::string name;
    std::string description;
    std::string url;      // where it was reported, or empty
    std::string reported; // what the source says, or empty
    std::string chosen;   // what was chosen for it, or empty
    std::string settings; // words of the command line, or empty
    u64 seed = 1;
    system_config system;
    std::vector<page_run> runs;
    std::vector<u64> bos; // to show whatever happened to them
};

struct page_options {
    std::string command;      // that made it
    std::size_t bos_max = 40; // lives shown of a scenario: those that were evicted most
};

// Writes the whole page; the caller owns and closes f and checks it for errors.
void write_page(std::FILE *f, const std::vector<page_scenario> &scenarios, const page_options &o);

// The data of the page as JSON; <, > and & are escaped, so that it can stand in a <script>.
std::string page_json(const std::vector<page_scenario> &scenarios, const page_options &o);

// For text and attribute values.
std::string html_escape(std::string_view text);

} // namespace vramlab::report
