// SPDX-License-Identifier: MIT
// The requests of sim_backend: from what a process asks for to the ioctls of the modelled driver.
#include "backend/sim_backend.h"

#include "driver/priority.h"
#include "driver/vm.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace vramlab::backend {

using namespace driver;

namespace {

// A list's id is an index: bounds what a malformed workload can make us allocate.
constexpr u32 list_id_max = 1u << 16;

// DRM_VTTM_SUBMIT_MAX: elements of either kind in a submission.
constexpr u64 submit_max = 1u << 20;

template <typename T> T *at_id(std::deque<T> &all, u32 id, bool grow)
{
    if (id == 0 || id > list_id_max)
        return nullptr;
    if (id > all.size()) {
        if (!grow)
            return nullptr;
        all.resize(id);
    }
    return &all[id - 1];
}

} // namespace

// Labels are names within a process.
sim_backend::user_vm *sim_backend::find_vm(u32 label, u32 process_number)
{
    const auto it = vms_.find(label);
    return it != vms_.end() && it->second.vm->process == process_number ? &it->second : nullptr;
}

result sim_backend::run(const request &r)
{
    if (r.kind == request_kind::vm_open)
        return {vm_open(r)};
    if (r.kind == request_kind::bo_share)
        return {bo_share(r)};
    user_vm *const v = find_vm(r.vm, r.process);
    if (!v)
        return {-ENOENT};
    switch (r.kind) {
    case request_kind::vm_close:
        return {vm_close(r)};
    case request_kind::bo_create:
        return {bo_create(*v, r)};
    case request_kind::bo_destroy:
        return {vttm_gem_close(*v->vm, v->vm->handles.find(r.bo))};
    case request_kind::bo_set_priority:
        return {bo_set_priority(*v, r)};
    case request_kind::list_define:
        return {list_define(*v, r)};
    case request_kind::touch_define:
        return {touch_define(*v, r)};
    case request_kind::submit:
        return submit(*v, r);
    case request_kind::wait:
        return {vttm_vm_wait(*v->vm, r.seqno)};
    case request_kind::pin:
        return {pin(*v, r.bo)};
    case request_kind::unpin:
        return {unpin(*v, r.bo)};
    default:
        break;
    }
    throw std::runtime_error("unknown request");
}

int sim_backend::vm_open(const request &r)
{
    if (vms_.contains(r.vm))
        return -EEXIST;
    vms_[r.vm].vm = vttm_vm_open(*device_, r.vm, r.process);
    return 0;
}

int sim_backend::vm_close(const request &r)
{
    vttm_vm_close(*vms_[r.vm].vm);
    vms_.erase(r.vm);
    return 0;
}

int sim_backend::bo_create(user_vm &v, const request &r)
{
    if (device_->bos.contains(r.bo))
        throw std::runtime_error(fmt::format("BO {} exists already", r.bo));
    vttm_bo *bo = nullptr;
    const int ret = vttm_gem_create(*device_, *v.vm,
                                    {.tag = r.bo,
                                     .size_bytes = r.size_bytes,
                                     .preferred = r.preferred,
                                     .allowed = r.allowed,
                                     .flags = r.flags,
                                     .priority = r.priority},
                                    &bo);
    if (!ret)
        v.vm->handles.create(*bo);
    return ret;
}

// By PRIME: a handle that the other file has already stays the one it has.
int sim_backend::bo_share(const request &r)
{
    const auto to = vms_.find(r.target_vm);
    if (to == vms_.end())
        return -ENOENT;
    if (to->second.vm->process != r.process && state_of(to->second.vm->process) != task_state::idle)
        throw std::runtime_error(
            fmt::format("sharing with process {}, which has an operation under way", to->second.vm->process));
    user_vm *const from = find_vm(r.vm, r.process);
    const u32 handle = from ? from->vm->handles.find(r.bo) : 0;
    if (!handle)
        return -ENOENT;
    vttm_bo &bo = *from->vm->handles.at(handle).bo;
    if (bo.vm)
        return -EPERM; // amdgpu_gem_prime_export()
    if (!to->second.vm->handles.find(r.bo)) {
        kmd::drm_gem_object_get(&bo);
        to->second.vm->handles.create(bo);
    }
    return 0;
}

