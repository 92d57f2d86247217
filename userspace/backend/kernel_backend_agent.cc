// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_agent.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace vramlab::backend {

namespace {

template <typename T> T *find_id(std::unordered_map<u32, T> &all, u32 id)
{
    const auto it = all.find(id);
    return it == all.end() ? nullptr : &it->second;
}

template <typename T> void copy_elements(std::vector<T> &to, std::span<const std::byte> from, bool append)
{
    if (!append)
        to.clear();
    const std::size_t old = to.size();
    to.resize(old + from.size() / sizeof(T));
    if (!from.empty())
        std::memcpy(to.data() + old, from.data(), from.size());
}

} // namespace

kernel_agent::kernel_agent(drm_port &port, int socket) : port_(port), socket_(socket) {}

kernel_agent::~kernel_agent()
{
    close_all();
    if (control_ >= 0)
        port_.close(control_);
}

void kernel_agent::close_all()
{
    for (vm &v : vms_)
        port_.close(v.file);
    vms_.clear();
}

int kernel_agent::run()
{
    std::vector<std::byte> buffer(wire::packet_max);
    for (;;) {
        int fd_in = -1;
        const long n = wire::receive_packet(socket_, buffer, &fd_in);
        if (n <= 0)
            return n == 0 ? 0 : 1;
        wire::view v;
        wire::reply r;
        int fd_out = -1;
        if (wire::decode(std::span(buffer).first(static_cast<std::size_t>(n)), v))
            r = serve(v, fd_in, &fd_out);
        else
            r.error = -EPROTO;
        if (fd_in >= 0)
            ::close(fd_in);
        const bool sent = wire::send_packet(socket_, std::as_bytes(std::span(&r, 1)), fd_out);
        if (fd_out >= 0)
            ::close(fd_out);
        if (!sent)
            return 1;
        if (v.head.kind == wire::message_kind::quit)
            return 0;
    }
}

wire::reply kernel_agent::serve(const wire::view &v, int fd_in, int *fd_out)
{
    wire::reply r;
    vm *const m = find(v.head.vm);
    switch (v.head.kind) {
    case wire::message_kind::request:
        r = serve_request(v);
        if (v.head.flags & wire::flag_lockstep)
            if (const int err = lab(DRM_VTTM_LAB_END, v.head.process); err && !r.error)
                r.error = err;
        break;
    case wire::message_kind::export_bo:
        r.error = m ? export_bo(*m, v.head.bo, fd_out) : -ENOENT;
        break;
    case wire::message_kind::import_bo:
        r.error = m ? import_bo(*m, v.head.bo, fd_in) : -ENOENT;
        break;
    case wire::message_kind::signaled:
        r.error = m ? wait(*m, v.head.seqno, 0) : -ENOENT;
        break;
    case wire::message_kind::become_task:
        ::prctl(PR_SET_NAME, v.head.name); // traces show it; the kernel reads no further than the field
        r.error = lab(DRM_VTTM_LAB_TASK, v.head.process);
        break;
    case wire::message_kind::reset:
        close_all();
        // We are somebody else in the next workload.
        if (control_ >= 0)
            port_.close(std::exchange(control_, -1));
        break;
    case wire::message_kind::quit:
        break;
    }
    return r;
}

wire::reply kernel_agent::serve_request(const wire::view &w)
{
    const wire::message &m = w.head;
    wire::reply r;
    vm *const v = find(m.vm);
    if (m.what == request_kind::vm_open) {
        r.error = v ? -EEXIST : vm_open(m.vm);
        return r;
    }
    if (!v) {
        r.error = -ENOENT;
        return r;
    }
    switch (m.what) {
    case request_kind::vm_close:
        r.error = vm_close(*v);
        break;
    case request_kind::bo_create:
        r.error = bo_create(*v, m);
        break;
    case request_kind::bo_destroy:
        r.error = bo_destroy(*v, m.bo);
        break;
    case request_kind::bo_set_priority:
        r.error = bo_set_priority(*v, m);
        break;
    case request_kind::list_define:
        r.error = define_list(*v, w);
        break;
    case request_kind::touch_define:
        r.error = define_touches(*v, w);
        break;
    case request_kind::submit:
        r = submit(*v, m);
        break;
    case request_kind::wait:
        r.error = wait(*v, m.seqno, std::numeric_limits<s64>::max());
        break;
    case request_kind::pin:
        r.error = pin(*v, m.bo, 0);
        break;
    case request_kind::unpin:
        r.error = pin(*v, m.bo, DRM_VTTM_PIN_UNPIN);
        break;
    default: // vm_open is done, bo_share is two messages of its own
        r.error = -EPROTO;
        break;
    }
    return r;
}

kernel_agent::vm *kernel_agent::find(u32 label)
{
    for (vm &v : vms_)
        if (v.label == label)
            return &v;
    return nullptr;
}

// 0, which is never a handle, for a tag that this VM does not have: the driver's lookup then fails.
u32 kernel_agent::handle_of(const vm &v, u64 tag)
{
    const auto it = v.handles.find(tag);
    return it == v.handles.end() ? 0 : it->second;
}

int kernel_agent::vm_open(u32 label)
{
    const int file = port_.open();
    if (file < 0)
        return file;
    drm_vttm_vm_set_label arg{};
    arg.label = label;
    if (const int err = port_.ioctl(file, DRM_IOCTL_VTTM_VM_SET_LABEL, &arg)) {
        port_.close(file);
        return err;
    }
    vm &v = vms_.emplace_back();
    v.label = label;
    v.file = file;
    return 0;
}

