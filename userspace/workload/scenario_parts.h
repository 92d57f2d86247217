// SPDX-License-Identifier: MIT
// The parsers of a scenario's tables. Internal to the scenario parser.
#pragma once

#include "workload/scenario.h"
#include "workload/toml_fields.h"

#include <optional>

namespace vramlab::workload {

struct parsed_device {
    device_config device;
    std::optional<cache_config> caches;
};

parsed_device parse_device(const toml::table &table, const std::string &file, const std::string &device_dir);
cgroup_config parse_cgroup_table(const toml::table &table, const std::string &file);
process_spec parse_process(const toml::table &table, const std::string &file);
group_config parse_group(const toml::table &table, const std::string &file, const std::string &process);
timed_event parse_event(const toml::table &table, const std::string &file);
scripted_step parse_step(const toml::table &table, const std::string &file);
expectation parse_expectation(const toml::table &table, const std::string &file);

// Names that parts use of each other, and what must hold between keys.
void check_scenario(scenario &s);

} // namespace vramlab::workload
