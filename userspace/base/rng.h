// SPDX-License-Identifier: MIT
// The one source of randomness: splitmix64 (public domain, S. Vigna), in integers, the same everywhere. Seeds
// are part of a workload, so the sequence must never change: rng_test.cc pins it.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <utility>

namespace vramlab {

class rng {
public:
    explicit constexpr rng(u64 seed) : state_(seed) {}

    constexpr u64 next()
    {
        state_ += 0x9e3779b97f4a7c15;
        u64 z = state_;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    // 0 to n - 1, n not zero; the high half of a product, biased by less than n / 2^64.
    constexpr u64 below(u64 n) { return static_cast<u64>(u128{next()} * n >> 64); }

    // first to last, both included, first <= last.
    constexpr u64 between(u64 first, u64 last)
    {
        const u64 span = last - first;

        return span == ~u64{0} ? next() : first + below(span + 1);
    }

    // A stream of its own for each label, so that a draw added to one does not shift another.
    constexpr rng fork(u64 label) const
    {
        rng r(state_ ^ (label * 0xd1342543de82ef95 + 0x2545f4914f6cdd1d));

        return rng(r.next());
    }

    // Fisher-Yates over anything with size() and [].
    template <typename sequence> constexpr void shuffle(sequence &s)
    {
        for (std::size_t i = s.size(); i > 1; i--) {
            using std::swap;
            swap(s[i - 1], s[below(i)]);
        }
    }

private:
    u64 state_;
};

} // namespace vramlab
