// SPDX-License-Identifier: MIT
// The front part of trace.dat files, versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)): everything
// but the events.
#pragma once

#include "trace/byte_source.h"
#include "trace/compression.h"
#include "trace/info.h"
#include "trace/ring_page.h"

namespace vramlab::trace {

// Options of both versions; from header_info on they are sections of version 7.
enum class dat_option : u16 {
    done = 0,
    date = 1,
    cpu_stat = 2,
    buffer = 3,
    trace_clock = 4,
    uname = 5,
    hook = 6,
    offset = 7,
    cpu_count = 8, // version 6 files of a patched trace-cmd of 2017: pid and tgid lists
    version = 9,
    procmaps = 10,
    trace_id = 11,
    time_shift = 12,
    guest = 13,
    tsc_to_ns = 14,
    strings = 15,
    header_info = 16,
    ftrace_events = 17,
    event_formats = 18,
    kallsyms = 19,
    printk = 20,
    cmdlines = 21,
    buffer_text = 22,
    saved_tgids = 23,
    saved_tgids_gpuvis = 32,
};

// Where a CPU's pages are.
struct cpu_area {
    u32 cpu = 0;
    u32 page_size = 4096;
    u64 offset = 0;
    u64 size = 0; // bytes in the file
    bool compressed = false;
};

struct dat_header {
    trace_info info;
    byte_order order = byte_order::little;
    u32 long_size = 8;
    u32 page_size = 4096; // of the tracer's machine
    page_layout layout;
    compression packing = compression::none;
    std::vector<cpu_area> areas; // of all buffers
    u64 area_bytes = 0;          // their sizes together
    s64 time_offset_ns = 0;      // to be added to time stamps, after...
    u32 tsc_mult = 0;            // ...(t * mult >> shift) + offset, if not zero
    u32 tsc_shift = 0;
    u64 tsc_offset = 0;
    std::string kallsyms; // only if asked for
};

struct dat_options {
    bool kallsyms = false; // keep it: megabytes, of use only to those who write the trace again
};

// Throws trace_error if there can't be any events; smaller faults go to damages.
dat_header read_dat_header(const byte_source &source, const dat_options &options, damage_list &damages);

// A trace.dat file by its first bytes.
bool is_dat(std::span<const u8> begin);

} // namespace vramlab::trace
