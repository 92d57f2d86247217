// SPDX-License-Identifier: MIT
#include "driver/state.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace vramlab::driver {

using namespace kmd;

namespace {

template <typename... Args> void put(std::string &text, fmt::format_string<Args...> f, Args &&...args)
{
    fmt::format_to(std::back_inserter(text), f, std::forward<Args>(args)...);
}

const char *mem_name(const ttm_resource *res)
{
    if (!res)
        return "none";
    switch (res->mem_type) {
    case TTM_PL_SYSTEM:
        return "system";
    case TTM_PL_TT:
        return "gtt";
    default:
        return "vram";
    }
}

void print_engine(std::string &text, const char *name, const gpu::engine &e, const drm_gpu_scheduler &sched)
{
    put(text, "engine {} end {} running {} queued {}\n", name, e.end_ns(), e.running(), sched.queued);
}

// Only with the mechanism, so that mainline's state is as it was.
void print_throttle(std::string &text, const vttm_vm &vm)
{
    put(text, "throttle {} evicted ", vm.label);
    if (vm.throttle.evicted)
        put(text, "{}", vm.throttle.evicted_at_ns);
    else
        text += '-';
    text += " displaced";
    for (u32 priority = priority_max; priority; priority--) {
        const list_head &list = vm.displaced.lists[priority];
        for (const list_head *e = list.next; e != &list; e = e->next)
            put(text, " {}", static_cast<const vttm_bo *>(e)->tag);
    }
    text += '\n';
}

void print_vm(std::string &text, const vttm_vm &vm)
{
    put(text, "vm {} seqno {} evicted", vm.label, vm.entity.fence_seq);
    for (u32 level = priority_max + 1; level--;)
        for (const list_head *e = vm.evicted[level].next; e != &vm.evicted[level]; e = e->next)
            put(text, " {}", static_cast<const vttm_bo *>(e)->tag);
    text += '\n';
    if (vm.dev->bdev.mechanisms.throttle)
        print_throttle(text, vm);
}

void print_places(std::string &text, const vttm_device &dev, const vttm_bo &bo)
{
    text += " place";
    if (!bo.resource || bo.resource->mem_type != TTM_PL_VRAM)
        return;
    std::vector<std::pair<u64, u64>> blocks;
    gpu_buddy_for_each_block(
        dev.vram.mm, to_vttm_vram_mgr_resource(bo.resource)->blocks, [&](const gpu_buddy_block &b) {
            blocks.emplace_back(gpu_buddy_block_offset(b), gpu_buddy_block_size(dev.vram.mm, b));
        });
    std::sort(blocks.begin(), blocks.end());
    for (const auto &[offset, size] : blocks)
        put(text, " {}+{}", offset, size);
}

void print_bo(std::string &text, const vttm_device &dev, const vttm_bo &bo)
{
    put(text, "bo {} vm ", bo.tag);
    if (bo.vm)
        put(text, "{}", bo.vm->label);
    else
        text += '-';
    put(text, " size {} mem {}", bo.size, mem_name(bo.resource));
    print_places(text, dev, bo);
    put(text, " pin {} prio {} pref {} allowed {} flags {} cpu {} busy {}\n", bo.pin_count, bo.bulk_priority,
        bo.preferred_domains, bo.allowed_domains, bo.flags, bo.cpu_access ? 1 : 0,
        dma_resv_test_signaled(*bo.resv, dma_resv_usage::bookkeep) ? 0 : 1);
}

void print_entry(std::string &text, const ttm_buffer_object &bo)
{
    if (!vttm_bo_is_vttm_bo(&bo))
        put(text, " ghost:{}", bo.size);
    else
        put(text, " {}{}", bo.deleted ? "zombie:" : "", to_vttm_bo(&bo)->tag);
}

// `head` is the line up to the entries; cursors in the list are not shown.
void print_lru(std::string &text, const list_head &list, const std::string &head)
{
    bool any = false;
    for (const list_head *e = list.next; e != &list; e = e->next) {
        const auto *item = static_cast<const ttm_lru_item *>(e);
        if (!ttm_lru_item_is_res(*item))
            continue;
        if (!std::exchange(any, true))
            text += head;
        print_entry(text, *static_cast<const ttm_resource *>(item)->bo);
    }
    if (any)
        text += '\n';
}

void print_lrus(std::string &text, const ttm_resource_manager &man, const char *name)
{
    for (u32 i = 0; i < TTM_MAX_BO_PRIORITY; i++)
        print_lru(text, man.lru[i], fmt::format("lru {} {}", name, i));
}

} // namespace

void print_state(const vttm_device &dev, std::string &text)
{
    put(text, "clock {}\n", dev.now_ns());
    put(text, "budget accum_us {} last_us {} pinned {}\n", dev.budget.accum_us(), dev.budget.last_update_us(),
        dev.vram_pinned_bytes);
    put(text, "mgr vram size {} usage {}\n", dev.vram.size, dev.vram.usage);
    put(text, "mgr gtt size {} usage {}\n", dev.gtt.size, dev.gtt.usage);
    text += "free";
    gpu_buddy_for_each_free(dev.vram.mm, [&](u64 offset, u64 size) { put(text, " {}+{}", offset, size); });
    text += '\n';
    print_engine(text, "gfx", dev.gfx_engine, dev.gfx_sched);
    print_engine(text, "copy", dev.copy_engine, dev.copy_sched);
    put(text, "moves {}\n",
        std::count_if(dev.vram.eviction_fences.begin(), dev.vram.eviction_fences.end(),
                      [](const dma_fence *f) { return f && !dma_fence_is_signaled(*f); }));
    for (const auto &[label, vm] : dev.vms)
        print_vm(text, *vm);

    std::vector<const vttm_bo *> bos;
    for (const auto &[tag, bo] : dev.bos)
        if (!bo->deleted)
            bos.push_back(bo);
    std::sort(bos.begin(), bos.end(), [](const vttm_bo *a, const vttm_bo *b) { return a->tag < b->tag; });
    for (const vttm_bo *bo : bos)
        print_bo(text, dev, *bo);

    print_lrus(text, dev.bdev.sysman, "system");
    print_lrus(text, dev.gtt, "gtt");
    print_lrus(text, dev.vram, "vram");
    print_lru(text, dev.bdev.unevictable, "lru unevictable");
}

} // namespace vramlab::driver
