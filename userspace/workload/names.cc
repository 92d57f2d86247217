// SPDX-License-Identifier: MIT
#include "workload/names.h"

#include "workload/limits.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace vramlab::workload {

namespace {

struct mask_name {
    const char *word;
    u32 bit;
};

constexpr mask_name domain_names[] = {{"vram", domain_vram}, {"gtt", domain_gtt}, {"system", domain_system}};
constexpr mask_name flag_names[] = {
    {"private", bo_vm_private}, {"contiguous", bo_contiguous}, {"explicit_sync", bo_explicit_sync}};

constexpr op_name op_names[] = {
    {"vm_open", op_kind::request, request_kind::vm_open},
    {"vm_close", op_kind::request, request_kind::vm_close},
    {"bo_create", op_kind::request, request_kind::bo_create},
    {"bo_share", op_kind::request, request_kind::bo_share},
    {"bo_destroy", op_kind::request, request_kind::bo_destroy},
    {"bo_set_priority", op_kind::request, request_kind::bo_set_priority},
    {"list_define", op_kind::request, request_kind::list_define},
    {"touch_define", op_kind::request, request_kind::touch_define},
    {"submit", op_kind::request, request_kind::submit},
    {"wait", op_kind::request, request_kind::wait},
    {"pin", op_kind::request, request_kind::pin},
    {"unpin", op_kind::request, request_kind::unpin},
    {"step", op_kind::step, {}},
    {"finish", op_kind::finish, {}},
    {"run", op_kind::run, {}},
    {"advance", op_kind::advance, {}},
    {"sleep", op_kind::sleep, {}},
    {"cpu", op_kind::cpu, {}},
    {"vblank", op_kind::vblank, {}},
    {"wait_back", op_kind::wait_back, {}},
    {"flip", op_kind::flip, {}},
    {"frame", op_kind::frame, {}},
    {"evict_all", op_kind::evict_all, {}},
    {"swapout", op_kind::swapout, {}},
    {"set_limits", op_kind::set_limits, {}},
    {"end", op_kind::end, {}},
};

template <std::size_t n> std::string mask_text(const mask_name (&names)[n], u32 mask)
{
    std::string text;

    for (const mask_name &m : names) {
        if (mask & m.bit) {
            text += text.empty() ? "" : "|";
            text += m.word;
        }
    }
    return text;
}

template <std::size_t n> std::optional<u32> mask_bit(const mask_name (&names)[n], std::string_view word)
{
    for (const mask_name &m : names)
        if (word == m.word)
            return m.bit;
    return std::nullopt;
}

} // namespace

std::string domains_text(u32 mask)
{
    return mask_text(domain_names, mask);
}
std::string flags_text(u32 mask)
{
    return mask_text(flag_names, mask);
}
std::optional<u32> domain_bit(std::string_view word)
{
    return mask_bit(domain_names, word);
}
std::optional<u32> flag_bit(std::string_view word)
{
    return mask_bit(flag_names, word);
}

std::optional<u32> parse_mask(std::string_view text, std::optional<u32> (*bit)(std::string_view))
{
    u32 mask = 0;

    for (;;) {
        const std::size_t end = text.find('|');
        const std::optional<u32> b = bit(text.substr(0, end));

        if (!b || mask & *b)
            return std::nullopt;
        mask |= *b;
        if (end == std::string_view::npos)
            return mask;
        text.remove_prefix(end + 1);
    }
}

bool is_request(op_kind kind)
{
    return kind == op_kind::request || kind == op_kind::begin;
}

const char *op_word(const operation &op)
{
    for (const op_name &n : op_names)
        if (is_request(op.kind) ? n.kind == op_kind::request && n.req == op.req.kind : n.kind == op.kind)
            return n.word;
    return "?";
}

const op_name *find_op(std::string_view word)
{
    const auto *found = std::find_if(std::begin(op_names), std::end(op_names),
                                     [&](const op_name &n) { return word == n.word; });

    return found == std::end(op_names) ? nullptr : found;
}

const char *order_word(order_kind order)
{
    return order == order_kind::file ? "file" : "time";
}

bool is_relation(std::string_view text)
{
    static constexpr std::array<std::string_view, 6> relations = {"==", "!=", "<", "<=", ">", ">="};

    return std::find(relations.begin(), relations.end(), text) != relations.end();
}

bool is_name(std::string_view text)
{
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_.:@+-").find(c) != std::string_view::npos;
    };

    return !text.empty() && text.size() <= name_max_bytes && text != "." && text != ".." &&
           std::all_of(text.begin(), text.end(), good);
}

} // namespace vramlab::workload
