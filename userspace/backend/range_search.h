// SPDX-License-Identifier: MIT
// For tests: what is in VRAM, read from the state that both backends print, and the cheapest contiguous range
// in it, found by trying all of them. Sizes and offsets are multiples of the granule.
#pragma once

#include "base/request.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace vramlab::backend {

struct placed {
    u64 size = 0;
    u32 pins = 0;
    u64 weight = 1;
    std::vector<std::pair<u64, u64>> blocks; // offset, size
};

// By tag, which is never 0.
inline std::map<u64, placed> in_vram(const std::string &state)
{
    std::map<u64, placed> all;
    std::istringstream lines(state);
    for (std::string l; std::getline(lines, l);) {
        if (!l.starts_with("bo ") || l.find(" mem vram ") == std::string::npos)
            continue;
        std::istringstream words(l);
        std::string w;
        u64 tag = 0, flags = 0, busy = 0;
        placed p;
        words >> w >> tag;
        while (words >> w) {
            if (w == "size")
                words >> p.size;
            else if (w == "pin")
                words >> p.pins;
            else if (w == "flags")
                words >> flags;
            else if (w == "busy")
                words >> busy;
            else if (const std::size_t plus = w.find('+'); plus != std::string::npos)
                p.blocks.emplace_back(std::stoull(w.substr(0, plus)), std::stoull(w.substr(plus + 1)));
        }
        p.weight = (busy ? 2 : 1) * (flags & bo_contiguous ? 4 : 1);
        all.emplace(tag, std::move(p));
    }
    return all;
}

inline bool one_range(const placed &p)
{
    for (std::size_t i = 1; i < p.blocks.size(); i++)
        if (p.blocks[i].first != p.blocks[i - 1].first + p.blocks[i - 1].second)
            return false;
    return true;
}

// Which BO a granule belongs to; 0: free.
inline std::vector<u64> granules(const std::map<u64, placed> &bos, u64 vram_size, u64 granule)
{
    std::vector<u64> owner(vram_size / granule);
    for (const auto &[tag, p] : bos)
        for (const auto &[offset, size] : p.blocks)
            std::fill_n(owner.begin() + static_cast<s64>(offset / granule), size / granule, tag);
    return owner;
}

// In granules.
inline u64 largest_hole(const std::vector<u64> &owner)
{
    u64 largest = 0, run = 0;
    for (const u64 tag : owner)
        largest = std::max(largest, run = tag ? 0 : run + 1);
    return largest;
}

// A layout that says something: 95 % full, no hole of that size, 2 to 5 % pinned.
inline bool is_tight(const std::map<u64, placed> &bos, u64 vram_size, u64 size, u64 granule)
{
    u64 used = 0, pinned = 0;
    for (const auto &[tag, p] : bos) {
        used += p.size;
        pinned += p.pins ? p.size : 0;
    }
    return used >= vram_size / 100 * 95 && pinned >= vram_size / 100 * 2 && pinned <= vram_size / 100 * 5 &&
           largest_hole(granules(bos, vram_size, granule)) < size / granule;
}

struct cheapest_range {
    u64 start = 0;
    u64 cost = 0;
    u64 bytes = 0; // of the BOs in it
};

// Every start, all of what is in the range; the lowest of those that cost least. None if pins leave none.
inline std::optional<cheapest_range> exhaustive(const std::map<u64, placed> &bos, u64 vram_size, u64 size,
                                                u64 granule)
{
    const std::vector<u64> owner = granules(bos, vram_size, granule);
    const u64 n = size / granule;
    std::optional<cheapest_range> found;
    for (u64 start = 0; start + n <= owner.size(); start++) {
        std::map<u64, const placed *> met;
        for (u64 g = start; g < start + n; g++)
            if (owner[g])
                met[owner[g]] = &bos.at(owner[g]);
        cheapest_range r{.start = start * granule};
        bool possible = true;
        for (const auto &[tag, p] : met) {
            possible = possible && !p->pins;
            r.cost += p->size * p->weight;
            r.bytes += p->size;
        }
        if (possible && (!found || r.cost < found->cost))
            found = r;
    }
    return found;
}

} // namespace vramlab::backend
