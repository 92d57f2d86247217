// SPDX-License-Identifier: MIT
#include "base/request.h"
#include "gputrace/gpu_event.h"

#include <charconv>
#include <iterator>

namespace vramlab::gputrace {

namespace {

using trace::record;

constexpr u64 key_mask = 0xffffffff;
constexpr u64 kernel_client_min = ~u64{0} - 0xffff;

// %p prints hexadecimal digits without 0x.
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

std::string_view first_text(const record &r, std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names)
        if (const std::string_view s = r.text(name); !s.empty())
            return s;
    return {};
}

// As two fields, or as text in the form "fence=1:2".
bool job_key(const record &r, gpu_event &e)
{
    std::optional<u64> context = first_number(r, {"context", "fence_context"});
    std::optional<u64> seqno = first_number(r, {"seqno", "fence_seqno"});
    if (!context || !seqno) {
        const std::string_view pair = r.text("fence");
        const std::size_t colon = pair.find(':');
        if (colon == std::string_view::npos)
            return false;
        const std::string_view second = pair.substr(colon + 1);
        context = trace::parse_number(pair.substr(0, colon));
        seqno = trace::parse_number(second.substr(0, second.find_first_of(" ,")));
    }
    if (!context || !seqno)
        return false;
    e.context = *context & key_mask;
    e.seqno = *seqno & key_mask;
    return true;
}

template <gpu_kind kind> bool amdgpu_job(const record &r, gpu_event &e)
{
    e.kind = kind;
    e.by = dialect::amdgpu;
    e.engine = first_text(r, {"timeline", "ring", "ring_name"});
    e.kernel = r.text("ring") == "copy"; // as our own traces say of moves and fills
    return job_key(r, e);
}

template <gpu_kind kind> bool sched_job(const record &r, gpu_event &e)
{
    e.kind = kind;
    e.by = dialect::drm_sched;
    e.device = r.text("dev");
    e.engine = first_text(r, {"name", "ring"});
    // amdgpu's own jobs count down from the largest number, and are no client.
    e.kernel = r.number("client_id").value_or(1) >= kernel_client_min;
    return job_key(r, e);
}

template <gpu_kind kind> bool old_sched_job(const record &r, gpu_event &e)
{
    e.kind = kind;
    e.by = dialect::drm_sched_old;
    e.engine = first_text(r, {"name", "ring"});
    const std::optional<u64> fence = pointer(r, "fence");
    e.context = fence.value_or(0);
    return fence.has_value();
}

bool signaled(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::done;
    e.by = dialect::fence;
    e.engine = r.text("timeline");
    return job_key(r, e);
}

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

bool vramlab_frame_done(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::frame;
    const auto number = r.number("number"), time = r.number("time_us");
    e.number = number.value_or(0);
    e.frame_ns = time.value_or(0) * ns_per_us;
    return number && time;
}

bool vblank(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::vblank;
    const auto crtc = r.number("crtc"), seq = r.number("seq");
    e.crtc = static_cast<u32>(crtc.value_or(0));
    e.number = seq.value_or(0);
    return crtc && seq;
}

constexpr struct {
    std::string_view name;
    bool (*handle)(const record &, gpu_event &);
} handlers[] = {
    {"amdgpu_cs_ioctl", amdgpu_job<gpu_kind::queue>},
    {"amdgpu_sched_run_job", amdgpu_job<gpu_kind::run>},
    {"drm_sched_job_queue", sched_job<gpu_kind::queue>},
    {"drm_sched_job_run", sched_job<gpu_kind::run>},
    {"drm_sched_job_done", sched_job<gpu_kind::done>},
    {"drm_sched_job", old_sched_job<gpu_kind::queue>},
    {"drm_run_job", old_sched_job<gpu_kind::run>},
    {"drm_sched_process_job", old_sched_job<gpu_kind::done>},
    {"dma_fence_signaled", signaled},
    {"fence_signaled", signaled},
    {"amdgpu_bo_create", amdgpu_bo_create},
    {"amdgpu_bo_move", amdgpu_bo_move},
    {"amdgpu_ttm_bo_move", amdgpu_bo_move},
    {"amdgpu_bo_list_set", bo_list_set},
    {"amdgpu_cs_bo_status", cs_bo_status},
    {"ttm_bo_move", ttm_bo_move},
    {"vttm_bo_create", vttm_bo_create},
    {"vttm_bo_move", vttm_bo_move},
    {"vramlab_bo_move", vramlab_bo_move},
    {"vramlab_frame_done", vramlab_frame_done},
    {"drm_vblank_event", vblank},
};

} // namespace

gpu_event gpu_decoder::decode(const record &r)
{
    gpu_event e;
    if (r.format->id >= by_id_.size())
        by_id_.resize(r.format->id + std::size_t{1});
    known &k = by_id_[r.format->id];
    if (k.format != r.format) {
        k = {r.format, nullptr};
        for (const auto &h : handlers)
            if (h.name == r.format->name)
                k.handle = h.handle;
    }
    if (!k.handle)
        return e;
    if (!k.handle(r, e)) {
        if (e.by == dialect::amdgpu)
            without_key_++;
        else
            incomplete_++;
        return {};
    }
    if (e.kind == gpu_kind::bo_move) {
        const u8 rank = k.handle == &ttm_bo_move ? 1 : k.handle == &vramlab_bo_move ? 3 : 2;
        if (rank < move_rank_)
            return {};
        move_rank_ = rank;
    }
    return e;
}

} // namespace vramlab::gputrace
