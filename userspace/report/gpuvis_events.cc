// SPDX-License-Identifier: MIT
#include "report/gpuvis_events.h"

#include "report/engines.h"
#include "report/format.h"
#include "report/gpuvis_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vramlab::report {

using events::event;
using events::event_type;

namespace {

constexpr u64 copy_context = 1 << 20; // contexts of gfx are labels of VMs, which are smaller
// gpuvis draws timelines by the names that amdgpu has for them.
constexpr const char *timelines[] = {"gfx", "sdma0"};
constexpr const char *rings[] = {"gfx", "copy"};
constexpr u64 vblank_period_min_ns = ns_per_ms;
constexpr u64 vblanks_max = 1000; // in a row, without any event

const std::string system_name = "system";

} // namespace

gpuvis_events::gpuvis_events(std::FILE *out, gpuvis_options options)
    : options_(std::move(options)), writer_(out, {1, "global", options_.kernel})
{
    for (const process_config &p : options_.processes)
        names_[p.process] = p.name;
    std::erase_if(options_.vblank_periods_ns, [](u64 period) { return period < vblank_period_min_ns; });
    next_vblank_.resize(options_.vblank_periods_ns.size());
    for (const trace::event_format *f : gpuvis_formats::get().all())
        writer_.add_format(*f);
    for (const trace::event_format &f : event_record_formats())
        writer_.add_format(f);
}

const std::string &gpuvis_events::name_of(u32 process) const
{
    const auto it = names_.find(process);
    return it == names_.end() ? system_name : it->second;
}

u32 gpuvis_events::owner_of(u64 bo, u32 vm)
{
    if (const bo_info *b = bos_.find(bo))
        return b->process;
    return vm ? bos_.process_of_vm(vm) : 0;
}

void gpuvis_events::print(u64 time_ns, u32 process, const std::string &text)
{
    builder_.start(gpuvis_formats::get().print, first_pid + static_cast<s32>(process));
    builder_.text(1, text);
    writer_.write(0, time_ns, builder_.data());
}

// ---- jobs

void gpuvis_events::job_event(const trace::event_format &f, u64 time_ns, u32 process, u64 engine, job_key key)
{
    const bool signaled = &f == &gpuvis_formats::get().fence_signaled;
    builder_.start(f, signaled ? 0 : first_pid + static_cast<s32>(process)); // fences signal in interrupts
    const std::size_t first = signaled;
    if (signaled)
        builder_.text(0, "vttm");
    builder_.text(first, timelines[engine]);
    builder_.number(first + 1, key.context);
    builder_.number(first + 2, key.seqno);
    if (!signaled) {
        builder_.text(3, rings[engine]);
        builder_.number(4, 1);
    }
    writer_.write(0, time_ns, builder_.data());
}

// A job may start, and even end, before its submission returns.
void gpuvis_events::queue_gfx(const event &e, u64 seqno)
{
    u64 &last = queued_[e.vm];
    if (seqno <= last)
        return;
    last = seqno;
    job_event(gpuvis_formats::get().cs_ioctl, e.time_ns, bos_.process_of_vm(e.vm), engine_gfx, {e.vm, seqno});
}

u64 gpuvis_events::queue_copy(u64 time_ns, u32 process)
{
    job_event(gpuvis_formats::get().cs_ioctl, time_ns, process, engine_copy, {copy_context, ++copies_});
    return copies_;
}

void gpuvis_events::job_start(const event &e)
{
    if (e.flag == job_kind_job) {
        const u32 process = bos_.process_of_vm(e.vm);
        link_bytes_[process] += e.c;
        queue_gfx(e, e.b);
        job_event(gpuvis_formats::get().run_job, e.time_ns, process, engine_gfx, {e.vm, e.b});
        return;
    }
    u64 seqno = 0;
    const auto of = copies_of_.find(e.bo);
    if (e.flag == job_kind_copy && of != copies_of_.end() && !of->second.queued.empty()) {
        seqno = of->second.queued.front();
        of->second.queued.pop_front();
        if (of->second.queued.empty())
            copies_of_.erase(of);
    } else { // fills have no move
        seqno = queue_copy(e.time_ns, e.process);
        if (e.flag == job_kind_copy)
            copies_of_[e.bo].started_early++;
    }
    running_copies_.push_back(seqno);
    job_event(gpuvis_formats::get().run_job, e.time_ns, owner_of(e.bo, e.vm), engine_copy,
              {copy_context, seqno});
}

void gpuvis_events::job_end(const event &e)
{
    if (e.flag == job_kind_job) {
        job_event(gpuvis_formats::get().fence_signaled, e.time_ns, 0, engine_gfx, {e.vm, e.b});
    } else if (!running_copies_.empty()) {
        job_event(gpuvis_formats::get().fence_signaled, e.time_ns, 0, engine_copy,
                  {copy_context, running_copies_.front()});
        running_copies_.pop_front();
    }
}

// ---- memory

void gpuvis_events::vram_used(u64 time_ns)
{
    builder_.start(gpuvis_formats::get().vram, first_pid);
    builder_.number(0, vram_bytes_ / MiB);
    builder_.number(1, placed_.size());
    writer_.write(0, time_ns, builder_.data());
}

