// SPDX-License-Identifier: MIT
// Two traces of one run as one: that of the kernel, and what `vramlab run --trace` wrote in the same run,
// which knows what only programs know: frames, vblanks, and what is in VRAM. Jobs are the kernel's to tell.
// By time; at equal times vramlab's first. Tasks of vramlab's trace become the kernel's of the same name.
#pragma once

#include "trace/reader.h"

#include <map>
#include <memory>
#include <unordered_map>

namespace vramlab::gputrace {

class merged_reader final : public trace::trace_reader {
public:
    merged_reader(std::unique_ptr<trace::trace_reader> kernel, std::unique_ptr<trace::trace_reader> run);

    bool next(trace::record &r) override;
    // Formats and tasks of both; those of a kernel's text trace when all is read, so that the run's tasks
    // keep their own numbers beside it.
    const trace::trace_info &info() const override { return info_; }
    // Of the kernel's trace. Offsets of the other would be of another file: see run_damages().
    const trace::damage_list &damages() const override { return kernel_->damages(); }
    const trace::damage_list &run_damages() const { return run_->damages(); }
    std::string_view kallsyms() const override { return kernel_->kallsyms(); }

private:
    // A reader, and its record that is next.
    struct ahead {
        trace::record r;
        bool full = false;
    };
    void take_info();
    void add_task(s32 pid, const std::string &comm);
    bool next_of_run();
    const trace::event_format &own_format(const trace::event_format &f);
    void adopt(trace::record &r);

    std::unique_ptr<trace::trace_reader> kernel_;
    std::unique_ptr<trace::trace_reader> run_;
    trace::trace_info info_;
    std::map<std::string, s32, std::less<>> pid_of_; // of the kernel's tasks, by name; the lowest
    std::map<s32, s32> pids_;                        // the kernel's, of the run's
    std::unordered_map<const trace::event_format *, const trace::event_format *> formats_;
    ahead kernel_next_;
    ahead run_next_;
    ahead *spent_ = nullptr; // whose record was given away
    std::vector<u8> data_;   // of the run's record
};

} // namespace vramlab::gputrace
