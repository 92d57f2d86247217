// SPDX-License-Identifier: MIT
// For tests: small questions about lost time, and their answers by trying everything, one nanosecond after
// the other: each carries a byte for one copy or for the job that runs, or none; BOs may be dropped at any
// moment, but not what the job that runs uses. Knows nothing of windows and facets.
//
// The link carries a byte a nanosecond. Sizes up to 3, up to 4 BOs.
#pragma once

#include "base/rng.h"
#include "bounds/stall_instance.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace vramlab::bounds {

inline stall_instance random_stall_instance(u64 seed)
{
    rng r(seed);
    stall_instance in;
    in.link_bandwidth = ns_per_s;
    in.vram_bandwidth = r.between(1, 3) * ns_per_s;
    in.overlap = r.below(2);
    in.steps.resize(r.between(1, 7));
    const u32 n = static_cast<u32>(in.steps.size());
    u64 all = 0, largest = 0;
    const u64 objects = r.between(2, 4);
    for (u64 i = 0; i < objects; i++) {
        stall_object o{r.between(1, 3), static_cast<u32>(r.below(n)), {}};
        for (u32 s = o.born; s < n; s++)
            if (r.below(2)) {
                const u64 vram = r.below(4);
                // Mostly the link is the slower way, but not always.
                const u64 link = !r.below(20) ? must_be_in_vram : r.below(vram + 6);
                o.uses.push_back({s, vram, link});
                in.steps[s].vram_bytes += vram;
            }
        all += o.size_bytes;
        largest = std::max(largest, o.size_bytes);
        in.objects.push_back(std::move(o));
    }
    in.vram_bytes = r.between(largest, std::max(largest, all / 2 + 1));
    for (stall_step &s : in.steps) {
        s.gap_ns = r.below(2);
        s.compute_ns = r.below(4);
        s.fixed_link_bytes = r.below(4) ? 0 : r.below(3);
    }
    for (u32 s = 1; s < n; s++)
        if (!r.below(10))
            in.emptied.push_back(s);
    return in;
}

class stall_brute_force {
public:
    explicit stall_brute_force(const stall_instance &in) : in_(in) {}

    // Time lost beside all in VRAM, ns: less than 0 where the link is the quicker way. nullopt: cannot be
    // done.
    std::optional<s64> least()
    {
        s64 ideal = 0;
        for (u32 s = 0; s < in_.steps.size(); s++)
            ideal += static_cast<s64>(in_.steps[s].gap_ns +
                                      duration(s, in_.steps[s].vram_bytes, in_.steps[s].fixed_link_bytes));
        state first;
        begin_window(first, 0);
        visit(first);
        for (s64 now = 0; !open_.empty(); now++) {
            for (std::size_t i = 0; i < open_.size(); i++) // grows: what can happen at this moment
                if (at_once(open_[i]))
                    return now - ideal;
            std::vector<state> before;
            std::swap(before, open_);
            for (const state &s : before)
                pass(s);
        }
        return std::nullopt;
    }

private:
    struct state {
        u32 step = 0;
        bool running = false;
        u64 gap = 0, fixed = 0, link = 0; // still to pass
        u64 copied[4] = {};               // bytes of each BO; all of them: it is there
        bool fresh[4] = {};               // just created: may be placed for nothing

        u64 key() const
        {
            u64 k = step << 1 | running;
            k = k << 4 | gap;
            k = k << 8 | fixed;
            k = k << 8 | link;
            for (int i = 0; i < 4; i++)
                k = k << 3 | copied[i] << 1 | fresh[i];
            return k;
        }
    };

