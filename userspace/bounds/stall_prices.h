// SPDX-License-Identifier: MIT
// The lower bound on the stall: as that on traffic (prices.h), with weights of each window's facets beside
// the price of VRAM. A BO's way now also says in which window it is copied: in that of its use, which delays
// the job, or in one before, where it takes up VRAM beside what the job there uses.
#pragma once

#include "bounds/facets.h"

namespace vramlab::bounds {

struct stall_prices {
    price_list vram;
    std::vector<facet_weights> weights; // by window; each adds up to weight_one
};

struct priced_stall {
    wide bound = 0;                // in 1/2^20 byte over the link
    std::vector<u64> wanted_bytes; // by window: what the BOs' ways have in VRAM
    std::vector<window_load> loads;
};
// Any prices give a bound.
priced_stall evaluate(const stall_instance &in, const std::vector<window_shape> &shapes,
                      const stall_prices &p);

// All windows alike: shares of the last facet (the link), and of the plain one with copies before the job.
stall_prices even_prices(const stall_instance &in, const std::vector<window_shape> &shapes, u32 link,
                         u32 now);

struct best_stall_prices {
    stall_prices prices;
    wide bound = 0;
};
// upper: what a schedule costs; steers the size of steps only. Stops when the bound reaches it.
best_stall_prices find_stall_prices(const stall_instance &in, const std::vector<window_shape> &shapes,
                                    wide upper, u32 iterations);

} // namespace vramlab::bounds
