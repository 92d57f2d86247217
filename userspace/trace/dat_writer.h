// SPDX-License-Identifier: MIT
// Writes trace.dat files of version 6 with plain pages: what trace-cmd, KernelShark and gpuvis read. Pages go
// to a temporary file until it is known what stands before them, so memory is bounded.
#pragma once

#include "trace/info.h"

#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace vramlab::trace {

struct dat_writer_options {
    u32 cpus = 1;                 // at least
    std::string clock = "global"; // of ftrace: what the time stamps are
    std::string kernel;           // uname
};

class dat_writer {
public:
    static constexpr u32 page_bytes = 4096;
    static constexpr u32 record_max_bytes = page_bytes - 16 - 16;
    static constexpr u32 cpus_max = 1 << 16;

    // Writes to `out`, which the caller owns, from where it is: must be its begin. Throws std::runtime_error
    // (as all others do) if no temporary file can be made.
    dat_writer(std::FILE *out, dat_writer_options options);
    ~dat_writer();
    dat_writer(const dat_writer &) = delete;
    dat_writer &operator=(const dat_writer &) = delete;

    // Its id must be that of no other one. Those of system "ftrace" become ftrace's own events.
    void add_format(const event_format &f);
    bool has_format(u16 id) const { return id < known_.size() && known_[id]; }

    // data: from common_type on, at most record_max_bytes. New CPUs are added. Times of a CPU should not go
    // back; where they do, it costs a page. lost: events that the tracer lost before this one.
    void write(u32 cpu, u64 time_ns, std::span<const u8> data, u64 lost = 0);

    // Everything that stands before the pages, then these. comms, tgids and printk of `info` are written, and
    // kallsyms if they are not empty.
    void finish(const trace_info &info, std::string_view kallsyms = {});

    u64 events() const { return events_; }

private:
    struct cpu_buffer {
        std::vector<u8> page;
        u32 used = 0;
        u64 time = 0; // of the last event
        u64 lost = 0; // before the page; never_ns: unknown number
        u64 events = 0;
        std::vector<u32> pages; // numbers in the temporary file
    };

    void start_page(cpu_buffer &c, u64 time_ns, u64 lost);
    void end_page(cpu_buffer &c);
    void spill();
    std::string front(const trace_info &info, std::string_view kallsyms) const;
    void copy_pages();
    void put(std::span<const u8> bytes);

    std::FILE *out_;
    int spool_ = -1;
    dat_writer_options options_;
    std::vector<event_format> formats_;
    std::vector<bool> known_; // by id
    std::vector<cpu_buffer> cpus_;
    std::vector<u8> block_; // pages not in the temporary file yet
    u64 spilled_bytes_ = 0;
    u32 pages_ = 0;
    u64 events_ = 0;
};

} // namespace vramlab::trace
