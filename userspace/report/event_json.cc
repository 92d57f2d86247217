// SPDX-License-Identifier: MIT
#include "report/event_json.h"

#include <fmt/format.h>

#include <iterator>

namespace vramlab::report {

using events::event;
using events::event_type;

const char *event_type_name(event_type t)
{
    switch (t) {
    case event_type::op_begin:
        return "op_begin";
    case event_type::op_end:
        return "op_end";
    case event_type::lock_contended:
        return "lock_contended";
    case event_type::lock_deadlk:
        return "lock_deadlk";
    case event_type::backoff:
        return "backoff";
    case event_type::error_converted:
        return "error_converted";
    case event_type::validate:
        return "validate";
    case event_type::alloc_failed:
        return "alloc_failed";
    case event_type::evict_begin:
        return "evict_begin";
    case event_type::evict_skipped:
        return "evict_skipped";
    case event_type::move:
        return "move";
    case event_type::ghost:
        return "ghost";
    case event_type::reaped:
        return "reaped";
    case event_type::charge_failed:
        return "charge_failed";
    case event_type::fence_wait:
        return "fence_wait";
    case event_type::job_start:
        return "job_start";
    case event_type::job_end:
        return "job_end";
    case event_type::pin:
        return "pin";
    case event_type::unpin:
        return "unpin";
    case event_type::evicted_list:
        return "evicted_list";
    case event_type::budget:
        return "budget";
    case event_type::flip:
        return "flip";
    case event_type::frame:
        return "frame";
    case event_type::throttled:
        return "throttled";
    case event_type::alloc_backoff:
        return "alloc_backoff";
    case event_type::recovered:
        return "recovered";
    case event_type::range_chosen:
        return "range_chosen";
    }
    return "unknown";
}

void append_event_json(std::string &out, const event &e)
{
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{{\"t\":{},\"type\":\"{}\"", e.time_ns, event_type_name(e.type));
    auto put = [&](const char *name, u64 v) {
        if (v)
            fmt::format_to(to, ",\"{}\":{}", name, v);
    };
    put("process", e.process);
    put("vm", e.vm);
    put("bo", e.bo);
    put("vm2", e.vm2);
    put("bo2", e.bo2);
    put("a", e.a);
    put("b", e.b);
    put("c", e.c);
    put("flag", e.flag);
    if (e.error)
        fmt::format_to(to, ",\"error\":{}", e.error);
    if (e.where) // static strings of ours: nothing in them to escape
        fmt::format_to(to, ",\"where\":\"{}\"", e.where);
    out += "}\n";
}

void event_writer::record(const event &e)
{
    append_event_json(buffer_, e);
    if (buffer_.size() >= 1 << 16)
        flush();
}

bool event_writer::flush()
{
    if (ok_ && std::fwrite(buffer_.data(), 1, buffer_.size(), f_) != buffer_.size())
        ok_ = false;
    buffer_.clear();
    if (ok_ && std::fflush(f_))
        ok_ = false;
    return ok_;
}

} // namespace vramlab::report
