// SPDX-License-Identifier: MIT
#include "runner/igt_export.h"

#include "runner/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

namespace vramlab::runner {

namespace {

// As in igt_vttm_replay.h, but for the calls: a source of more than these nobody reads.
constexpr std::size_t calls_max = 20000;
constexpr std::size_t vms_max = 64;
constexpr u32 ids_max = 64;
constexpr u32 processes_max = 64;

const char *request_macro(request_kind k)
{
    switch (k) {
    case request_kind::vm_open:
        return "VM_OPEN";
    case request_kind::vm_close:
        return "VM_CLOSE";
    case request_kind::bo_create:
        return "BO_CREATE";
    case request_kind::bo_share:
        return "BO_SHARE";
    case request_kind::bo_destroy:
        return "BO_DESTROY";
    case request_kind::bo_set_priority:
        return "BO_SET_PRIORITY";
    case request_kind::list_define:
        return "LIST_DEFINE";
    case request_kind::touch_define:
        return "TOUCH_DEFINE";
    case request_kind::submit:
        return "SUBMIT";
    case request_kind::wait:
        return "WAIT";
    case request_kind::pin:
        return "PIN";
    case request_kind::unpin:
        return "UNPIN";
    }
    throw std::logic_error("a request of no kind");
}

const char *call_macro(call_kind k)
{
    switch (k) {
    case call_kind::execute:
        return "EXECUTE";
    case call_kind::begin:
        return "BEGIN";
    case call_kind::step:
        return "STEP";
    case call_kind::ended:
        return "ENDED";
    case call_kind::advance:
        return "ADVANCE";
    case call_kind::evict_all:
        return "EVICT_ALL";
    case call_kind::swapout:
        return "SWAPOUT";
    case call_kind::set_limits:
        return "SET_LIMITS";
    }
    throw std::logic_error("a call of no kind");
}

const char *state_macro(backend::task_state s)
{
    switch (s) {
    case backend::task_state::idle:
        return "DRM_VTTM_TASK_IDLE";
    case backend::task_state::parked:
        return "DRM_VTTM_TASK_PARKED";
    case backend::task_state::blocked:
        return "DRM_VTTM_TASK_BLOCKED";
    }
    throw std::logic_error("a task in no state");
}

std::string c_string(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out + "\"";
}

// No end of the comment within it, and no line that is longer than others.
std::string comment(const std::string &text)
{
    std::string out = " *";
    std::size_t column = 2;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = text.find_first_of(" \n", at);
        end = end == std::string::npos ? text.size() : end;
        std::string word = text.substr(at, end - at);
        for (std::size_t p; (p = word.find("*/")) != std::string::npos;)
            word.replace(p, 2, "* /");
        if (column > 2 && column + 1 + word.size() > 100) {
            out += "\n *";
            column = 2;
        }
        out += " " + word;
        column += 1 + word.size();
        at = end + 1;
    }
    return out + "\n";
}

void check(const igt_export &e)
{
    if (e.calls.empty())
        throw std::runtime_error("the workload does nothing, expected an operation");
    if (e.calls.size() > calls_max)
        throw std::runtime_error(
            fmt::format("{} calls, expected at most {}: shrink it first", e.calls.size(), calls_max));
    std::set<u32> vms;
    for (const recorded_call &c : e.calls) {
        if (c.req.vm)
            vms.insert(c.req.vm);
        if (c.req.id > ids_max)
            throw std::runtime_error(
                fmt::format("a list or touch set numbered {}, expected at most {}", c.req.id, ids_max));
        if (c.process > processes_max)
            throw std::runtime_error(
                fmt::format("a process numbered {}, expected at most {}", c.process, processes_max));
    }
    if (vms.size() > vms_max)
        throw std::runtime_error(fmt::format("{} VMs, expected at most {}", vms.size(), vms_max));
}

void append_lists(std::string &out, const igt_export &e)
{
    for (std::size_t i = 0; i < e.calls.size(); i++) {
        const request &r = e.calls[i].req;
        if (!r.bos.empty()) {
            out += fmt::format("static const uint64_t list_{}[] = {{", i);
            for (std::size_t n = 0; n < r.bos.size(); n++)
                out += fmt::format("{}{},", n % 16 ? " " : "\n\t", r.bos[n]);
            out += "\n};\n\n";
        }
        if (!r.touches.empty()) {
            out += fmt::format("static const struct vttm_replay_touch touches_{}[] = {{\n", i);
            for (const touch &t : r.touches)
                out += fmt::format("\t{{ {}, {}, {} }},\n", t.bo, t.vram_bytes, t.link_bytes);
            out += "};\n\n";
        }
    }
}

void append_request(std::string &out, const request &r, std::size_t index)
{
    out += fmt::format(", .request = VTTM_REPLAY_{}, .vm = {}", request_macro(r.kind), r.vm);
    const auto field = [&](const char *name, u64 value) {
        if (value)
            out += fmt::format(", .{} = {}", name, value);
    };
    field("bo", r.bo);
    if (r.kind == request_kind::bo_create) {
        out += fmt::format(",\n\t  .size = {}, .preferred = {}, .allowed = {}, .flags = {}", r.size_bytes,
                           r.preferred, r.allowed, r.flags);
    }
    if (r.kind == request_kind::bo_create || r.kind == request_kind::bo_set_priority)
        out += fmt::format(", .priority = {}", r.priority);
    field("target_vm", r.target_vm);
    field("id", r.id);
    if (!r.bos.empty())
        out += fmt::format(",\n\t  .bos = list_{}, .count = {}", index, r.bos.size());
    if (!r.touches.empty())
        out += fmt::format(",\n\t  .touches = touches_{}, .count = {}", index, r.touches.size());
    field("list", r.list);
    field("touch_set", r.touch_set);
    field("compute_ns", r.compute_ns);
    field("seqno", r.seqno);
}

std::string cgroup_initializer(const cgroup_config &c)
{
    return fmt::format("{{ {}, {}, {}, {}{} }}", c_string(c.path), c.min_bytes, c.low_bytes, c.max_bytes,
                       c.max_bytes > ~u64{0} >> 1 ? "u" : "");
}

void append_calls(std::string &out, const igt_export &e)
{
    out += "static const struct vttm_replay_call calls[] = {\n";
    for (std::size_t i = 0; i < e.calls.size(); i++) {
        const recorded_call &c = e.calls[i];
        out += fmt::format("\t{{ VTTM_REPLAY_{}", call_macro(c.kind));
        if (c.process)
            out += fmt::format(", .process = {}", c.process);
        if (c.kind == call_kind::execute || c.kind == call_kind::begin)
            append_request(out, c.req, i);
        if (c.kind == call_kind::set_limits)
            out += ", .cgroup = " + cgroup_initializer(c.cgroup);
        if (c.at_ns)
            out += fmt::format(", .at_ns = {}", c.at_ns);
        if (c.kind == call_kind::begin || c.kind == call_kind::step)
            out += fmt::format(", .state = {}", state_macro(c.state));
        if (c.error)
            out += fmt::format(", .error = {}", c.error);
        out += " },\n";
    }
    out += "};\n\n";
}

// What the driver says of itself, without what the backends add.
void append_state(std::string &out, const std::string &state)
{
    out += "static const char state[] =";
    for (std::size_t at = 0; at < state.size();) {
        const std::size_t end = std::min(state.find('\n', at), state.size());
        const std::string line = state.substr(at, end - at);
        if (!line.starts_with("task ") && !line.starts_with("charge "))
            out += "\n\t" + c_string(line + "\n");
        at = end + 1;
    }
    out += ";\n\n";
}

void append_cgroups(std::string &out, const igt_export &e)
{
    if (e.w.system.cgroups.empty())
        return;
    out += "static const struct vttm_replay_cgroup cgroups[] = {\n";
    for (const cgroup_config &c : e.w.system.cgroups)
        out += fmt::format("\t{},\n", cgroup_initializer(c));
    out += "\t{}\n};\n\nstatic const char *const members[] = {\n";
    for (const process_config &p : e.w.system.processes)
        if (!p.cgroup.empty())
            out += fmt::format("\t[{}] = {},\n", p.process, c_string(p.cgroup));
    // Whoever has the highest number may be in none.
    out += fmt::format("\t[{}] = NULL,\n}};\n\n", processes_max + 1);
}

void append_replay(std::string &out, const igt_export &e)
{
    const device_config &d = e.w.system.device;
    const auto on = [](bool value) { return value ? "Y" : "N"; };
    u32 processes = 0;
    for (const recorded_call &c : e.calls)
        processes = std::max(processes, c.process);
    out += fmt::format("static const struct vttm_replay replay = {{\n"
                       "\t.config = {{\n"
                       "\t\t.vram_size = {},\n\t\t.gtt_size = {},\n\t\t.vram_bandwidth = {},\n"
                       "\t\t.link_bandwidth = {},\n\t\t.copy_latency_ns = {},\n\t\t.log2_max_mbps = {},\n"
                       "{}\t}},\n",
                       d.vram_size_bytes, d.gtt_size_bytes, d.vram_bandwidth, d.link_bandwidth,
                       d.copy_latency_ns, d.log2_max_mbps,
                       d.overlap ? "\t\t.flags = DRM_VTTM_LAB_CONFIG_OVERLAP,\n" : "");
    out += fmt::format("\t.switches = {{ \"exec_retry={}\", \"throttle={}\", \"bo_priority={}\", "
                       "\"contig_range={}\" }},\n",
                       on(e.switches.retry), on(e.switches.throttle), on(e.switches.priority),
                       on(e.switches.contig_range));
    if (!e.w.system.cgroups.empty())
        out += "\t.cgroups = cgroups,\n\t.members = members,\n";
    out += fmt::format("\t.processes = {},\n\t.calls = calls,\n"
                       "\t.count = sizeof(calls) / sizeof(calls[0]),\n\t.state = state,\n}};\n\n",
                       processes);
}

} // namespace

