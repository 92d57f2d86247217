// SPDX-License-Identifier: MIT
// Overrides of scenario keys, parameters and sweeps. Internal to the scenario parser.
#pragma once

#include "workload/scenario.h"

#include <toml++/toml.h>

namespace vramlab::workload {

// The document, or a parse_error.
toml::table parse_toml(std::string_view text, const std::string &file);

// A scenario with `base` on top of that one: its top-level keys replace the base's, then its [set] applies.
// Bases are looked for in dir, and have none themselves.
void apply_base(toml::table &root, const std::string &file, const std::string &dir);

// Puts the settings into the document, parameters ([parameters] name = "path" or ["path", ...]) resolved.
void apply_settings(toml::table &root, const std::string &file, const std::vector<setting> &settings);

// A whole small file. Throws parse_error.
std::string read_text(const std::string &path);
std::string directory_of(const std::string &path);

} // namespace vramlab::workload
