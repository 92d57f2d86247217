// SPDX-License-Identifier: MIT
// How long a window must be, as the largest of a few sums ("facets"). All in 1/2^20 byte over the link: a
// time is what the link could carry meanwhile.
//
// Weights of the facets of a window that add up to no more than 1 make one sum of them, which is a lower
// bound of the window's time, linear in what a policy decides: that is what the bound prices.
#pragma once

#include "bounds/prices.h"
#include "bounds/stall_instance.h"

#include <array>

namespace vramlab::bounds {

// What a policy's decisions put into a window, in 1/2^20 byte.
struct window_load {
    wide remote = 0; // read over the link, without what always is
    wide absent = 0; // the time that the same reads would take in VRAM
    wide now = 0;    // copied into VRAM for this window's job: before it starts
    wide early = 0;  // copied into VRAM for later ones, beside what this job uses
};

// constant + remote * remote + ... with factors 0 or 1 (absent: -1). Over the window with all in VRAM.
struct facet {
    wide constant = 0;
    bool remote = false, absent = false, now = false, early = false;

    wide value(const window_load &l) const
    {
        return constant + (remote ? l.remote : 0) - (absent ? l.absent : 0) + (now ? l.now : 0) +
               (early ? l.early : 0);
    }
};

inline constexpr std::size_t facets_max = 7;

struct window_shape {
    std::array<facet, facets_max> facets;
    std::size_t count = 0;
    std::size_t plain = 0; // the one that counts when all is in VRAM: constant 0

    wide longest(const window_load &l) const; // the window's time over that with all in VRAM
};

// Time and traffic in the unit of this file.
wide link_units(u64 ns, u64 link_bandwidth);                                // rounded down
wide vram_units_up(u64 vram_bytes, u64 vram_bandwidth, u64 link_bandwidth); // rounded up
u64 whole_ns_up(wide units, u64 link_bandwidth);                            // of what is not negative
std::vector<window_shape> shapes_of(const stall_instance &in);

// Weights in 1/2^20.
inline constexpr u32 weight_one = 1u << fraction_bits;
using facet_weights = std::array<u32, facets_max>;

// What the weights make of a window's decisions: prices of a byte, in 1/2^20.
struct window_prices {
    u32 remote = 0, absent = 0, now = 0, early = 0;
    wide constant = 0;
};
window_prices prices_of(const window_shape &s, const facet_weights &w);

} // namespace vramlab::bounds
