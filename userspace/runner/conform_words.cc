// SPDX-License-Identifier: MIT
#include "runner/conform_words.h"

#include "report/format.h"
#include "runner/executor.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace vramlab::runner {

namespace {

using workload::op_kind;

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return parts;
}

// How many words of a line name it; the rest is its value.
std::size_t key_words(std::string_view first)
{
    if (first == "lru")
        return 3; // "lru unevictable" has two, see key_of()
    if (first == "bo" || first == "vm" || first == "mgr" || first == "engine" || first == "charge" ||
        first == "task")
        return 2;
    return 1;
}

std::pair<std::string, std::string_view> key_and_value(std::string_view line)
{
    const std::vector<std::string_view> words = split(line, ' ');
    std::size_t n = words.empty() ? 0 : key_words(words[0]);
    if (words.size() > 1 && words[1] == "unevictable")
        n = 2;
    n = std::min(n, words.size());
    std::size_t length = 0;
    for (std::size_t i = 0; i < n; i++)
        length += words[i].size() + (i ? 1 : 0);
    std::string_view value = line.substr(std::min(length, line.size()));
    if (value.starts_with(' '))
        value.remove_prefix(1);
    return {std::string(line.substr(0, length)), value};
}

std::map<std::string, std::string_view> by_key(std::string_view state)
{
    std::map<std::string, std::string_view> lines;
    for (const std::string_view line : split(state, '\n'))
        lines.insert(key_and_value(line));
    return lines;
}

bool is_field(std::string_view word)
{
    static constexpr std::string_view names[] = {
        "vm",   "size",  "mem", "place",   "pin",    "prio",  "pref",    "allowed",  "flags",   "cpu",
        "busy", "usage", "end", "running", "queued", "seqno", "evicted", "accum_us", "last_us", "pinned"};
    return std::find(std::begin(names), std::end(names), word) != std::end(names);
}

// "mem gtt place 0+4096 8192+4096" -> {mem: "gtt", place: "0+4096 8192+4096"}, in order.
std::vector<std::pair<std::string_view, std::string>> fields(std::string_view value)
{
    std::vector<std::pair<std::string_view, std::string>> out;
    for (const std::string_view word : split(value, ' ')) {
        if (is_field(word))
            out.emplace_back(word, "");
        else if (out.empty())
            out.emplace_back("", word);
        else
            out.back().second += (out.back().second.empty() ? "" : " ") + std::string(word);
    }
    return out;
}

std::string shown(std::string_view value)
{
    return value.empty() ? "nothing" : std::string(value);
}

// Lists: long ones are cut to the surroundings of the first difference.
std::string list_difference(std::string_view model, std::string_view kernel)
{
    const auto a = split(model, ' ');
    const auto b = split(kernel, ' ');
    std::size_t first = 0;
    while (first < a.size() && first < b.size() && a[first] == b[first])
        first++;
    const auto cut = [&](const std::vector<std::string_view> &words) {
        std::string text = first > 2 ? "..." : "";
        const std::size_t begin = first > 2 ? first - 2 : 0;
        for (std::size_t i = begin; i < std::min(words.size(), first + 10); i++)
            text += (text.empty() ? "" : " ") + std::string(words[i]);
        return shown(text) + (words.size() > first + 10 ? " ..." : "");
    };
    return fmt::format("from entry {} of {} and {}: model {}; kernel {}", first + 1, a.size(), b.size(),
                       cut(a), cut(b));
}

std::string name_of_key(const std::string &key)
{
    if (key.starts_with("bo "))
        return "BO " + key.substr(3);
    if (key.starts_with("vm "))
        return "VM " + key.substr(3);
    return key;
}

std::string line_difference(const std::string &key, std::string_view model, std::string_view kernel)
{
    if (key.starts_with("lru ") || key == "free")
        return list_difference(model, kernel);
    const auto a = fields(model);
    const auto b = fields(kernel);
    std::string text;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); i++) {
        const std::string x = i < a.size() ? a[i].second : "";
        const std::string y = i < b.size() ? b[i].second : "";
        if (x == y && a.size() == b.size())
            continue;
        const std::string_view name = i < a.size() ? a[i].first : b[i].first;
        text += fmt::format("{}{}{}model {}, kernel {}", text.empty() ? "" : "; ", name,
                            name.empty() ? "" : " ", shown(x), shown(y));
    }
    return text.empty() ? fmt::format("model \"{}\", kernel \"{}\"", model, kernel) : text;
}

