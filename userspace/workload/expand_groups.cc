// SPDX-License-Identifier: MIT
#include "workload/expand_groups.h"

#include "workload/limits.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace vramlab::workload {

namespace {

u64 draw_size(const size_distribution &d, rng &random)
{
    switch (d.kind) {
    case size_kind::fixed:
        return d.min_bytes;
    case size_kind::uniform:
        return random.between(d.min_bytes, d.max_bytes);
    case size_kind::list:
        return d.values_bytes[random.below(d.values_bytes.size())];
    case size_kind::log_uniform:
        break;
    }
    // Integers only: an octave first, then uniformly within it; the last octave may be a partial one.
    u32 octaves = 1;

    while (d.min_bytes << octaves < d.max_bytes)
        octaves++;
    const u64 first = d.min_bytes << random.below(octaves);

    return random.between(first, std::min(d.max_bytes, first * 2 - 1));
}

void draw_sizes(drawn_group &g, const scenario &s, u64 max_count)
{
    const group_config &c = *g.config;
    rng random = g.random.fork(1);
    const u64 total = c.count ? ~u64{0} : scaled_size(c.total_bytes, s.scale);
    u64 sum = 0;

    while (c.count ? g.count() < c.count : sum < total) {
        if (g.count() == max_count)
            throw parse_error(s.file, c.line, fmt::format("group \"{}\" has too many BOs", c.name),
                              fmt::format("at most {} in the scenario", bo_max));
        const u64 size = std::min(scaled_size(draw_size(c.size, random), s.scale), total - sum);

        g.sizes_bytes.push_back(size);
        sum += size;
    }
}

} // namespace

u64 scaled_size(u64 bytes, u32 scale)
{
    const u64 scaled = bytes / scale + (bytes % scale != 0);

    return std::max(page_bytes, (scaled + page_bytes - 1) / page_bytes * page_bytes);
}

drawn_group draw_group(const group_config &config, const rng &random, const scenario &s, u64 max_count)
{
    drawn_group g;

    g.config = &config;
    g.random = random;
    draw_sizes(g, s, max_count);
    g.creation.resize(g.count());
    std::iota(g.creation.begin(), g.creation.end(), 0);
    g.ranks = g.creation;
    if (config.order == creation_order::reverse)
        std::reverse(g.creation.begin(), g.creation.end());
    if (config.order == creation_order::shuffled)
        g.random.fork(2).shuffle(g.creation);
    if (config.rank == rank_kind::created)
        g.ranks = g.creation;
    else
        g.random.fork(3).shuffle(g.ranks);
    return g;
}

std::vector<u32> touched_bos(const drawn_group &g, u64 frame)
{
    const group_config &c = *g.config;
    const u64 n = g.count();
    const u64 k = c.touch_by_count ? std::min<u64>(c.touch_count, n) : (n * c.touch_per_mille + 999) / 1000;
    std::vector<u32> bos;

    bos.reserve(k);
    if (c.random) {
        std::vector<u32> pool = g.ranks;
        rng random = g.random.fork(4).fork(frame);

        for (u64 i = 0; i < k; i++) {
            std::swap(pool[i], pool[i + random.below(n - i)]);
            bos.push_back(pool[i]);
        }
        return bos;
    }
    const u64 drift = c.drift_every ? frame / c.drift_every * c.drift_by % n : 0;

    for (u64 rank = 0; rank < k; rank++)
        bos.push_back(g.ranks[(rank + drift) % n]);
    return bos;
}

touch touch_of(const drawn_group &g, u32 bo, u32 rank)
{
    const group_config &c = *g.config;
    u64 bytes = g.sizes_bytes[bo] * c.touch_bytes_per_mille / 1000;

    for (u32 i = 0; i < c.skew; i++)
        bytes /= u64{rank} + 1;
    const u64 missed = bytes * (1000 - c.l2_per_mille) / 1000;

    return {g.tag(bo), missed * (1000 - c.msc_per_mille) / 1000, missed};
}

} // namespace vramlab::workload
