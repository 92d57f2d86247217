// SPDX-License-Identifier: MIT
// Internal to the page: what is drawn over time, and which BOs' lives are shown.
#pragma once

#include "report/html/report_page.h"

#include <nlohmann/json_fwd.hpp>

namespace vramlab::report {

// Tags of the BOs whose lives are shown for every policy: those asked for, then those that were evicted most,
// over all policies; at most `limit`, but never fewer than were asked for.
std::vector<u64> shown_bos(const page_scenario &s, std::size_t limit);
// How many BOs were ever evicted from VRAM, under whichever policy.
std::size_t bos_with_moves(const page_scenario &s);

nlohmann::ordered_json timeline_json(const timeline &t, const std::vector<u64> &bos);

} // namespace vramlab::report
