// SPDX-License-Identifier: MIT
// Events as records of a trace: each with all of its fields, under names that say what they mean, so that
// they come back from the file as they were.
#pragma once

#include "events/event.h"
#include "trace/record.h"
#include "trace/record_builder.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace vramlab::report {

// Tasks of a trace: process p of a workload has this pid; 0 is what the system does by itself.
inline constexpr s32 first_pid = 1000;

// System "vramlab", one format for each event type, IDs from first_id on.
inline constexpr u16 event_record_first_id = 1000;
const std::vector<trace::event_format> &event_record_formats();

// Fills b with the record of e.
void build_event_record(const events::event &e, trace::record_builder &b);

// The way back. Strings that events refer to are the decoder's.
class event_record_decoder {
public:
    // False: the record is none of these.
    bool decode(const trace::record &r, events::event &e);

private:
    std::unordered_set<std::string> strings_;
};

} // namespace vramlab::report
