// SPDX-License-Identifier: MIT
// Any bytes: the reader of traces throws trace_error or gives records, whose fields can all be shown. What it
// gave can be converted to every form, and summed up.
#include "gputrace/convert.h"
#include "gputrace/device_clock.h"
#include "gputrace/merged_reader.h"
#include "gputrace/stats.h"
#include "trace/reader.h"
#include "trace/text_writer.h"

#include <cstdint>
#include <cstdlib>

using namespace vramlab;

namespace {

// Throws away what it is given, after looking at all of it.
class looking_sink final : public gputrace::record_sink {
public:
    void write(const trace::record &r, const trace::trace_info &info) override
    {
        text_.clear();
        append_text(text_, r, info);
        for (const trace::field &f : r.format->fields) {
            bytes_ += r.show(f).size();
            bytes_ += r.number(f).value_or(0) & 1;
        }
        bytes_ += text_.size();
    }
    void finish(const trace::trace_info &, std::string_view kallsyms) override { bytes_ += kallsyms.size(); }

private:
    std::string text_;
    u64 bytes_ = 0;
};

// As a kernel's trace with the device's times, and as what a run wrote, merged.
void read_as_run(std::span<const u8> bytes, u64 events)
{
    gputrace::merged_reader in(
        std::make_unique<gputrace::device_clock>(trace::open_trace(trace::source_of(bytes))),
        trace::open_trace(trace::source_of(bytes)));
    looking_sink sink;
    const gputrace::conversion c = convert(in, nullptr, sink);
    // All of the one, and what is no job of the other.
    if (c.events < events || c.events > 2 * events)
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::span<const u8> bytes(data, size);
    try {
        const auto first = trace::open_trace(trace::source_of(bytes), {true});
        const gputrace::dialect_probe probe(*first);
        const auto second = trace::open_trace(trace::source_of(bytes), {true});
        looking_sink sink;
        const gputrace::conversion c = convert(*second, &probe, sink);
        const auto third = trace::open_trace(trace::source_of(bytes));
        const gputrace::frame_probe frames(*third);
        const auto fourth = trace::open_trace(trace::source_of(bytes));
        const gputrace::trace_stats s = collect_stats(*fourth, frames);
        // The same file gives the same events.
        if (s.events != c.events || s.jobs.done != c.jobs.done)
            std::abort();
        read_as_run(bytes, c.events);
    } catch (const trace::trace_error &) {
        return 0;
    }
    return 0;
}