std::string igt_subtest_name(const workload::workload &w)
{
    std::string name;
    for (const char c : w.name)
        name += std::isalnum(static_cast<unsigned char>(c))
                    ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                    : '-';
    return name.empty() ? "workload" : name;
}

std::string igt_source(const igt_export &e)
{
    check(e);
    const std::string about = e.w.description.empty() ? e.w.name : e.w.description;
    std::string out = "// SPDX-License-Identifier: MIT\n/*\n";
    out += comment(about + ".");
    out += comment(
        fmt::format("Written by \"vramlab conform --export\": what each call returns, and the state at "
                    "the end, are those of the model under {}.",
                    e.policy));
    for (const std::string &verdict : e.verdicts)
        out += comment(verdict);
    out += " */\n#include \"igt.h\"\n#include \"igt_vttm_replay.h\"\n\n";
    out += fmt::format("IGT_TEST_DESCRIPTION({});\n\n", c_string(about));
    append_lists(out, e);
    append_calls(out, e);
    append_state(out, e.state);
    append_cgroups(out, e);
    append_replay(out, e);
    out += fmt::format("int igt_main()\n{{\n\tigt_describe(\"What {} does\");\n"
                       "\tigt_subtest({})\n\t\tvttm_replay(&replay);\n"
                       "\tigt_fixture()\n\t\tvttm_replay_restore();\n}}\n",
                       e.policy, c_string(igt_subtest_name(e.w)));
    return out;
}

} // namespace vramlab::runner
