// SPDX-License-Identifier: MIT
#include "base/request.h"
#include "gputrace/gpu_fields.h"

#include <charconv>
#include <iterator>

namespace vramlab::gputrace {

using trace::record;

std::optional<u64> pointer(const record &r, std::string_view name)
{
    const std::string_view s = r.text(name);
    if (s.empty())
        return r.number(name);
    if (s.starts_with("0x"))
        return trace::parse_number(s);
    u64 v = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v, 16);
    return error == std::errc() && end == s.data() + s.size() ? std::optional(v) : std::nullopt;
}

std::optional<u64> first_number(const record &r, std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names)
        if (const std::optional<u64> v = r.number(name))
            return v;
    return std::nullopt;
}

namespace {

// Of TTM: a number, or what __print_symbolic made of it.
u32 placement(const record &r, std::string_view name)
{
    if (const std::optional<u64> n = r.number(name))
        return *n == 0 ? domain_system : *n == 1 ? domain_gtt : *n == 2 ? domain_vram : 0;
    const std::string_view s = r.text(name);
    return s == "system" ? domain_system : s == "tt" ? domain_gtt : s == "vram" ? domain_vram : 0;
}

bool amdgpu_bo_create(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::bo_create;
    const auto bo = pointer(r, "bo"), pages = r.number("pages");
    e.bo = bo.value_or(0);
    e.bytes = pages.value_or(0) * 4096;
    // AMDGPU_GEM_DOMAIN_CPU, _GTT and _VRAM have the values of ours.
    e.preferred = static_cast<u32>(first_number(r, {"prefer", "preferred"}).value_or(0)) & domain_mask;
    e.allowed = static_cast<u32>(first_number(r, {"allow", "allowed"}).value_or(0)) & domain_mask;
    return bo && pages && *pages && *pages < u64{1} << 32;
}

bool amdgpu_bo_move(const record &r, gpu_event &e)
{
    const bool fields = r.format->find("new_placement") != nullptr; // else what was printed
    e.kind = gpu_kind::bo_move;
    const auto bo = pointer(r, "bo"), size = first_number(r, {"bo_size", "size"});
    e.bo = bo.value_or(0);
    e.bytes = size.value_or(0);
    e.from = placement(r, fields ? "old_placement" : "from");
    e.to = placement(r, fields ? "new_placement" : "to");
    e.evict = e.from == domain_vram && e.to != domain_vram;
    return bo && size;
}

bool bo_list_set(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::bo_list;
    const auto list = pointer(r, "list"), bo = pointer(r, "bo"), size = r.number("bo_size");
    e.list = list.value_or(0);
    e.bo = bo.value_or(0);
    e.bytes = size.value_or(0);
    return list && bo && size;
}

bool cs_bo_status(const record &r, gpu_event &e)
{
    // The print format calls the number of BOs "total_bo_size", and their size "total_bo_count".
    e.kind = gpu_kind::bo_total;
    const auto number = first_number(r, {"total_bo", "total_bo_size"});
    const auto size = first_number(r, {"total_size", "total_bo_count"});
    e.number = number.value_or(0);
    e.bytes = size.value_or(0);
    return number && size;
}

bool ttm_bo_move(const record &r, gpu_event &e)
{
    const auto bo = pointer(r, "bo"), size = r.number("size");
    if (r.number("ret").value_or(0)) // it did not move
        return true;
    e.kind = gpu_kind::bo_move;
    e.device = r.text("dev");
    e.bo = bo.value_or(0);
    e.bytes = size.value_or(0);
    e.from = placement(r, "from");
    e.to = placement(r, "to");
    e.evict = r.number("evict").value_or(0) != 0;
    return bo && size;
}

bool vttm_bo_create(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::bo_create;
    const auto tag = r.number("tag"), size = r.number("size");
    e.bo = tag.value_or(0);
    e.bytes = size.value_or(0);
    e.preferred = static_cast<u32>(r.number("preferred").value_or(0)) & domain_mask;
    e.allowed = static_cast<u32>(r.number("allowed").value_or(0)) & domain_mask;
    return tag && size && *size;
}

bool vttm_bo_move(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::bo_move;
    const auto tag = r.number("tag"), size = r.number("size");
    e.bo = tag.value_or(0);
    e.bytes = size.value_or(0);
    e.from = static_cast<u32>(r.number("from").value_or(0)) & domain_mask;
    e.to = static_cast<u32>(r.number("to").value_or(0)) & domain_mask;
    e.evict = r.number("evict").value_or(0) != 0;
    return tag && size;
}

u32 domain_of(std::string_view s)
{
    return s == "VRAM" ? domain_vram : s == "GTT" ? domain_gtt : s == "SYSTEM" ? domain_system : 0;
}

bool vramlab_bo_move(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::bo_move;
    const auto bo = r.number("bo"), bytes = r.number("bytes");
    e.bo = bo.value_or(0);
    e.bytes = bytes.value_or(0);
    e.from = domain_of(r.text("from"));
    e.to = domain_of(r.text("to"));
    e.evict = r.number("evict").value_or(0) != 0;
    return bo && bytes;
}

constexpr named_handler bo_handlers[] = {
    {"amdgpu_bo_create", amdgpu_bo_create}, {"amdgpu_bo_move", amdgpu_bo_move},
    {"amdgpu_ttm_bo_move", amdgpu_bo_move}, {"amdgpu_bo_list_set", bo_list_set},
    {"amdgpu_cs_bo_status", cs_bo_status},  {"ttm_bo_move", ttm_bo_move},
    {"vttm_bo_create", vttm_bo_create},     {"vttm_bo_move", vttm_bo_move},
    {"vramlab_bo_move", vramlab_bo_move},
};

} // namespace

std::span<const named_handler> memory_handlers()
{
    return bo_handlers;
}

u8 move_rank(bool (*handle)(const record &, gpu_event &))
{
    return handle == &ttm_bo_move ? 1 : handle == &vramlab_bo_move ? 3 : 2;
}

} // namespace vramlab::gputrace