void gpuvis_events::move(const event &e)
{
    const bo_info *b = bos_.find(e.bo);
    const u32 owner = owner_of(e.bo, e.vm);
    const bool in = e.b == domain_vram, out = e.a == domain_vram;
    std::string reason = e.flag ? "evicted" : e.a ? "validated" : "first placement";
    if (e.flag && b && b->evictor)
        reason += " for " + name_of(b->evictor) + (b->evicted_for_scanout ? " (scanout)" : "");
    builder_.start(gpuvis_formats::get().bo_move, first_pid + static_cast<s32>(e.process));
    builder_.number(0, e.bo);
    builder_.number(1, e.c);
    builder_.number(2, e.flag);
    builder_.text(3, e.a ? domain_names(static_cast<u32>(e.a)) : "none");
    builder_.text(4, domain_names(static_cast<u32>(e.b)));
    builder_.text(5, name_of(owner));
    builder_.text(6, reason);
    writer_.write(0, e.time_ns, builder_.data());
    if (in)
        vram_bytes_ += e.c - std::exchange(placed_[e.bo], e.c);
    else if (out)
        leave_vram(e.bo);
    if (in || out)
        vram_used(e.time_ns);
    if (!e.a || (!in && !out))
        return;
    if (in != out)
        link_bytes_[owner] += e.c;
    copies &c = copies_of_[e.bo];
    if (!c.started_early) {
        c.queued.push_back(queue_copy(e.time_ns, e.process));
    } else if (!--c.started_early && c.queued.empty()) {
        copies_of_.erase(e.bo);
    }
}

void gpuvis_events::leave_vram(u64 bo)
{
    const auto it = placed_.find(bo);
    if (it == placed_.end())
        return;
    vram_bytes_ -= it->second;
    placed_.erase(it);
}

// What a BO left behind, or the BO itself after it was destroyed.
void gpuvis_events::reaped(const event &e)
{
    if (e.a != domain_vram)
        return;
    const auto ghost = ghosts_.find(e.bo);
    if (ghost == ghosts_.end()) {
        leave_vram(e.bo);
    } else {
        vram_bytes_ -= std::min(vram_bytes_, e.c);
        if (!--ghost->second)
            ghosts_.erase(ghost);
    }
    vram_used(e.time_ns);
}

// ---- frames and displays

void gpuvis_events::frame(const event &e)
{
    if (e.a) {
        const std::string &name = name_of(e.process);
        print(e.time_ns, e.process, fmt::format("frame {} of {} (lduration=-{})", e.a, name, e.b));
        builder_.start(gpuvis_formats::get().frame_done, first_pid + static_cast<s32>(e.process));
        builder_.number(0, e.process);
        builder_.number(1, e.a);
        builder_.number(2, e.b / ns_per_us);
        builder_.number(3, link_bytes_[e.process] / KiB);
        builder_.text(4, name);
        writer_.write(0, e.time_ns, builder_.data());
    }
    print(e.time_ns, e.process, fmt::format("{} begins frame {}", name_of(e.process), e.a + 1));
    link_bytes_[e.process] = 0;
}

void gpuvis_events::vblanks_until(u64 time_ns)
{
    for (;;) {
        std::size_t crtc = 0;
        u64 earliest = never_ns;
        for (std::size_t i = 0; i < next_vblank_.size(); i++) {
            const u64 period = options_.vblank_periods_ns[i];
            next_vblank_[i] = std::max(next_vblank_[i],
                                       time_ns / period > vblanks_max ? time_ns / period - vblanks_max : 0);
            if (next_vblank_[i] * period < earliest) {
                earliest = next_vblank_[i] * period;
                crtc = i;
            }
        }
        if (earliest > time_ns)
            return;
        builder_.start(gpuvis_formats::get().vblank, 0);
        builder_.number(0, crtc);
        builder_.number(1, next_vblank_[crtc]++);
        builder_.number(2, earliest);
        builder_.number(3, 1);
        writer_.write(0, std::max(earliest, last_ns_), builder_.data());
    }
}

void gpuvis_events::record(const event &e)
{
    if (e.type == event_type::evict_skipped && !options_.skipped)
        return; // another sink wants them
    if (!options_.vblank_periods_ns.empty())
        vblanks_until(e.time_ns);
    last_ns_ = e.time_ns;
    bos_.record(e);
    build_event_record(e, builder_);
    writer_.write(0, e.time_ns, builder_.data());
    switch (e.type) {
    case event_type::op_end:
        if (e.where && std::string_view(e.where) == "submit" && !e.error)
            queue_gfx(e, e.b);
        bos_.forget_ended();
        break;
    case event_type::move:
        move(e);
        break;
    case event_type::ghost:
        if (e.a == domain_vram) {
            ghosts_[e.bo]++;
            vram_bytes_ += e.c;
        }
        break;
    case event_type::reaped:
        reaped(e);
        break;
    case event_type::job_start:
        job_start(e);
        break;
    case event_type::job_end:
        job_end(e);
        break;
    case event_type::frame:
        frame(e);
        break;
    default:
        break;
    }
}

void gpuvis_events::finish()
{
    trace::trace_info info;
    info.comms[first_pid] = system_name;
    for (const auto &[process, name] : names_)
        info.comms[first_pid + static_cast<s32>(process)] = name;
    writer_.finish(info);
}

} // namespace vramlab::report
