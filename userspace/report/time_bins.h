// SPDX-License-Identifier: MIT
// Amounts over time in a bounded number of bins, of a run whose length is not known beforehand: when there
// are too many, each pair becomes one of twice the width. Integers only, so the same run has the same bins.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <vector>

namespace vramlab::report {

class time_bins {
public:
    static constexpr u64 first_width_ns = ns_per_us;

    // rows: of amounts that are summed up, at least one; bins_max: from 2.
    explicit time_bins(std::size_t rows, std::size_t bins_max = 400);

    // A moment's. Times may come in any order, up to 2^62 ns.
    void add(std::size_t row, u64 at_ns, u64 amount);
    // Evenly from begin_ns to end_ns (at begin_ns if that is not later); the sum over the bins is exact.
    void spread(std::size_t row, u64 begin_ns, u64 end_ns, u64 amount);

    u64 width_ns() const { return width_ns_; }
    std::size_t bins() const { return bins_; }
    u64 value(std::size_t row, std::size_t bin) const { return rows_[row][bin]; }
    u64 sum(std::size_t row) const;
    // As many bins as a run of that length has; empty ones are added, none is taken away.
    void extend_to(u64 end_ns);

private:
    std::size_t bin_of(u64 at_ns); // makes it if need be

    std::vector<std::vector<u64>> rows_;
    std::size_t bins_ = 0;
    std::size_t bins_max_;
    u64 width_ns_ = first_width_ns;
};

// Levels over time, likewise: what holds at the end of each bin, and the highest that held in it.
class time_levels {
public:
    explicit time_levels(std::size_t rows, std::size_t bins_max = 400);

    // From at_ns on the row has this level. Times of all rows together must not decrease.
    void set(std::size_t row, u64 at_ns, u64 level);
    u64 level(std::size_t row) const { return rows_[row].now; }

    u64 width_ns() const { return width_ns_; }
    std::size_t bins() const { return bins_; }
    u64 at_end(std::size_t row, std::size_t bin) const { return rows_[row].end[bin]; }
    u64 highest(std::size_t row, std::size_t bin) const { return rows_[row].high[bin]; }
    // Once, after the last set().
    void extend_to(u64 end_ns) { go_to(end_ns); }

private:
    struct row_data {
        std::vector<u64> end, high;
        u64 now = 0;
    };
    void go_to(u64 at_ns);
    void halve();

    std::vector<row_data> rows_;
    std::size_t bins_ = 0;
    std::size_t bins_max_;
    u64 width_ns_ = time_bins::first_width_ns;
};

} // namespace vramlab::report