int kernel_agent::vm_close(vm &v)
{
    port_.close(v.file);
    vms_.erase(vms_.begin() + (&v - vms_.data()));
    return 0;
}

int kernel_agent::bo_create(vm &v, const wire::message &m)
{
    drm_vttm_gem_create arg{};
    arg.size = m.size_bytes;
    arg.tag = m.bo;
    arg.preferred_domains = m.preferred;
    arg.allowed_domains = m.allowed;
    arg.flags = m.gem_flags;
    arg.priority = m.priority;
    if (const int err = port_.ioctl(v.file, DRM_IOCTL_VTTM_GEM_CREATE, &arg))
        return err;
    v.handles[m.bo] = arg.handle;
    v.generation++;
    return 0;
}

int kernel_agent::bo_destroy(vm &v, u64 tag)
{
    drm_gem_close arg{};
    arg.handle = handle_of(v, tag);
    if (const int err = port_.ioctl(v.file, DRM_IOCTL_GEM_CLOSE, &arg))
        return err;
    v.handles.erase(tag);
    v.generation++;
    return 0;
}

int kernel_agent::bo_set_priority(vm &v, const wire::message &m)
{
    drm_vttm_gem_set_priority arg{};
    arg.handle = handle_of(v, m.bo);
    arg.priority = m.priority;
    return port_.ioctl(v.file, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &arg);
}

int kernel_agent::pin(vm &v, u64 tag, u32 flags)
{
    drm_vttm_pin arg{};
    arg.handle = handle_of(v, tag);
    arg.flags = flags;
    return port_.ioctl(v.file, DRM_IOCTL_VTTM_PIN, &arg);
}

int kernel_agent::define_list(vm &v, const wire::view &w)
{
    bo_list &l = v.lists[w.head.id];
    copy_elements(l.bos, w.bos, w.head.flags & wire::flag_append);
    l.generation = 0;
    return 0;
}

int kernel_agent::define_touches(vm &v, const wire::view &w)
{
    touch_list &t = v.touch_sets[w.head.id];
    copy_elements(t.touches, w.touches, w.head.flags & wire::flag_append);
    t.generation = 0;
    return 0;
}

wire::reply kernel_agent::submit(vm &v, const wire::message &m)
{
    wire::reply r;
    drm_vttm_submit arg{};
    arg.engine = DRM_VTTM_ENGINE_GFX;
    arg.bo_stride = sizeof(drm_vttm_submit_bo);
    arg.touch_stride = sizeof(drm_vttm_submit_touch);
    arg.compute_ns = m.compute_ns;
    if (m.list) {
        bo_list *const l = find_id(v.lists, m.list);
        if (!l) {
            r.error = -ENOENT;
            return r;
        }
        if (l->generation != v.generation) {
            l->prepared.assign(l->bos.size(), {});
            for (std::size_t i = 0; i < l->bos.size(); i++)
                l->prepared[i].handle = handle_of(v, l->bos[i]);
            l->generation = v.generation;
        }
        arg.bos = reinterpret_cast<std::uintptr_t>(l->prepared.data());
        arg.bo_count = static_cast<u32>(l->prepared.size());
    }
    if (m.touch_set) {
        touch_list *const t = find_id(v.touch_sets, m.touch_set);
        if (!t) {
            r.error = -ENOENT;
            return r;
        }
        if (t->generation != v.generation) {
            t->prepared.assign(t->touches.size(), {});
            for (std::size_t i = 0; i < t->touches.size(); i++) {
                t->prepared[i].handle = handle_of(v, t->touches[i].bo);
                t->prepared[i].vram_bytes = t->touches[i].vram_bytes;
                t->prepared[i].link_bytes = t->touches[i].link_bytes;
            }
            t->generation = v.generation;
        }
        arg.touches = reinterpret_cast<std::uintptr_t>(t->prepared.data());
        arg.touch_count = static_cast<u32>(t->prepared.size());
    }
    r.error = port_.ioctl(v.file, DRM_IOCTL_VTTM_SUBMIT, &arg);
    if (!r.error)
        r.seqno = v.last_seqno = arg.seqno;
    return r;
}

// seqno 0 is the last submission; before the first there is nothing to wait for.
int kernel_agent::wait(vm &v, u64 seqno, s64 timeout_ns)
{
    drm_vttm_wait arg{};
    arg.seqno = seqno ? seqno : v.last_seqno;
    arg.timeout_ns = timeout_ns;
    return arg.seqno ? port_.ioctl(v.file, DRM_IOCTL_VTTM_WAIT, &arg) : 0;
}

int kernel_agent::export_bo(vm &v, u64 tag, int *fd_out)
{
    return port_.export_bo(v.file, handle_of(v, tag), fd_out);
}

int kernel_agent::import_bo(vm &v, u64 tag, int fd_in)
{
    if (fd_in < 0)
        return -EPROTO;
    u32 handle = 0;
    if (const int err = port_.import_bo(v.file, fd_in, &handle))
        return err;
    v.handles[tag] = handle;
    v.generation++;
    return 0;
}

int kernel_agent::lab(u32 op, u64 value)
{
    if (control_ < 0) {
        control_ = port_.open();
        if (control_ < 0)
            return control_;
    }
    drm_vttm_lab arg{};
    arg.op = op;
    arg.value = value;
    return port_.ioctl(control_, DRM_IOCTL_VTTM_LAB, &arg);
}

} // namespace vramlab::backend
