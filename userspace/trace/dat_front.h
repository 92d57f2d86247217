// SPDX-License-Identifier: MIT
// What stands before the pages of a trace.dat file of version 6.
#pragma once

#include "trace/info.h"

#include <span>
#include <string>

namespace vramlab::trace {

struct dat_cpu {
    u64 events = 0;
    u64 size = 0; // of its pages, bytes
};

struct dat_front_parts {
    std::span<const event_format> formats;
    const trace_info &info; // comms, tgids, printk
    std::string_view kallsyms;
    std::string_view clock;
    std::string_view kernel;
    std::span<const dat_cpu> cpus;
    u32 page_size;
};

// As long as a multiple of the page size, so that pages follow at once.
std::string dat_front(const dat_front_parts &parts);

} // namespace vramlab::trace
