// SPDX-License-Identifier: MIT
#include "report/throttle_phases.h"

#include <algorithm>

namespace vramlab::report {

throttle_phases::throttle_phases(u64 strong_ns, u64 weak_ns, std::size_t intervals_max)
    : strong_ns_(strong_ns), weak_ns_(weak_ns), intervals_max_(intervals_max)
{
}

void throttle_phases::add(u32 vm, interval i)
{
    if (i.begin_ns >= i.end_ns)
        return;
    of_vm &v = vms_[vm];
    if (v.intervals.size() < intervals_max_)
        v.intervals.push_back(i);
    else
        v.left_out++;
}

// The phases that p has had until at_ns.
void throttle_phases::close(u32 vm, const open_phase &p, u64 at_ns)
{
    const u64 strong_end_ns = p.last_ns + strong_ns_;
    add(vm, {p.begin_ns, std::min(strong_end_ns, at_ns), true});
    add(vm, {strong_end_ns, std::min(strong_end_ns + weak_ns_, at_ns), false});
}

void throttle_phases::throttled(u32 vm, u64 at_ns)
{
    vms_[vm].evictions++;
    auto [it, fresh] = open_.try_emplace(vm, open_phase{at_ns, at_ns});
    if (fresh)
        return;
    if (at_ns >= it->second.last_ns + strong_ns_) {
        close(vm, it->second, at_ns);
        it->second.begin_ns = at_ns;
    }
    it->second.last_ns = at_ns;
}

void throttle_phases::reset(u64 at_ns)
{
    for (const auto &[vm, p] : open_)
        close(vm, p, at_ns);
    open_.clear();
}

void throttle_phases::finish(u64 end_ns)
{
    reset(end_ns);
}

} // namespace vramlab::report
