// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_lab.h"

#include "backend/system_error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <unistd.h>

namespace vramlab::backend {

namespace {

constexpr u32 event_batch = 1024;

task_state to_state(u32 state)
{
    switch (state) {
    case DRM_VTTM_TASK_IDLE:
        return task_state::idle;
    case DRM_VTTM_TASK_PARKED:
        return task_state::parked;
    case DRM_VTTM_TASK_BLOCKED:
        return task_state::blocked;
    }
    throw std::runtime_error(fmt::format("vttm: unknown task state {}", state));
}

} // namespace

vttm_lab::vttm_lab(vttm_port &port, watchdog &dog) : port_(port), watchdog_(dog), buffer_(1 << 16)
{
    file_ = port_.open();
    if (file_ < 0)
        throw_system_error("vttm: cannot open " + port_.node(), file_);
    const std::string path = fmt::format("/sys/kernel/debug/dri/{}/vttm_state", port_.primary_minor());
    state_fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (state_fd_ < 0)
        throw_system_error(fmt::format("vttm: cannot open {} (is debugfs mounted?)", path), -errno);
}

vttm_lab::~vttm_lab()
{
    ::close(state_fd_);
    port_.close(file_);
}

int vttm_lab::call(u32 op, u64 value, u64 ptr)
{
    last_ = {};
    last_.op = op;
    last_.value = value;
    last_.ptr = ptr;
    const watchdog::scope watched(watchdog_);
    if (::ioctl(file_, DRM_IOCTL_VTTM_LAB, &last_) == 0)
        return 0;
    if (errno == EINTR)
        throw std::runtime_error(
            fmt::format("vttm: laboratory operation {} did not end within {} s: hung in the kernel", op,
                        watchdog_.timeout_s()));
    return -errno;
}

int vttm_lab::reset(const device_config &d, bool virtual_clock)
{
    drm_vttm_lab_config c{};
    c.vram_size = d.vram_size_bytes;
    c.gtt_size = d.gtt_size_bytes;
    c.vram_bandwidth = d.vram_bandwidth;
    c.link_bandwidth = d.link_bandwidth;
    c.copy_latency_ns = d.copy_latency_ns;
    c.log2_max_mbps = d.log2_max_mbps;
    c.flags = DRM_VTTM_LAB_CONFIG_NO_CONTENTS | (virtual_clock ? DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK : 0) |
              (d.overlap ? DRM_VTTM_LAB_CONFIG_OVERLAP : 0);
    return call(DRM_VTTM_LAB_RESET, 0, reinterpret_cast<std::uintptr_t>(&c));
}

void vttm_lab::begin(u32 task)
{
    if (const int err = call(DRM_VTTM_LAB_BEGIN, task))
        throw_system_error(fmt::format("vttm: beginning an operation of task {}{}", task,
                                       err == -EOPNOTSUPP ? " (this kernel lacks the lab-only patches)" : ""),
                           err);
}

task_state vttm_lab::wait_for(u32 op, u32 task)
{
    if (const int err = call(op, task))
        throw_system_error(
            fmt::format("vttm: {} task {}", op == DRM_VTTM_LAB_STEP ? "stepping" : "looking at", task), err);
    return to_state(last_.state);
}

drm_vttm_get_info vttm_lab::info()
{
    drm_vttm_get_info info{};
    if (const int err = port_.ioctl(file_, DRM_IOCTL_VTTM_GET_INFO, &info))
        throw_system_error("vttm: GET_INFO", err);
    return info;
}

u64 vttm_lab::next_ns()
{
    if (const int err = settle())
        throw_system_error("vttm: settling", err);
    return last_.next_ns;
}

void vttm_lab::read_state(std::string &text)
{
    u64 offset = 0;
    for (;;) {
        const ssize_t n = ::pread(state_fd_, buffer_.data(), buffer_.size(), static_cast<off_t>(offset));
        if (n < 0)
            throw_system_error("vttm: cannot read vttm_state", -errno);
        text.append(buffer_.data(), static_cast<std::size_t>(n));
        offset += static_cast<u64>(n);
        // seq_file fills the buffer while there is more.
        if (n == 0 || (text.ends_with('\n') && static_cast<std::size_t>(n) < buffer_.size()))
            break;
    }
    if (offset > buffer_.size() / 2)
        buffer_.resize(buffer_.size() * 4);
}

void vttm_lab::read_events(std::vector<drm_vttm_event> &records)
{
    records.clear();
    for (;;) {
        const std::size_t old = records.size();
        records.resize(old + event_batch);
        if (const int err =
                call(DRM_VTTM_LAB_EVENTS, event_batch, reinterpret_cast<std::uintptr_t>(&records[old])))
            throw_system_error("vttm: reading the event log", err);
        if (last_.lost)
            throw std::runtime_error(fmt::format("vttm: {} event records were lost", last_.lost));
        records.resize(old + last_.value);
        if (last_.value < event_batch)
            return;
    }
}

namespace {

events::event start_of(const drm_vttm_event &r, const event_cause &cause)
{
    events::event e;
    e.time_ns = r.time_ns;
    e.vm = r.vm == ~0u ? 0 : r.vm;
    e.process = cause.process;
    return e;
}

// The log has no record of a decision to evict; that it was taken, and in whose request, the move shows.
void translate_move(const drm_vttm_event &r, const event_cause &cause, events::event_sink &sink)
{
    events::event e = start_of(r, cause);
    e.bo = r.tag;
    if (r.evict) {
        e.type = events::event_type::evict_begin;
        e.bo2 = cause.bo;
        sink.record(e);
        e.bo2 = 0;
    }
    e.type = events::event_type::move;
    e.a = r.from;
    e.b = r.to;
    e.c = r.bytes;
    e.flag = static_cast<u8>(r.evict);
    sink.record(e);
}

void translate_job(const drm_vttm_event &r, const event_cause &cause, events::event_sink &sink)
{
    events::event e = start_of(r, cause);
    e.type = r.type == DRM_VTTM_EVENT_JOB_START ? events::event_type::job_start : events::event_type::job_end;
    e.a = r.from;
    (r.to == 0 ? e.b : e.bo) = r.tag;
    e.c = r.bytes;
    e.flag = static_cast<u8>(r.to);
    sink.record(e);
}

} // namespace

void translate_events(const std::vector<drm_vttm_event> &records, bool by_system,
                      const std::function<event_cause(u32)> &cause_of, events::event_sink &sink)
{
    for (const drm_vttm_event &r : records) {
        if (r.type == DRM_VTTM_EVENT_MOVE)
            translate_move(r, by_system ? event_cause() : cause_of(r.task), sink);
        else if (r.type == DRM_VTTM_EVENT_JOB_START || r.type == DRM_VTTM_EVENT_JOB_END)
            translate_job(r, cause_of(r.task), sink);
    }
}

} // namespace vramlab::backend