int sim_backend::bo_set_priority(user_vm &v, const request &r)
{
    if (r.priority > priority_max)
        return -EINVAL;
    const u32 handle = v.vm->handles.find(r.bo);
    if (!handle)
        return -ENOENT;
    vttm_bo &bo = *v.vm->handles.at(handle).bo;
    if (bo.vm != v.vm)
        return -EINVAL;
    return vttm_priority_set(*v.vm, bo, r.priority);
}

int sim_backend::pin(user_vm &v, u64 tag)
{
    const u32 handle = v.vm->handles.find(tag);
    if (!handle)
        return -ENOENT;
    return vttm_bo_pin(*device_, *v.vm, *v.vm->handles.at(handle).bo, &v.vm->handles.at(handle).pins);
}

int sim_backend::unpin(user_vm &v, u64 tag)
{
    const u32 handle = v.vm->handles.find(tag);
    if (!handle)
        return -ENOENT;
    return vttm_bo_unpin(*device_, *v.vm->handles.at(handle).bo, &v.vm->handles.at(handle).pins);
}

// ---- submissions

int sim_backend::list_define(user_vm &v, const request &r)
{
    bo_list *l = at_id(v.lists, r.id, true);
    if (!l)
        return -EINVAL;
    l->tags = r.bos;
    l->generation = 0;
    v.defined++;
    return 0;
}

int sim_backend::touch_define(user_vm &v, const request &r)
{
    touch_list *t = at_id(v.touch_sets, r.id, true);
    if (!t)
        return -EINVAL;
    t->touches = r.touches;
    t->generation = 0;
    return 0;
}

// Looked up again only if handles have changed.
void sim_backend::resolve(const user_vm &v, bo_list &l)
{
    if (l.generation == v.vm->handles.generation())
        return;
    l.bos.clear();
    l.error = l.tags.size() > submit_max ? -EINVAL : 0;
    for (const u64 tag : l.tags) {
        const u32 handle = v.vm->handles.find(tag);
        vttm_bo *bo = handle ? v.vm->handles.at(handle).bo : nullptr;
        if (!bo || bo->vm)
            l.error = l.error ? l.error : bo ? -EINVAL : -ENOENT;
        l.bos.push_back(bo);
    }
    l.generation = v.vm->handles.generation();
}

void sim_backend::resolve(const user_vm &v, touch_list &t, const bo_list *l)
{
    const u64 generation = v.vm->handles.generation() + v.defined;
    if (t.generation == generation && t.checked_with == l)
        return;
    std::vector<const vttm_bo *> listed;
    if (l)
        listed.assign(l->bos.begin(), l->bos.end());
    std::sort(listed.begin(), listed.end());
    t.resolved.clear();
    t.error = t.touches.size() > submit_max ? -EINVAL : 0;
    for (const touch &e : t.touches) {
        const u32 handle = v.vm->handles.find(e.bo);
        vttm_bo *bo = handle ? v.vm->handles.at(handle).bo : nullptr;
        if (!bo || (!bo->vm && !std::binary_search(listed.begin(), listed.end(), bo)))
            t.error = t.error ? t.error : bo ? -EINVAL : -ENOENT;
        t.resolved.push_back({bo, e.vram_bytes, e.link_bytes});
    }
    t.generation = generation;
    t.checked_with = l;
}

result sim_backend::submit(user_vm &v, const request &r)
{
    vttm_submit_args args{.compute_ns = r.compute_ns};
    bo_list *l = nullptr;
    if (r.list) {
        l = at_id(v.lists, r.list, false);
        if (!l)
            return {-ENOENT};
        resolve(v, *l);
        args.bos = l->bos;
    }
    touch_list *t = nullptr;
    if (r.touch_set) {
        t = at_id(v.touch_sets, r.touch_set, false);
        if (!t)
            return {-ENOENT};
        resolve(v, *t, l);
        args.touches = t->resolved;
    }
    for (const int error : {l ? l->error : 0, t ? t->error : 0})
        if (error)
            return {error};
    result res;
    res.error = vttm_submit(*device_, *v.vm, args, &res.seqno);
    return res;
}

} // namespace vramlab::backend
