// SPDX-License-Identifier: MIT
// The parts that both versions of trace.dat have, wherever they stand. Each throws trace_error where the
// bytes end, and adds to damages what it can't make sense of.
#pragma once

#include "trace/dat_bytes.h"
#include "trace/dat_header.h"

namespace vramlab::trace {

void read_header_info(dat_bytes &in, dat_header &h);
void read_ftrace_formats(dat_bytes &in, dat_header &h, damage_list &damages);
void read_event_formats(dat_bytes &in, dat_header &h, damage_list &damages);
void read_kallsyms(dat_bytes &in, dat_header &h, bool keep);
void read_printk(dat_bytes &in, dat_header &h);
void read_cmdlines(dat_bytes &in, dat_header &h);
// "pid tgid" lines.
void parse_tgids(std::string_view text, trace_info &info);
// "[local] global counter": what stands in brackets.
std::string chosen_clock(std::string_view text);
// Those options that are alike in both versions; false: it is none of them.
bool apply_option(dat_option id, const std::string &data, u64 offset, dat_header &h, damage_list &damages);

// Version 6: from behind the page size to the place of the events.
void read_version_6(dat_bytes &in, const byte_source &source, const dat_options &options, dat_header &h,
                    damage_list &damages);
void read_version_7(dat_bytes &in, const byte_source &source, const dat_options &options, dat_header &h,
                    damage_list &damages);
// Adds an area, cut to what the file has. Areas that together are larger than the file are not believed.
void add_area(dat_header &h, cpu_area area, u64 file_size, u64 at, damage_list &damages);

} // namespace vramlab::trace
