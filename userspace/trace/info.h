// SPDX-License-Identifier: MIT
// What a trace says about itself, beside its events.
#pragma once

#include "trace/record.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace vramlab::trace {

struct trace_info {
    u32 version = 0;                  // of the file: 6 or 7; 0: text
    std::string kernel;               // uname, if known
    std::string clock;                // "local", "mono", ...; empty: not said
    std::map<s32, std::string> comms; // names of tasks, by pid
    std::map<s32, s32> tgids;         // processes that tasks are of, by pid
    std::vector<std::string> cpu_stats;
    std::string printk;                                 // printk_formats
    std::vector<std::unique_ptr<event_format>> formats; // text: grows while it is read
    u32 cpus = 0;
    u64 unknown_options = 0;

    // "<...>" if unknown, as ftrace says it.
    std::string_view comm(s32 pid) const
    {
        const auto it = comms.find(pid);
        return it != comms.end() ? std::string_view(it->second) : pid ? "<...>" : "<idle>";
    }
    // The process that a task is of; itself if unknown.
    s32 tgid(s32 pid) const
    {
        const auto it = tgids.find(pid);
        return it != tgids.end() ? it->second : pid;
    }
    const event_format *find(std::string_view system, std::string_view name) const
    {
        for (const auto &f : formats)
            if (f->name == name && (system.empty() || f->system == system))
                return f.get();
        return nullptr;
    }
};

} // namespace vramlab::trace
