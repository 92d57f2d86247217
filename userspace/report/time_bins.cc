// SPDX-License-Identifier: MIT
#include "report/time_bins.h"

#include <algorithm>
#include <numeric>

namespace vramlab::report {

time_bins::time_bins(std::size_t rows, std::size_t bins_max)
    : rows_(rows), bins_max_(std::max<std::size_t>(bins_max, 2))
{
}

std::size_t time_bins::bin_of(u64 at_ns)
{
    while (at_ns / width_ns_ >= bins_max_) {
        for (std::vector<u64> &row : rows_) {
            for (std::size_t i = 0; i < row.size(); i += 2)
                row[i / 2] = row[i] + (i + 1 < row.size() ? row[i + 1] : 0);
            row.resize((row.size() + 1) / 2);
        }
        bins_ = (bins_ + 1) / 2;
        width_ns_ *= 2;
    }
    const std::size_t bin = at_ns / width_ns_;
    if (bin >= bins_) {
        bins_ = bin + 1;
        for (std::vector<u64> &row : rows_)
            row.resize(bins_);
    }
    return bin;
}

void time_bins::add(std::size_t row, u64 at_ns, u64 amount)
{
    const std::size_t bin = bin_of(at_ns);
    rows_[row][bin] += amount;
}

void time_bins::spread(std::size_t row, u64 begin_ns, u64 end_ns, u64 amount)
{
    if (end_ns <= begin_ns) {
        add(row, begin_ns, amount);
        return;
    }
    bin_of(end_ns - 1); // from here on the width stays
    const u64 duration_ns = end_ns - begin_ns;
    u64 given = 0;
    for (std::size_t bin = begin_ns / width_ns_; given < amount; bin++) {
        const u64 until_ns = std::min(end_ns, (bin + 1) * width_ns_);
        const u64 due = static_cast<u64>(u128{amount} * (until_ns - begin_ns) / duration_ns);
        rows_[row][bin] += due - given;
        given = due;
    }
}

u64 time_bins::sum(std::size_t row) const
{
    return std::accumulate(rows_[row].begin(), rows_[row].end(), u64{0});
}

void time_bins::extend_to(u64 end_ns)
{
    if (end_ns)
        bin_of(end_ns - 1);
}

time_levels::time_levels(std::size_t rows, std::size_t bins_max)
    : rows_(rows), bins_max_(std::max<std::size_t>(bins_max, 2))
{
}

void time_levels::halve()
{
    for (row_data &row : rows_) {
        for (std::size_t i = 0; i < bins_; i += 2) {
            const std::size_t last = std::min(i + 1, bins_ - 1);
            row.end[i / 2] = row.end[last];
            row.high[i / 2] = std::max(row.high[i], row.high[last]);
        }
        row.end.resize((bins_ + 1) / 2);
        row.high.resize((bins_ + 1) / 2);
    }
    bins_ = (bins_ + 1) / 2;
    width_ns_ *= 2;
}

// Makes all bins up to that of at_ns, with the levels that hold until then.
void time_levels::go_to(u64 at_ns)
{
    while (at_ns / width_ns_ >= bins_max_)
        halve();
    const std::size_t bins = std::max<std::size_t>(bins_, at_ns / width_ns_ + 1);
    for (row_data &row : rows_) {
        row.end.resize(bins, row.now);
        row.high.resize(bins, row.now);
    }
    bins_ = bins;
}

void time_levels::set(std::size_t row, u64 at_ns, u64 level)
{
    go_to(at_ns);
    row_data &r = rows_[row];
    r.now = level;
    r.end.back() = level;
    r.high.back() = std::max(r.high.back(), level);
}

} // namespace vramlab::report
