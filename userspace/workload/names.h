// SPDX-License-Identifier: MIT
// The words that files use for masks and enumerations, shared by the two formats.
#pragma once

#include "workload/workload.h"

#include <optional>
#include <string>
#include <string_view>

namespace vramlab::workload {

// "vram|gtt" for a mask of domain_*, "private|contiguous" for bo_* flags; bits in a fixed order, "" for none.
std::string domains_text(u32 mask);
std::string flags_text(u32 mask);

// One word: its bit, or nothing.
std::optional<u32> domain_bit(std::string_view word);
std::optional<u32> flag_bit(std::string_view word);

// For errors.
inline constexpr const char *domain_words = "\"vram\", \"gtt\" and \"system\"";
inline constexpr const char *flag_words = "\"private\", \"contiguous\" and \"explicit_sync\"";

// The mask in "word|word"; nothing if a word is unknown or given twice, or there is none.
std::optional<u32> parse_mask(std::string_view text, std::optional<u32> (*bit)(std::string_view));

// The word of an operation ("submit", "vblank"): op.kind, or op.req.kind for a request.
struct op_name {
    const char *word;
    op_kind kind;
    request_kind req;
};
const char *op_word(const operation &op);      // of a begin: of its request
const op_name *find_op(std::string_view word); // not "begin"
bool is_request(op_kind kind);                 // request or begin

const char *order_word(order_kind order);

// "==", "!=", "<", "<=", ">", ">=".
bool is_relation(std::string_view text);
inline constexpr const char *relation_words = "\"==\", \"!=\", \"<\", \"<=\", \">\" or \">=\"";

// 1 to name_max_bytes of A-Z a-z 0-9 _ . : @ + -, and neither "." nor "..": processes, groups, components of
// a cgroup's path.
bool is_name(std::string_view text);
inline constexpr const char *name_words = "1 to 128 of A-Z a-z 0-9 _ . : @ + -";

} // namespace vramlab::workload
