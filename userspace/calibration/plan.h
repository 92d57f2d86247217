// SPDX-License-Identifier: MIT
// What is calibrated: two data, two scalars that are fitted to them, and a prior for everything else; and
// what is to be predicted with them. Read from TOML (Documentation/calibration.rst); errors are
// workload::parse_error. Sizes in bytes, times in ns, rates in bytes a second.
#pragma once

#include "base/types.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vramlab::calibration {

// What a number counts, and so how a scenario writes it.
enum class quantity : u8 { size, time, count, per_mille, rate };
std::string quantity_text(quantity q, u64 value); // as a scenario's key takes it
u64 quantity_max(quantity q);                     // that a scenario takes

// A number of the scenario that is not fitted.
struct prior {
    std::string name;
    std::vector<std::string> paths; // all get it
    quantity unit{};
    u64 value = 0;
    u64 first = 1;    // the least that draws may make of it
    bool vary = true; // by the draws
    std::string source;
};

// A decision about the scenario that is not a number.
struct choice {
    std::string path;
    std::string value;
    std::string source;
};

struct datum {
    std::string name;
    u64 demand_bytes = 0;
    std::string metric;
    double value = 0; // in the metric's unit
    std::string source;
};

// A scalar that is fitted.
struct scalar {
    std::string name;
    std::string description;
    quantity unit{};
    std::vector<std::string> paths; // each gets the value divided by `divide`, rounded down
    u64 divide = 1;
    u64 first = 0;
    u64 last = 0;
};

// Draws of all priors, and which ranking of policies is to survive them.
struct draw_plan {
    std::vector<std::string> policies;
    std::vector<u64> demands_bytes;
    std::string metric;
    std::string link_path;
    std::vector<u64> links; // one after the other, in turn
    std::string link_source;
    std::vector<std::string> settings; // for shorter runs than the fit's
    u32 spread_per_mille = 0;
    u32 tie_per_mille = 0;
    u32 wanted_per_mille = 0; // of the draws
};

inline constexpr std::size_t scalar_count = 2;

struct plan {
    std::string file;
    std::string name;
    std::string scenario; // without directory and ".toml"
    std::string process;  // whose metrics, and whose demand
    std::string rest;     // group whose total makes the demand
    std::string policy;
    std::string policy_source;
    std::array<datum, scalar_count> data;
    std::array<scalar, scalar_count> fit; // the first raises the first datum
    std::vector<std::string> settings;    // of the scenario, before all others
    std::vector<choice> choices;
    std::vector<prior> priors;
    draw_plan draws;
};

enum class measure_kind : u8 {
    metric,      // its value
    frames_over, // share of the process's frames above a limit, per cent
    curve_step,  // the largest step of the metric between neighbours of `demands`, either way
    gain,        // how much more the metric is with the settings `against`, per cent
    flip_bytes,  // the most that a single flip evicts from VRAM
    flip_ms,     // those bytes over the link
};

struct prediction {
    std::string name;
    std::string says; // what the source reports
    std::string source;
    std::string computed;
    std::string tolerance;
    measure_kind measure{};
    std::string metric;
    u64 limit_ns = 0;
    std::vector<u64> demands_bytes; // of the plan's scenario; none: another scenario's
    std::string scenario;           // empty: the plan's
    std::string policy;             // empty: the plan's
    std::string process;            // empty: the plan's
    std::vector<std::string> settings;
    std::vector<std::string> against;                        // settings, on top of these
    std::vector<std::pair<std::string, std::string>> fitted; // name of a scalar, and where it goes
    std::string unit;
    double first = 0; // right from first to last
    double last = 0;
};

// A plan may have a base in its directory: what it says itself goes before that, key by key.
plan read_plan(const std::string &path);
plan parse_plan(std::string_view text, const std::string &file, const std::string &dir = {});
std::vector<prediction> read_predictions(const std::string &path);
std::vector<prediction> parse_predictions(std::string_view text, const std::string &file);

} // namespace vramlab::calibration
