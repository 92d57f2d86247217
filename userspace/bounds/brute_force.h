// SPDX-License-Identifier: MIT
// For tests: random small questions, and their answers by brute force: every content of VRAM, step by step.
#pragma once

#include "base/rng.h"
#include "bounds/instance.h"

#include <algorithm>

namespace vramlab::bounds {

inline constexpr u64 none = ~u64{0};

struct shape {
    u32 max_objects = 10;
    u32 max_steps = 12;
    bool must = true;
    bool empties = true;
};

inline object random_object(rng &r, const shape &f, u32 steps)
{
    object o{r.between(1, 9), static_cast<u32>(r.below(steps)), {}};
    u32 pinned_until = 0;
    for (u32 s = o.born; s < steps; s++) {
        if (f.must && s >= pinned_until && !r.below(24))
            pinned_until = s + static_cast<u32>(r.between(1, 3));
        if (s < pinned_until)
            o.uses.push_back({s, must_be_in_vram});
        else if (r.below(3) == 0)
            o.uses.push_back({s, r.below(o.size_bytes * 2 + 1)});
    }
    if (o.uses.empty())
        o.uses.push_back({o.born, 1});
    return o;
}

inline instance random_instance(u64 seed, const shape &f = {})
{
    rng r(seed);
    instance in;
    in.steps = static_cast<u32>(r.between(1, f.max_steps));
    const u64 objects = r.between(1, f.max_objects);
    u64 all = 0;
    for (u64 i = 0; i < objects; i++) {
        in.objects.push_back(random_object(r, f, in.steps));
        all += in.objects.back().size_bytes;
    }
    in.vram_bytes = r.between(all / 3, all);
    in.fixed_bytes = r.below(4);
    for (u32 s = 1; f.empties && s < in.steps; s++)
        if (!r.below(12))
            in.emptied.push_back(s);
    return in;
}

inline bool has_pins(const instance &in)
{
    for (const object &o : in.objects)
        for (const use &u : o.uses)
            if (u.remote_bytes == must_be_in_vram)
                return true;
    return false;
}

inline const use *use_at(const object &o, u32 step)
{
    for (const use &u : o.uses)
        if (u.step == step)
            return &u;
    return nullptr;
}

// Written for nothing but to be right: cost[mask] is the least that leads to this content of VRAM, whatever a
// policy moves when, wanted or not.
class brute_force {
public:
    explicit brute_force(const instance &in) : in_(in), cost_(std::size_t{1} << in.objects.size(), none)
    {
        cost_[0] = in.fixed_bytes;
    }

    // none: it cannot be done.
    u64 least()
    {
        for (u32 s = 0; s < in_.steps; s++) {
            if (std::count(in_.emptied.begin(), in_.emptied.end(), s))
                empty(s);
            for (std::size_t i = 0; i < in_.objects.size(); i++)
                if (in_.objects[i].born <= s)
                    move(i, in_.objects[i].born == s);
            use_all(s);
        }
        return *std::min_element(cost_.begin(), cost_.end());
    }

private:
    static u64 plus(u64 a, u64 b) { return a == none || b == none ? none : a + b; }

    void move(std::size_t i, bool fresh)
    {
        const std::size_t bit = std::size_t{1} << i;
        for (std::size_t m = 0; m < cost_.size(); m++) {
            if (m & bit)
                continue;
            const u64 in = cost_[m | bit], out = cost_[m];
            cost_[m] = std::min(out, in);
            cost_[m | bit] = std::min(in, plus(out, fresh ? 0 : in_.objects[i].size_bytes));
        }
    }

    void empty(u32 s)
    {
        std::size_t stays = 0;
        for (std::size_t i = 0; i < in_.objects.size(); i++)
            if (const use *u = use_at(in_.objects[i], s - 1); u && u->remote_bytes == must_be_in_vram)
                stays |= std::size_t{1} << i;
        std::vector<u64> after(cost_.size(), none);
        for (std::size_t m = 0; m < cost_.size(); m++)
            after[m & stays] = std::min(after[m & stays], cost_[m]);
        cost_ = after;
    }

    void use_all(u32 s)
    {
        for (std::size_t m = 0; m < cost_.size(); m++) {
            u64 bytes = 0;
            for (std::size_t i = 0; i < in_.objects.size(); i++) {
                const bool inside = m >> i & 1;
                bytes += inside ? in_.objects[i].size_bytes : 0;
                if (const use *u = use_at(in_.objects[i], s); u && !inside)
                    cost_[m] = plus(cost_[m], u->remote_bytes);
            }
            if (bytes > in_.vram_bytes)
                cost_[m] = none;
        }
    }

    const instance &in_;
    std::vector<u64> cost_;
};

} // namespace vramlab::bounds