std::string describe_request(const request &r)
{
    std::string text = fmt::format("process {}, VM {}: ", r.process, r.vm);
    const auto out = std::back_inserter(text);
    switch (r.kind) {
    case request_kind::bo_create:
        fmt::format_to(out, "create BO {} of {}, preferred {}, allowed {}, flags {}, priority {}", r.bo,
                       report::format_bytes(static_cast<double>(r.size_bytes)),
                       report::domain_names(r.preferred),
                       r.allowed ? report::domain_names(r.allowed) : "default", r.flags, r.priority);
        break;
    case request_kind::bo_share:
        fmt::format_to(out, "share BO {} with VM {}", r.bo, r.target_vm);
        break;
    case request_kind::bo_destroy:
        fmt::format_to(out, "destroy BO {}", r.bo);
        break;
    case request_kind::bo_set_priority:
        fmt::format_to(out, "set priority of BO {} to {}", r.bo, r.priority);
        break;
    case request_kind::list_define:
        fmt::format_to(out, "define list {}: {}", r.id, fmt::join(r.bos, " "));
        break;
    case request_kind::touch_define:
        fmt::format_to(out, "define touch set {} of {} BOs", r.id, r.touches.size());
        break;
    case request_kind::submit:
        fmt::format_to(out, "submit list {}, touch set {}, {} ns", r.list, r.touch_set, r.compute_ns);
        break;
    case request_kind::wait:
        fmt::format_to(out, "wait for submission {}", r.seqno);
        break;
    case request_kind::pin:
        fmt::format_to(out, "pin BO {}", r.bo);
        break;
    case request_kind::unpin:
        fmt::format_to(out, "unpin BO {}", r.bo);
        break;
    case request_kind::vm_open:
        text += "open";
        break;
    case request_kind::vm_close:
        text += "close";
        break;
    }
    return text;
}

} // namespace

std::string describe_operation(const workload::workload &w, u32 index)
{
    const workload::operation &op = w.operations.at(index);
    std::string text = fmt::format("operation {}", index + 1);
    if (op.line)
        text += fmt::format(" (line {} of the workload)", op.line);
    text += ": ";
    switch (op.kind) {
    case op_kind::begin:
        return text + "begin, " + describe_request(op.req);
    case op_kind::request:
        return text + describe_request(op.req);
    case op_kind::step:
    case op_kind::finish:
        return text + fmt::format("{} of process {}", op_name(op), op.process);
    case op_kind::run:
        return text + fmt::format("run with seed {}", op.seed);
    case op_kind::advance:
        return text + fmt::format("advance to {} ns", op.at_ns);
    case op_kind::set_limits:
        return text + fmt::format("limits of cgroup {}: min {}, low {}, max {}", op.cgroup.path,
                                  op.cgroup.min_bytes, op.cgroup.low_bytes,
                                  static_cast<s64>(op.cgroup.max_bytes));
    default:
        return text + fmt::format("{} (process {}, VM {}, BO {})", op_name(op), op.process, op.vm, op.bo);
    }
}

std::string describe_state_difference(std::string_view model, std::string_view kernel, u32 max_lines)
{
    const auto a = by_key(model);
    const auto b = by_key(kernel);
    std::vector<std::string> lines;
    for (const auto &[key, value] : a) {
        const auto other = b.find(key);
        if (other == b.end())
            lines.push_back(fmt::format("{}: only in the model ({})", name_of_key(key), shown(value)));
        else if (other->second != value)
            lines.push_back(
                fmt::format("{}: {}", name_of_key(key), line_difference(key, value, other->second)));
    }
    for (const auto &[key, value] : b)
        if (!a.contains(key))
            lines.push_back(fmt::format("{}: only in the kernel ({})", name_of_key(key), shown(value)));
    if (lines.empty())
        lines.push_back("the same lines in another order");
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), max_lines); i++)
        text += "  " + lines[i] + "\n";
    if (lines.size() > max_lines)
        text += fmt::format("  and {} more lines\n", lines.size() - max_lines);
    return text;
}

std::string summarize_state(std::string_view state)
{
    std::string text;
    for (const std::string_view line : split(state, '\n'))
        if (!line.starts_with("bo ") && line.size() < 2000)
            text += fmt::format("    {}\n", line);
    return text;
}

} // namespace vramlab::runner
