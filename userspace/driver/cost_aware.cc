// SPDX-License-Identifier: MIT
#include "driver/cost_aware.h"

#include "driver/cs.h"

#include <algorithm>
#include <utility>

namespace vramlab::driver {

namespace {

u64 cooled(u64 bytes, u64 for_ns)
{
    const u64 halvings = for_ns / cost_aware_planner::half_life_ns;
    if (halvings >= 64)
        return 0;
    bytes >>= halvings;
    // Within a half-life along the chord: no floating point takes part in a decision.
    const u64 rest_ns = for_ns % cost_aware_planner::half_life_ns;
    return bytes - static_cast<u64>(u128{bytes / 2} * rest_ns / cost_aware_planner::half_life_ns);
}

bool in_vram(const vttm_bo &bo)
{
    return vttm_domain_of(bo.resource) == domain_vram;
}

// May be in VRAM or out of it, as a policy likes.
bool movable(const vttm_bo &bo)
{
    return !bo.pin_count && bo.resource && (bo.allowed_domains & domain_vram) &&
           (bo.allowed_domains & domain_gtt) && (bo.preferred_domains & domain_vram);
}

} // namespace

void cost_aware_planner::created(const vttm_bo &bo)
{
    warmth_[&bo] = {bo.size, dev_.now_ns()};
}

void cost_aware_planner::freed(const vttm_bo &bo)
{
    warmth_.erase(&bo);
}

u64 cost_aware_planner::heat_bytes(const vttm_bo &bo) const
{
    const warmth &w = warmth_.at(&bo);
    return cooled(w.bytes, dev_.now_ns() - w.at_ns);
}

void cost_aware_planner::touched(const vttm_touch &t)
{
    const u64 before = heat_bytes(*t.bo);
    const u64 sum = before > ~u64{0} - t.link_bytes ? ~u64{0} : before + t.link_bytes;
    warmth_[t.bo] = {sum, dev_.now_ns()};
}

bool cost_aware_planner::thinner(const weight &a, const weight &b)
{
    return u128{a.heat_bytes} * b.size_bytes < u128{b.heat_bytes} * a.size_bytes;
}

// Twice as dense at least, or two BOs alike would change places for ever.
bool cost_aware_planner::much_thinner(const weight &a, const weight &b)
{
    return u128{a.heat_bytes} * 2 * b.size_bytes < u128{b.heat_bytes} * a.size_bytes;
}

std::vector<cost_aware_planner::weighed> cost_aware_planner::weigh(const std::vector<vttm_bo *> &bos,
                                                                   bool inside) const
{
    std::vector<weighed> out;
    for (vttm_bo *bo : bos)
        if (movable(*bo) && in_vram(*bo) == inside)
            if (const u64 heat = heat_bytes(*bo); inside || heat > bo->size)
                out.push_back({{heat, bo->size}, bo});
    std::stable_sort(out.begin(), out.end(), thinner);
    return out;
}

// Takes what has room off the end of wanting, where the densest are. The first may be larger than a plan's
// limit, or it would never come.
void cost_aware_planner::take_in(vttm_plan &p, std::vector<weighed> &wanting) const
{
    const u64 size = dev_.config.vram_size_bytes;
    u64 room = size - std::min(size, ttm_resource_manager_usage(&dev_.vram));
    u64 taken = 0;
    while (!wanting.empty()) {
        const u64 bytes = wanting.back().bo->size;
        if (bytes > room || (taken && taken + bytes > plan_bytes_max))
            return;
        room -= bytes;
        taken += bytes;
        p.in.push_back(wanting.back().bo);
        wanting.pop_back();
    }
}

// For what still wants in: own BOs go out, and give their memory back when the copy is done; it is room for
// the next plan. Where there are none that are thin enough, others' may be, which TTM evicts in the order of
// order().
void cost_aware_planner::make_room(vttm_plan &p, const std::vector<weighed> &wanting,
                                   const std::vector<weighed> &having) const
{
    u64 made = 0, needed = 0;
    auto thinnest = having.begin();
    for (auto w = wanting.rbegin(); w != wanting.rend(); ++w) {
        needed += w->bo->size;
        if (needed != w->bo->size && needed > plan_bytes_max)
            return;
        while (made < needed && thinnest != having.end() && much_thinner(*thinnest, *w)) {
            made += thinnest->bo->size;
            p.out.push_back(thinnest->bo);
            ++thinnest;
        }
        if (made < needed) {
            p.in.push_back(w->bo);
            needed -= w->bo->size;
        }
    }
}

bool cost_aware_planner::due(const vttm_vm &vm) const
{
    const auto next = next_plan_ns_.find(vm.serial);
    return next == next_plan_ns_.end() || dev_.now_ns() >= next->second;
}

vttm_plan cost_aware_planner::plan(const vttm_vm &vm, const std::vector<vttm_bo *> &bos)
{
    next_plan_ns_[vm.serial] = dev_.now_ns() + plan_period_ns;
    vttm_plan p;
    std::vector<weighed> wanting = weigh(bos, false);
    take_in(p, wanting);
    make_room(p, wanting, weigh(bos, true));
    return p;
}

u32 cost_aware_planner::domains(const vttm_bo &bo) const
{
    const u32 here = vttm_domain_of(bo.resource);
    return here & bo.allowed_domains ? here : bo.allowed_domains;
}

void cost_aware_planner::order(std::vector<kmd::ttm_buffer_object *> &candidates,
                               const kmd::ttm_buffer_object *evictor)
{
    // Evict-all and reclaim take all.
    if (!evictor || !vttm_bo_is_vttm_bo(evictor))
        return;
    const vttm_bo &e = *to_vttm_bo(evictor);
    const bool must = e.pin_count || e.flags & bo_contiguous || e.allowed_domains == domain_vram;
    const weight wanted{heat_bytes(e), e.size};
    std::vector<std::pair<weight, kmd::ttm_buffer_object *>> victims;
    // Leftovers of moves stay in front: nobody needs them.
    std::erase_if(candidates, [&](kmd::ttm_buffer_object *bo) {
        if (!vttm_bo_is_vttm_bo(bo))
            return false;
        const weight w{heat_bytes(*to_vttm_bo(bo)), bo->size};
        if (must || much_thinner(w, wanted))
            victims.push_back({w, bo});
        else
            kmd::ttm_bo_put(bo);
        return true;
    });
    std::stable_sort(victims.begin(), victims.end(),
                     [](const auto &a, const auto &b) { return thinner(a.first, b.first); });
    for (const auto &[w, bo] : victims)
        candidates.push_back(bo);
}

} // namespace vramlab::driver
