// SPDX-License-Identifier: MIT
// A trace of vttm under its virtual clock, with the times of that clock instead of the tracer's, which show
// how long the machine computed. vttm's events say the time (time_ns), among them those of the starts and
// ends of jobs, after which fences signal. Everything else gets the time of what was before it.
#pragma once

#include "trace/reader.h"

#include <memory>
#include <utility>

namespace vramlab::gputrace {

class device_clock final : public trace::trace_reader {
public:
    explicit device_clock(std::unique_ptr<trace::trace_reader> in) : in_(std::move(in)) {}

    bool next(trace::record &r) override;
    const trace::trace_info &info() const override { return in_->info(); }
    const trace::damage_list &damages() const override { return in_->damages(); }
    std::string_view kallsyms() const override { return in_->kallsyms(); }

    // Events that said a time; 0 at the end: there is no such clock in this trace.
    u64 told() const { return told_; }
    // Of these: times before one that was told already, which is kept instead. After a reset of the device
    // the clock starts anew; then it is nearly all.
    u64 went_back() const { return went_back_; }

private:
    enum class kind : u8 { unknown, other, timed };
    void tell(u64 time_ns);

    std::unique_ptr<trace::trace_reader> in_;
    std::vector<kind> kinds_; // by format's ID
    u64 now_ns_ = 0;
    u64 told_ = 0;
    u64 went_back_ = 0;
};

} // namespace vramlab::gputrace
