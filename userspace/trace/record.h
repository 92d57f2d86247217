// SPDX-License-Identifier: MIT
// What a trace consists of: records, and the formats that say what their bytes mean, as ftrace does
// (Documentation/trace/events.rst of Linux). The same for binary and text traces, and for what we write.
#pragma once

#include "base/types.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::trace {

enum class byte_order : u8 { little, big };

// Of any size and alignment; p must have 2, 4 or 8 bytes.
u16 load16(const u8 *p, byte_order order);
u32 load32(const u8 *p, byte_order order);
u64 load64(const u8 *p, byte_order order);

enum class field_kind : u8 {
    number,    // 1, 2, 4 or 8 bytes
    text,      // char[n] or char[]: up to its end or the first NUL
    where,     // __data_loc: 32 bits, offset | length << 16, of text or an array elsewhere in the record
    rel_where, // __rel_loc: likewise, offset counted from behind the field
    other,     // anything else: its bytes
};

struct field {
    std::string type; // as C writes it, without the name: "u64", "__data_loc char[]"
    std::string name;
    u32 offset = 0; // in the record, bytes
    u32 size = 0;   // bytes; 0: to the end of the record
    bool is_signed = false;
    field_kind kind = field_kind::number;

    friend bool operator==(const field &, const field &) = default;
};

struct event_format {
    std::string system;        // "amdgpu"
    std::string name;          // "amdgpu_cs_ioctl"
    u16 id = 0;                // common_type of its records, unique in a trace
    std::vector<field> common; // fields that every event has
    std::vector<field> fields; // its own
    std::string print;         // what follows "print fmt: "

    // nullptr: it has no such field. Own fields first.
    const field *find(std::string_view field_name) const;
    friend bool operator==(const event_format &, const event_format &) = default;
};

// The four fields that records of today's kernels start with: type, flags, preempt count, pid; 8 bytes.
std::vector<field> common_fields();

// Appends a field behind the last one, aligned to its size as a C struct would be. type decides about kind
// and sign: "u8" to "u64", "s8" to "s64" and "int", "__data_loc char[]", "char[]" (must be the last one).
void add_field(event_format &f, std::string_view type, std::string_view name);

// One event. Valid until the reader is asked for the next one.
struct record {
    u64 time_ns = 0;
    u64 offset = 0; // in the file, of its first byte or line (compressed files: of what it was packed into)
    const event_format *format = nullptr;
    std::span<const u8> data; // from common_type on
    u64 lost = 0; // events that the tracer lost on this CPU before it; never_ns: some, nobody knows how many
    u32 cpu = 0;
    s32 pid = 0;
    byte_order order = byte_order::little;

    // nullopt: no such field, or the record is too short for it. Text that is a number counts as one, decimal
    // or with 0x, pointers too.
    std::optional<u64> number(std::string_view field_name) const;
    std::optional<u64> number(const field &f) const;
    // Of text fields; empty if there is none, or if it lies outside of the record.
    std::string_view text(std::string_view field_name) const;
    std::string_view text(const field &f) const;
    // As `trace-cmd report` shows fields of that type when it has no print format: numbers, text, hex bytes.
    std::string show(const field &f) const;
};

// A number as text has it: sign, 0x, digits, nothing else.
std::optional<u64> parse_number(std::string_view s);

} // namespace vramlab::trace
