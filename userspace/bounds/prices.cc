// SPDX-License-Identifier: MIT
#include "bounds/prices.h"

#include <algorithm>
#include <cmath>

namespace vramlab::bounds {

emptying::emptying(const instance &in) : before_(in.steps + 1)
{
    auto next = in.emptied.begin();
    for (u32 s = 0, count = 0; s <= in.steps; s++) {
        for (; next != in.emptied.end() && *next <= s; ++next)
            count++;
        before_[s] = count;
    }
}

ledger::ledger(const instance &in, const price_list &p, u32 move_weight)
    : sum_(in.steps + 1), empties_(in), move_weight_(move_weight)
{
    for (u32 s = 0; s < in.steps; s++)
        sum_[s + 1] = sum_[s] + p.price[s];
}

wide ledger::keep(const object &o, u32 from, u32 to, bool pinned) const
{
    return empties_.between(from + pinned, to) ? wide{-1} : (sum_[to] - sum_[from + 1]) * o.size_bytes;
}

wide ledger::keep_from_birth(const object &o) const
{
    const u32 first = o.uses.front().step;
    return empties_.between(o.born, first) ? wide{-1} : (sum_[first] - sum_[o.born]) * o.size_bytes;
}

void ledger::best_way(const object &o, way &out) const
{
    const std::size_t n = o.uses.size();
    out.in.assign(n, 0);
    out.outside.assign(n + 1, 0);
    for (std::size_t j = n; j-- > 0;) {
        const use &u = o.uses[j];
        const wide leave =
            out.outside[j + 1]; // dropping costs nothing: writes go the other way over the link
        wide onward = leave;
        if (j + 1 < n) {
            const wide k = keep(o, u.step, o.uses[j + 1].step, u.remote_bytes == must_be_in_vram);
            if (k >= 0)
                onward = std::min(leave, k + out.in[j + 1]);
        }
        out.in[j] = price(u.step) * o.size_bytes + onward;
        out.outside[j] = move_in(o) + out.in[j];
        if (u.remote_bytes != must_be_in_vram)
            out.outside[j] = std::min(out.outside[j], (wide{u.remote_bytes} << fraction_bits) + leave);
    }
    out.best = out.outside[0];
    if (n)
        if (const wide k = keep_from_birth(o); k >= 0)
            out.best = std::min(out.best, k + out.in[0]);
}

namespace {

// Adds the bytes that o's best way has in VRAM to differences between steps.
void add_wanted(const ledger &l, const object &o, const way &w, std::vector<s64> &difference)
{
    const auto occupy = [&](u32 from, u32 to) { // to not included
        difference[from] += static_cast<s64>(o.size_bytes);
        difference[to] -= static_cast<s64>(o.size_bytes);
    };
    if (o.uses.empty())
        return;
    bool in = w.best < w.outside[0];
    if (in)
        occupy(o.born, o.uses[0].step);
    for (std::size_t j = 0; j < o.uses.size(); j++) {
        const u32 step = o.uses[j].step;
        in = in || w.outside[j] == l.move_in(o) + w.in[j];
        if (!in)
            continue;
        occupy(step, step + 1);
        in = w.in[j] - l.price(step) * o.size_bytes < w.outside[j + 1];
        if (in)
            occupy(step + 1, o.uses[j + 1].step);
    }
}

// Where to look first: the same price for all steps, such that about as much is wanted as there is.
u64 flat_price(const instance &in, u32 move_weight)
{
    u64 low = 0, high = u64{1} << fraction_bits;
    for (int i = 0; i < 24 && low < high; i++) {
        const u64 middle = low + (high - low) / 2;
        const priced p = evaluate(in, {std::vector<u64>(in.steps, middle)}, move_weight);
        wide sum = 0;
        for (u64 wanted : p.wanted_bytes)
            sum += wanted;
        if (sum > wide{in.vram_bytes} * in.steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// One step along what is wanted beyond the capacity; false: there is nothing to gain.
bool step(const instance &in, const priced &at, double gap, double scale, price_list &prices)
{
    double norm = 0;
    for (u32 s = 0; s < in.steps; s++) {
        const double over = static_cast<double>(at.wanted_bytes[s]) - static_cast<double>(in.vram_bytes);
        if (over > 0 || prices.price[s])
            norm += over * over;
    }
    if (norm == 0)
        return false;
    const double size = scale * gap / norm;
    for (u32 s = 0; s < in.steps; s++) {
        const double over = static_cast<double>(at.wanted_bytes[s]) - static_cast<double>(in.vram_bytes);
        const double next = static_cast<double>(prices.price[s]) + size * over;
        prices.price[s] = next > 0 ? static_cast<u64>(std::llround(std::min(next, 1e15))) : 0;
    }
    return true;
}

} // namespace

priced evaluate(const instance &in, const price_list &p, u32 move_weight)
{
    const ledger l(in, p, move_weight);
    std::vector<s64> difference(in.steps + 1);
    priced out{wide{in.fixed_bytes} << fraction_bits, {}};
    way w;
    for (const object &o : in.objects) {
        l.best_way(o, w);
        out.bound += w.best;
        add_wanted(l, o, w, difference);
    }
    out.wanted_bytes.resize(in.steps);
    s64 wanted = 0;
    for (u32 s = 0; s < in.steps; s++) {
        wanted += difference[s];
        out.wanted_bytes[s] = static_cast<u64>(wanted);
        out.bound -= wide{p.price[s]} * in.vram_bytes;
    }
    return out;
}

best_prices find_prices(const instance &in, u32 move_weight, u64 upper_bytes, u32 iterations)
{
    const wide upper = wide{upper_bytes} << fraction_bits;
    best_prices best{{std::vector<u64>(in.steps)}, 0, 0};
    best.bound = evaluate(in, best.prices, move_weight).bound;
    price_list at{std::vector<u64>(in.steps, flat_price(in, move_weight))};
    double scale = 1;
    for (u32 i = 0, since_better = 0; i < iterations && best.bound < upper; i++) {
        const priced p = evaluate(in, at, move_weight);
        best.iterations = i + 1;
        if (p.bound > best.bound) {
            best = {at, p.bound, i + 1};
            since_better = 0;
        } else if (++since_better == 8) {
            scale /= 2;
            since_better = 0;
            at = best.prices;
            continue;
        }
        if (!step(in, p, static_cast<double>(upper - p.bound), scale, at))
            break;
    }
    return best;
}

} // namespace vramlab::bounds
