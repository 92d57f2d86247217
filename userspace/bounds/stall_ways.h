// SPDX-License-Identifier: MIT
// A BO's cheapest way through all windows at given prices. Internal to the lower bound on the stall.
#pragma once

#include "bounds/stall_prices.h"

namespace vramlab::bounds {

class stall_ways {
public:
    stall_ways(const stall_instance &in, const std::vector<window_shape> &shapes, const stall_prices &p);

    // Adds the cheapest way of each BO in turn.
    void add(const stall_object &o, priced_stall &to);
    void finish(priced_stall &to) const;

private:
    enum class step_kind : u8 { remote, now, early };
    struct choice {
        wide in = 0;      // from use j on, being in VRAM in its window: that price included
        wide outside = 0; // from use j on, not being there before
        u32 early_at = 0;
        step_kind how{};
        bool keep = false; // from use j to the next
    };

    void choose(const stall_object &o);
    void choose_outside(const stall_object &o, std::size_t j, wide leave);
    void walk(const stall_object &o, bool born_in, priced_stall &to);
    wide held(u32 from, u32 to, u64 bytes) const
    {
        return (sum_[to] - sum_[from]) * bytes;
    } // to not included
    wide absent_units(const stall_use &u) const;
    u32 cheapest(u32 first, u32 end) const; // window to copy in early, of those from first to before end
    void make_table();

    const stall_instance &in_;
    std::vector<window_prices> prices_;
    std::vector<wide> sum_;           // of VRAM's prices
    std::vector<u32> emptied_before_; // by window: the last before it or at its begin, 0 for none
    emptying empties_;
    std::vector<std::vector<u32>> least_; // by power of two: the cheapest window of so many from each on
    std::vector<choice> choices_;
    std::vector<s64> difference_; // of bytes wanted, between windows
};

} // namespace vramlab::bounds