    const stall_use *use_of(std::size_t i, u32 s) const
    {
        for (const stall_use &u : in_.objects[i].uses)
            if (u.step == s)
                return &u;
        return nullptr;
    }
    bool inside(const state &s, std::size_t i) const { return s.copied[i] == in_.objects[i].size_bytes; }
    u64 fixed_part(u32 s, u64 vram_bytes) const
    {
        const u64 v =
            static_cast<u64>((u128{vram_bytes} * ns_per_s + in_.vram_bandwidth - 1) / in_.vram_bandwidth);
        return in_.overlap ? std::max(in_.steps[s].compute_ns, v) : in_.steps[s].compute_ns + v;
    }
    u64 duration(u32 s, u64 vram_bytes, u64 link_bytes) const
    {
        const u64 f = fixed_part(s, vram_bytes);
        return in_.overlap ? std::max(f, link_bytes) : f + link_bytes;
    }
    u64 taken(const state &s) const
    {
        u64 sum = 0;
        for (std::size_t i = 0; i < in_.objects.size(); i++)
            sum += s.copied[i] ? in_.objects[i].size_bytes : 0;
        return sum;
    }

    void visit(const state &s)
    {
        if (seen_.insert(s.key()).second)
            open_.push_back(s);
    }

    void begin_window(state &s, u32 step) const
    {
        s.step = step;
        s.running = false;
        s.fixed = s.link = 0;
        if (step == in_.steps.size())
            return;
        s.gap = in_.steps[step].gap_ns;
        const bool emptied = std::count(in_.emptied.begin(), in_.emptied.end(), step);
        for (std::size_t i = 0; i < in_.objects.size(); i++) {
            const stall_use *before = step ? use_of(i, step - 1) : nullptr;
            if (emptied && !(before && before->link_bytes == must_be_in_vram))
                s.copied[i] = 0;
            s.fresh[i] = in_.objects[i].born == step;
        }
    }

    // What takes no time. True: all is done.
    bool at_once(state s)
    {
        if (s.step == in_.steps.size())
            return true;
        if (s.running && !s.fixed && !s.link) {
            begin_window(s, s.step + 1);
            visit(s);
            return s.step == in_.steps.size();
        }
        for (std::size_t i = 0; i < in_.objects.size(); i++) {
            state t = s;
            if (s.copied[i] && !(s.running && use_of(i, s.step))) {
                t.copied[i] = 0;
                visit(t);
            } else if (s.fresh[i] && !s.copied[i] && taken(s) + in_.objects[i].size_bytes <= in_.vram_bytes) {
                t.copied[i] = in_.objects[i].size_bytes;
                t.fresh[i] = false;
                visit(t);
            }
        }
        if (!s.running && !s.gap)
            start(s);
        return false;
    }

    void start(state s)
    {
        u64 vram = 0;
        s.link = in_.steps[s.step].fixed_link_bytes;
        for (std::size_t i = 0; i < in_.objects.size(); i++) {
            s.fresh[i] = false;
            const stall_use *u = use_of(i, s.step);
            if (!u)
                continue;
            if (inside(s, i)) {
                vram += u->vram_bytes;
            } else if (u->link_bytes == must_be_in_vram) {
                return;
            } else {
                s.copied[i] = 0; // not copied while it is read
                s.link += u->link_bytes;
            }
        }
        s.fixed = fixed_part(s.step, vram);
        s.running = true;
        visit(s);
    }

    // A nanosecond passes, with each thing that the link can do.
    void pass(const state &s)
    {
        state t = s;
        t.gap -= s.gap ? 1 : 0;
        t.fixed -= s.fixed ? 1 : 0;
        visit(t);
        if (s.running && s.link && (in_.overlap || !s.fixed)) {
            state r = t;
            r.link--;
            visit(r);
        }
        for (std::size_t i = 0; i < in_.objects.size(); i++) {
            const u64 size = in_.objects[i].size_bytes;
            if (inside(s, i) || (s.running && use_of(i, s.step)) || in_.objects[i].born > s.step)
                continue;
            if (!s.copied[i] && taken(s) + size > in_.vram_bytes)
                continue;
            state c = t;
            c.copied[i]++;
            c.fresh[i] = false;
            visit(c);
        }
    }

    const stall_instance &in_;
    std::vector<state> open_;
    std::unordered_set<u64> seen_;
};

} // namespace vramlab::bounds
