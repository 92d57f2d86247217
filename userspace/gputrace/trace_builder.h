// SPDX-License-Identifier: MIT
// Traces of GPU drivers for tests: written as the kernel's formats have them, read back with the real reader.
#pragma once

#include "trace/dat_writer.h"
#include "trace/reader.h"
#include "trace/record_builder.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace vramlab::gputrace::test {

using value = std::variant<u64, std::string>;
using fields = std::initializer_list<std::pair<const char *, value>>;

// A trace in memory, to be opened as often as needed.
class trace_builder {
public:
    explicit trace_builder(u32 cpus = 4) : file_(std::tmpfile()), writer_(file_, {cpus, "mono", "Linux test"})
    {
    }

    // Numbers are u64, strings __data_loc char[]. The fields of a name are always the same.
    void event(u64 time_ns, s32 pid, const char *name, fields f, u32 cpu = 0, u64 lost = 0)
    {
        const trace::event_format &format = format_of(name, f);
        trace::record_builder b;
        b.start(format, pid);
        std::size_t i = 0;
        for (const auto &[key, v] : f) {
            if (const u64 *n = std::get_if<u64>(&v))
                b.number(i++, *n);
            else
                b.text(i++, std::get<std::string>(v));
        }
        writer_.write(cpu, time_ns, b.data(), lost);
    }

    // A job on a kernel of 6.17 or later; 0: that step is not traced.
    void sched_job(s32 pid, const char *ring, u64 context, u64 seqno, u64 queue_ns, u64 run_ns, u64 done_ns,
                   const char *dev = "0000:03:00.0", u64 client = 7)
    {
        for (const bool run : {false, true})
            if (const u64 t = run ? run_ns : queue_ns)
                at_.push_back({t, [=, this] {
                                   event(t, run ? 190 : pid,
                                         run ? "drm_sched_job_run" : "drm_sched_job_queue",
                                         {{"name", std::string(ring)},
                                          {"job_count", u64{0}},
                                          {"dev", std::string(dev)},
                                          {"fence_context", context},
                                          {"fence_seqno", seqno},
                                          {"client_id", client}});
                               }});
        if (done_ns)
            at_.push_back({done_ns, [=, this] {
                               event(done_ns, 0, "drm_sched_job_done",
                                     {{"fence_context", context}, {"fence_seqno", seqno}});
                           }});
    }
    // Anything else, in order of time with the jobs.
    void later(u64 time_ns, std::function<void()> f) { at_.push_back({time_ns, std::move(f)}); }

    std::vector<u8> finish()
    {
        std::stable_sort(at_.begin(), at_.end(),
                         [](const auto &a, const auto &b) { return a.first < b.first; });
        for (const auto &[time, f] : at_)
            f();
        trace::trace_info info;
        info.comms = {{10, "game"}, {11, "worker"}, {20, "shell"}};
        info.tgids = {{10, 10}, {11, 10}, {20, 20}};
        writer_.finish(info);
        std::vector<u8> bytes(static_cast<std::size_t>(std::ftell(file_)));
        std::rewind(file_);
        bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file_));
        std::fclose(file_);
        return bytes;
    }

private:
    const trace::event_format &format_of(const char *name, fields f)
    {
        for (const auto &x : formats_)
            if (x->name == name)
                return *x;
        auto n = std::make_unique<trace::event_format>();
        n->system = "test";
        n->name = name;
        n->id = static_cast<u16>(500 + formats_.size());
        n->common = trace::common_fields();
        for (const auto &[key, v] : f)
            add_field(*n, std::holds_alternative<u64>(v) ? "u64" : "__data_loc char[]", key);
        n->print = "\"\"";
        writer_.add_format(*n);
        formats_.push_back(std::move(n));
        return *formats_.back();
    }

    std::FILE *file_;
    trace::dat_writer writer_;
    std::vector<std::unique_ptr<trace::event_format>> formats_;
    std::vector<std::pair<u64, std::function<void()>>> at_;
};

inline std::unique_ptr<trace::trace_reader> open(const std::vector<u8> &bytes)
{
    return trace::open_trace(trace::source_of(bytes));
}

} // namespace vramlab::gputrace::test
