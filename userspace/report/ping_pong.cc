// SPDX-License-Identifier: MIT
#include "report/ping_pong.h"

#include <algorithm>

namespace vramlab::report {

void ping_pong::round_trip(u64 bo, u64 size_bytes, u32 owner, u32 evictor, bool for_scanout)
{
    record &r = bos_[bo];
    r.size_bytes = size_bytes;
    r.owner = owner;
    r.round_trips++;
    r.by_cause[{evictor, for_scanout}]++;
}

std::vector<ping_pong::pair_row> ping_pong::pairs() const
{
    std::map<std::tuple<u32, u32, bool>, pair_row> rows;
    for (const auto &[bo, r] : bos_) {
        if (r.round_trips < trips_min)
            continue;
        for (const auto &[cause, trips] : r.by_cause) {
            pair_row &row = rows[{r.owner, cause.first, cause.second}];
            row.owner = r.owner;
            row.evictor = cause.first;
            row.for_scanout = cause.second;
            row.bos++;
            row.round_trips += trips;
            row.moved_bytes += 2 * trips * r.size_bytes;
        }
    }
    std::vector<pair_row> out;
    for (const auto &[key, row] : rows)
        out.push_back(row);
    std::stable_sort(out.begin(), out.end(),
                     [](const pair_row &a, const pair_row &b) { return a.moved_bytes > b.moved_bytes; });
    return out;
}

std::vector<ping_pong::bo_row> ping_pong::bos(std::size_t limit) const
{
    std::vector<bo_row> out;
    for (const auto &[bo, r] : bos_) {
        if (r.round_trips < trips_min)
            continue;
        bo_row row{bo, r.owner, r.size_bytes, r.round_trips, 0};
        for (const auto &[cause, trips] : r.by_cause)
            row.for_scanout += cause.second ? trips : 0;
        out.push_back(row);
    }
    std::sort(out.begin(), out.end(), [](const bo_row &a, const bo_row &b) {
        return std::tuple(b.round_trips * b.size_bytes, a.bo) <
               std::tuple(a.round_trips * a.size_bytes, b.bo);
    });
    if (out.size() > limit)
        out.resize(limit);
    return out;
}

u64 ping_pong::round_trips() const
{
    u64 n = 0;
    for (const auto &[bo, r] : bos_)
        n += r.round_trips >= trips_min ? r.round_trips : 0;
    return n;
}

u64 ping_pong::bo_count() const
{
    u64 n = 0;
    for (const auto &[bo, r] : bos_)
        n += r.round_trips >= trips_min;
    return n;
}

} // namespace vramlab::report
