// SPDX-License-Identifier: MIT
// Who throws whom out, again and again. A round trip: a BO is evicted for another process (or the system) and
// is back in VRAM within a second. A BO ping-pongs if it makes at least two.
#pragma once

#include "base/types.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace vramlab::report {

class ping_pong {
public:
    static constexpr u64 limit_ns = ns_per_s;
    static constexpr u64 trips_min = 2;

    // owner's BO came back; it had been evicted for evictor, which wanted room for a BO that is scanned out,
    // or not.
    void round_trip(u64 bo, u64 size_bytes, u32 owner, u32 evictor, bool for_scanout);

    struct pair_row {
        u32 owner = 0;
        u32 evictor = 0; // 0: the system
        bool for_scanout = false;
        u64 bos = 0;
        u64 round_trips = 0;
        u64 moved_bytes = 0; // both ways
    };
    // Of ping-ponging BOs, most traffic first.
    std::vector<pair_row> pairs() const;

    struct bo_row {
        u64 bo = 0;
        u32 owner = 0;
        u64 size_bytes = 0;
        u64 round_trips = 0;
        u64 for_scanout = 0; // of these
    };
    // Ping-ponging BOs, most traffic first, at most `limit`.
    std::vector<bo_row> bos(std::size_t limit = ~std::size_t{0}) const;

    u64 round_trips() const; // of ping-ponging BOs
    u64 bo_count() const;

private:
    struct record {
        u64 size_bytes = 0;
        u32 owner = 0;
        u64 round_trips = 0;
        std::map<std::pair<u32, bool>, u64> by_cause; // (evictor, for scanout) -> round trips
    };
    std::unordered_map<u64, record> bos_;
};

} // namespace vramlab::report
