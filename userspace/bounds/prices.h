// SPDX-License-Identifier: MIT
// The lower bound: each step's VRAM gets a price, each BO pays it for its bytes and chooses the cheapest way
// for itself (Lagrangian relaxation of the capacity; Bertsekas, Nonlinear Programming, ch. 6). For any prices
//     sum over BOs of the cheapest way - capacity * sum of prices
// is a lower bound; the best prices give that of the linear relaxation. Prices are found by subgradient
// steps, in floating point; the bound itself is computed from them in integers, so no rounding can make it
// wrong.
#pragma once

#include "bounds/instance.h"

namespace vramlab::bounds {

__extension__ typedef __int128 wide;

// Costs and prices in 1/2^20 byte.
inline constexpr u32 fraction_bits = 20;

struct price_list {
    std::vector<u64> price; // by step, for one byte during it
};

// What a BO's best way from use j on costs; in: it is in VRAM in that step.
struct way {
    std::vector<wide> in;      // by use: the step's price included, the move that brought it in not
    std::vector<wide> outside; // by use, and one beyond: before the use it is not in VRAM
    wide best = 0;             // from the BO's creation
};

// Prices summed up, to charge a BO for the steps between two uses.
class ledger {
public:
    ledger(const instance &in, const price_list &p, u32 move_weight);

    // Reuses what `out` has allocated.
    void best_way(const object &o, way &out) const;
    // To keep it from step `from` to `to`, both not included; negative: cannot be. What is pinned in `from`
    // survives an emptying right after it.
    wide keep(const object &o, u32 from, u32 to, bool pinned) const;
    wide move_in(const object &o) const { return wide{o.size_bytes} * move_weight_ << (fraction_bits - 8); }
    wide price(u32 step) const { return sum_[step + 1] - sum_[step]; }
    // From its creation until its first use.
    wide keep_from_birth(const object &o) const;
    const emptying &empties() const { return empties_; }

private:
    std::vector<wide> sum_;
    emptying empties_;
    u32 move_weight_;
};

struct priced {
    wide bound = 0;                // in 1/2^20 byte
    std::vector<u64> wanted_bytes; // by step: what the BOs' ways have in VRAM
};
priced evaluate(const instance &in, const price_list &p, u32 move_weight);

struct best_prices {
    price_list prices;
    wide bound = 0;
    u32 iterations = 0;
};
// upper_bytes: what a schedule that exists costs; steers the size of steps only. Stops when the bound reaches
// it.
best_prices find_prices(const instance &in, u32 move_weight, u64 upper_bytes, u32 iterations);

} // namespace vramlab::bounds
