// SPDX-License-Identifier: MIT
#include "report/event_records.h"

#include "report/event_json.h"

#include <fmt/format.h>

#include <iterator>

namespace vramlab::report {

using events::event;
using events::event_type;

namespace {

// What the fields are called that mean something else in each event; empty: the field is not used, and has
// the name of the event's member.
struct field_names {
    event_type type;
    const char *a = "", *b = "", *c = "", *bo2 = "", *vm2 = "", *flag = "", *where = "";
};

constexpr field_names names[] = {
    {event_type::op_begin, "operation", "properties", "size", "", "target_vm", "", "name"},
    {event_type::op_end, "operation", "seqno", "", "", "", "", "name"},
    {event_type::lock_contended},
    {event_type::lock_deadlk},
    {event_type::backoff, "attempt"},
    {event_type::error_converted, "was"},
    {event_type::validate, "asked", "before", "after"},
    {event_type::alloc_failed, "domain", "bytes"},
    {event_type::evict_begin, "", "", "", "for_bo", "for_vm"},
    {event_type::evict_skipped, "", "", "", "for_bo", "for_vm", "", "reason"},
    {event_type::move, "from", "to", "bytes", "", "", "evict"},
    {event_type::ghost, "domain", "", "bytes"},
    {event_type::reaped, "domain", "", "bytes"},
    {event_type::charge_failed, "", "", "bytes"},
    {event_type::fence_wait, "waited_ns"},
    {event_type::job_start, "engine", "seqno", "link_bytes", "", "", "kind"},
    {event_type::job_end, "engine", "seqno", "link_bytes", "", "", "kind"},
    {event_type::pin},
    {event_type::unpin},
    {event_type::evicted_list},
    {event_type::budget, "threshold"},
    {event_type::flip, "shown_by"},
    {event_type::frame, "number", "frame_ns", "submit_ns"},
    {event_type::throttled, "", "", "", "", "throttled_vm"},
    {event_type::alloc_backoff, "domain", "locks"},
    {event_type::recovered, "before", "after"},
    {event_type::range_chosen, "start", "cost", "low_cost", "", "", "search"},
};

// In the order of `names`: an event's type is its ID.
constexpr bool in_order()
{
    for (std::size_t i = 0; i < std::size(names); i++)
        if (static_cast<std::size_t>(names[i].type) != i)
            return false;
    return true;
}
static_assert(in_order());

const char *name_or(const char *name, const char *otherwise)
{
    return *name ? name : otherwise;
}

enum field_index : std::size_t {
    f_bo,
    f_bo2,
    f_a,
    f_b,
    f_c,
    f_vm,
    f_vm2,
    f_process,
    f_error,
    f_flag,
    f_where
};

trace::event_format make_format(const field_names &n)
{
    trace::event_format f{"vramlab",
                          fmt::format("vramlab_{}", event_type_name(n.type)),
                          static_cast<u16>(event_record_first_id + static_cast<u16>(n.type)),
                          trace::common_fields(),
                          {},
                          ""};
    add_field(f, "u64", "bo");
    add_field(f, "u64", name_or(n.bo2, "bo2"));
    add_field(f, "u64", name_or(n.a, "a"));
    add_field(f, "u64", name_or(n.b, "b"));
    add_field(f, "u64", name_or(n.c, "c"));
    add_field(f, "u32", "vm");
    add_field(f, "u32", name_or(n.vm2, "vm2"));
    add_field(f, "u32", "process");
    add_field(f, "s32", "error");
    add_field(f, "u8", name_or(n.flag, "flag"));
    add_field(f, "__data_loc char[]", name_or(n.where, "where"));
    std::string arguments;
    f.print.assign(1, '"'); // GCC 12 warns of an overlap in assigning the literal
    for (const trace::field &x : f.fields) {
        const bool text = x.kind == trace::field_kind::where;
        f.print += fmt::format("{}{}=%{}", &x == &f.fields.front() ? "" : " ", x.name,
                               text          ? "s"
                               : x.size == 8 ? "llu"
                               : x.is_signed ? "d"
                                             : "u");
        arguments += text ? fmt::format(", __get_str({})", x.name) : fmt::format(", REC->{}", x.name);
    }
    f.print += "\"" + arguments;
    return f;
}

} // namespace

const std::vector<trace::event_format> &event_record_formats()
{
    static const std::vector<trace::event_format> formats = [] {
        std::vector<trace::event_format> all;
        for (const field_names &n : names)
            all.push_back(make_format(n));
        return all;
    }();
    return formats;
}

void build_event_record(const event &e, trace::record_builder &b)
{
    b.start(event_record_formats()[static_cast<std::size_t>(e.type)],
            first_pid + static_cast<s32>(e.process));
    b.number(f_bo, e.bo);
    b.number(f_bo2, e.bo2);
    b.number(f_a, e.a);
    b.number(f_b, e.b);
    b.number(f_c, e.c);
    b.number(f_vm, e.vm);
    b.number(f_vm2, e.vm2);
    b.number(f_process, e.process);
    b.number(f_error, static_cast<u32>(e.error));
    b.number(f_flag, e.flag);
    if (e.where)
        b.text(f_where, e.where);
}

bool event_record_decoder::decode(const trace::record &r, event &e)
{
    if (r.format->system != "vramlab" || r.format->id < event_record_first_id ||
        r.format->id >= event_record_first_id + std::size(names))
        return false;
    const trace::event_format &expected = event_record_formats()[r.format->id - event_record_first_id];
    if (*r.format != expected)
        return false; // of another release
    const auto number = [&](field_index i) { return r.number(expected.fields[i]).value_or(0); };
    e = {};
    e.time_ns = r.time_ns;
    e.type = event_type(r.format->id - event_record_first_id);
    e.bo = number(f_bo);
    e.bo2 = number(f_bo2);
    e.a = number(f_a);
    e.b = number(f_b);
    e.c = number(f_c);
    e.vm = static_cast<u32>(number(f_vm));
    e.vm2 = static_cast<u32>(number(f_vm2));
    e.process = static_cast<u32>(number(f_process));
    e.error = static_cast<s32>(number(f_error));
    e.flag = static_cast<u8>(number(f_flag));
    const std::string_view where = r.text(expected.fields[f_where]);
    if (!where.empty())
        e.where = strings_.emplace(where).first->c_str();
    return true;
}

} // namespace vramlab::report
