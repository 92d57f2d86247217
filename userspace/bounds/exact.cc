// SPDX-License-Identifier: MIT
#include "bounds/exact.h"

#include <algorithm>
#include <unordered_map>

namespace vramlab::bounds {

namespace {

class search {
public:
    search(const instance &in, const price_list &p, u32 weight, wide upper, const exact_limits &limits)
        : in_(in), ledger_(in, p, weight), weight_(weight), upper_(upper), limits_(limits),
          ways_(in.objects.size()), next_(in.objects.size()), rest_(in.steps + 1)
    {
        for (std::size_t i = 0; i < in.objects.size(); i++)
            ledger_.best_way(in.objects[i], ways_[i]);
        for (u32 s = in.steps; s-- > 0;)
            rest_[s] = rest_[s + 1] + ledger_.price(s) * in.vram_bytes;
    }

    std::optional<wide> run()
    {
        states_[0] = wide{in_.fixed_bytes} * move_weight_one;
        for (u32 s = 0; s < in_.steps; s++) {
            after_.clear();
            if (s && ledger_.empties().between(s - 1, s))
                empty(s);
            for (const auto &[mask, cost] : states_)
                place(s, 0, mask | newborn(s), 0, 0, cost);
            for (std::size_t i = 0; i < in_.objects.size(); i++)
                next_[i] += used_in(i, s) != nullptr;
            std::swap(states_, after_);
            if (states_.size() > limits_.states || states_.empty() || decisions_ > limits_.decisions)
                return std::nullopt;
        }
        wide best = upper_;
        for (const auto &[mask, cost] : states_)
            best = std::min(best, cost);
        return best;
    }

private:
    const use *used_in(std::size_t i, u32 s) const
    {
        const object &o = in_.objects[i];
        return next_[i] < o.uses.size() && o.uses[next_[i]].step == s ? &o.uses[next_[i]] : nullptr;
    }

    u32 newborn(u32 s) const
    {
        u32 mask = 0;
        for (std::size_t i = 0; i < in_.objects.size(); i++)
            if (in_.objects[i].born == s)
                mask |= 1u << i;
        return mask;
    }

    void empty(u32 s)
    {
        u32 stay = 0;
        for (std::size_t i = 0; i < in_.objects.size(); i++)
            if (next_[i] && in_.objects[i].uses[next_[i] - 1].step == s - 1 &&
                in_.objects[i].uses[next_[i] - 1].remote_bytes == must_be_in_vram)
                stay |= 1u << i;
        std::unordered_map<u32, wide> emptied;
        for (const auto &[mask, cost] : states_)
            keep_cheaper(emptied, mask & stay, cost);
        states_ = std::move(emptied);
    }

    static void keep_cheaper(std::unordered_map<u32, wide> &states, u32 mask, wide cost)
    {
        const auto [at, fresh] = states.try_emplace(mask, cost);
        if (!fresh)
            at->second = std::min(at->second, cost);
    }

    // Decides for object i and those after it, in step s: before: what was inside; now: what is.
    void place(u32 s, std::size_t i, u32 before, u32 now, u64 bytes, wide cost)
    {
        if (bytes > in_.vram_bytes || ++decisions_ > limits_.decisions)
            return;
        if (i == in_.objects.size()) {
            if (cost + still_to_come(s, now) <= upper_)
                keep_cheaper(after_, now, cost);
            return;
        }
        const object &o = in_.objects[i];
        const use *u = used_in(i, s);
        const u32 bit = 1u << i;
        const bool over = next_[i] + (u != nullptr) == o.uses.size() && !u;
        if ((before & bit) && !over)
            place(s, i + 1, before, now | bit, bytes + o.size_bytes, cost);
        else if (u)
            place(s, i + 1, before, now | bit, bytes + o.size_bytes, cost + wide{o.size_bytes} * weight_);
        if (!u)
            place(s, i + 1, before, now, bytes, cost);
        else if (u->remote_bytes != must_be_in_vram)
            place(s, i + 1, before, now, bytes, cost + wide{u->remote_bytes} * move_weight_one);
    }

    // No schedule from here on costs less, by the prices; rounded down.
    wide still_to_come(u32 s, u32 inside) const
    {
        wide sum = -rest_[s + 1];
        for (std::size_t i = 0; i < in_.objects.size(); i++) {
            const object &o = in_.objects[i];
            const std::size_t j = next_[i] + (used_in(i, s) != nullptr);
            if (j == o.uses.size())
                continue;
            if (o.born > s) {
                sum += ways_[i].best;
                continue;
            }
            wide least = ways_[i].outside[j];
            if (inside & (1u << i))
                if (const wide k = keep(o, s, j); k >= 0)
                    least = std::min(least, k + ways_[i].in[j]);
            sum += least;
        }
        return sum >= 0 ? (sum * move_weight_one) >> fraction_bits
                        : -((-sum * move_weight_one) >> fraction_bits) - 1;
    }

    wide keep(const object &o, u32 s, std::size_t j) const
    {
        const bool pinned = j && o.uses[j - 1].step == s && o.uses[j - 1].remote_bytes == must_be_in_vram;
        return ledger_.keep(o, s, o.uses[j].step, pinned);
    }

    const instance &in_;
    ledger ledger_;
    u32 weight_;
    wide upper_;
    u64 decisions_ = 0;
    exact_limits limits_;
    std::vector<way> ways_;
    std::vector<std::size_t> next_;
    std::vector<wide> rest_; // prices of the capacity from a step on
    std::unordered_map<u32, wide> states_, after_;
};

} // namespace

std::optional<wide> least_weighed(const instance &in, const price_list &p, u32 move_weight, wide upper,
                                  const exact_limits &limits)
{
    if (in.objects.size() > std::min<std::size_t>(limits.objects, 31))
        return std::nullopt;
    return search(in, p, move_weight, upper, limits).run();
}

} // namespace vramlab::bounds
