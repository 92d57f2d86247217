// SPDX-License-Identifier: MIT
#include "fuzz/state_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

namespace vramlab::fuzz {

namespace {

using words = std::vector<std::string_view>;

words split(std::string_view s, char separator)
{
    words out;
    while (!s.empty()) {
        const std::size_t end = s.find(separator);
        if (end)
            out.push_back(s.substr(0, end));
        s = end == std::string_view::npos ? std::string_view{} : s.substr(end + 1);
    }
    return out;
}

u64 number(std::string_view s)
{
    u64 n = 0;
    std::from_chars(s.data(), s.data() + s.size(), n);
    return n;
}

struct range {
    u64 begin = 0, size = 0;
};

range range_of(std::string_view s)
{
    const std::size_t plus = s.find('+');
    return {number(s.substr(0, plus)), number(s.substr(plus + 1))};
}

struct bo {
    u64 size = 0;
    std::string mem;
    std::string vm;
    u64 pins = 0;
    std::vector<range> places;
    u32 listed = 0; // times on LRU lists
};

class checker {
public:
    checker(std::string_view text, const state_check_options &o) : o_(o)
    {
        for (std::string_view line : split(text, '\n'))
            read(split(line, ' '));
    }
    std::string check();

private:
    void read(const words &w);
    void read_bo(const words &w);
    void read_lru(const words &w);
    void check_blocks();
    void check_bos();
    void check_usage();
    void check_charges();
    template <typename... Args> void wrong(fmt::format_string<Args...> f, Args &&...args)
    {
        if (problem_.empty())
            problem_ = fmt::format(f, std::forward<Args>(args)...);
    }

    const state_check_options &o_;
    std::string problem_;
    std::map<std::string, u64, std::less<>> size_, usage_; // by manager
    std::vector<range> free_;
    std::map<u64, bo> bos_;
    std::map<std::string, u64, std::less<>> dead_; // bytes of ghosts and zombies, by list
    std::set<u64> zombies_;
    std::map<std::string, u64, std::less<>> charges_;
    u64 pinned_bytes_ = 0;
    std::vector<std::pair<std::string, u64>> evicted_; // vm, tag
};

void checker::read_bo(const words &w)
{
    bo b;
    std::size_t i = 2;
    for (; i + 1 < w.size() && w[i] != "place"; i += 2) {
        if (w[i] == "vm")
            b.vm = w[i + 1];
        else if (w[i] == "size")
            b.size = number(w[i + 1]);
        else if (w[i] == "mem")
            b.mem = w[i + 1];
    }
    for (i++; i < w.size() && w[i].find('+') != std::string_view::npos; i++)
        b.places.push_back(range_of(w[i]));
    if (i + 1 < w.size() && w[i] == "pin")
        b.pins = number(w[i + 1]);
    if (!bos_.emplace(number(w[1]), b).second)
        wrong("BO {} is there twice", w[1]);
}

void checker::read_lru(const words &w)
{
    const std::string list(w[1]);
    for (std::size_t i = list == "unevictable" ? 2 : 3; i < w.size(); i++) {
        if (w[i].starts_with("ghost:")) {
            dead_[list] += number(w[i].substr(6));
        } else if (w[i].starts_with("zombie:")) {
            const u64 tag = number(w[i].substr(7));
            if (!zombies_.insert(tag).second)
                wrong("zombie {} is on LRU lists twice", tag);
            const auto it = o_.bo_sizes.find(tag);
            dead_[list] += it == o_.bo_sizes.end() ? 0 : it->second;
        } else {
            const auto it = bos_.find(number(w[i]));
            if (it == bos_.end()) {
                wrong("{} is on list {} and no BO", w[i], list);
                continue;
            }
            bo &b = it->second;
            if (b.listed++)
                wrong("BO {} is on LRU lists twice", w[i]);
            if (list != "unevictable" && list != b.mem)
                wrong("BO {} is in {} and on the list of {}", w[i], b.mem, list);
            if (list != "unevictable" && b.pins && o_.at_rest)
                wrong("BO {} is pinned and can be evicted", w[i]);
        }
    }
}

void checker::read(const words &w)
{
    if (w.empty())
        return;
    if (w[0] == "mgr" && w.size() >= 6) {
        size_[std::string(w[1])] = number(w[3]);
        usage_[std::string(w[1])] = number(w[5]);
    } else if (w[0] == "free") {
        for (std::size_t i = 1; i < w.size(); i++)
            free_.push_back(range_of(w[i]));
    } else if (w[0] == "budget") {
        pinned_bytes_ = number(w.back());
    } else if (w[0] == "bo") {
        read_bo(w);
    } else if (w[0] == "lru") {
        read_lru(w);
    } else if (w[0] == "vm") {
        for (std::size_t i = 5; i < w.size(); i++)
            evicted_.emplace_back(std::string(w[1]), number(w[i]));
    } else if (w[0] == "charge" && w.size() == 3) {
        charges_[std::string(w[1])] = number(w[2]);
    }
}

// Free blocks and those of BOs are disjoint and inside of VRAM.
void checker::check_blocks()
{
    std::vector<range> all = free_;
    u64 free_bytes = 0;
    for (const range &r : free_)
        free_bytes += r.size;
    for (const auto &[tag, b] : bos_) {
        u64 placed = 0;
        for (const range &r : b.places) {
            all.push_back(r);
            placed += r.size;
        }
        if (b.mem == "vram" && placed != b.size)
            wrong("BO {} of {} bytes has {} in VRAM", tag, b.size, placed);
    }
    std::sort(all.begin(), all.end(), [](const range &a, const range &b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i + 1 < all.size(); i++)
        if (all[i].begin + all[i].size > all[i + 1].begin)
            wrong("VRAM {}+{} and {}+{} overlap", all[i].begin, all[i].size, all[i + 1].begin,
                  all[i + 1].size);
    if (!all.empty() && all.back().begin + all.back().size > size_["vram"])
        wrong("VRAM {}+{} is outside of {}", all.back().begin, all.back().size, size_["vram"]);
    if (free_bytes + usage_["vram"] != size_["vram"] && o_.at_rest)
        wrong("VRAM: {} free and {} used of {}", free_bytes, usage_["vram"], size_["vram"]);
}

void checker::check_bos()
{
    u64 pinned = 0;
    for (const auto &[tag, b] : bos_) {
        if (b.pins)
            pinned += b.size;
        if (b.pins && b.mem != "vram")
            wrong("BO {} is pinned in {}", tag, b.mem);
        if (zombies_.contains(tag))
            wrong("BO {} is a zombie too", tag);
        if (o_.at_rest && b.listed != (b.mem != "none"))
            wrong("BO {} in {} is on {} LRU lists", tag, b.mem, b.listed);
    }
    if (o_.at_rest && pinned != pinned_bytes_)
        wrong("{} bytes are pinned and {} counted", pinned, pinned_bytes_);
    for (const auto &[vm, tag] : evicted_) {
        const auto it = bos_.find(tag);
        if (it == bos_.end() || it->second.vm != vm)
            wrong("BO {} is on the evicted list of VM {} and not its own", tag, vm);
    }
}

// What a manager says is used is what BOs, ghosts and zombies have. Dead ones on the unevictable list (an
// unpinned BO of a bulk move stays there until its VM submits) do not show where they are.
void checker::check_usage()
{
    u64 unknown = dead_["unevictable"];
    for (const char *mem : {"vram", "gtt"}) {
        u64 sum = dead_[mem];
        for (const auto &[tag, b] : bos_)
            sum += b.mem == mem ? b.size : 0;
        const u64 usage = usage_[mem];
        if (usage < sum || usage - sum > unknown)
            wrong("{}: usage {}, but BOs, ghosts and zombies have {}", mem, usage, sum);
        else
            unknown -= usage - sum;
        if (usage > size_[mem] && std::string_view(mem) == "vram")
            wrong("{}: usage {} of {}", mem, usage, size_[mem]);
    }
}

// A cgroup has what its children have, or more; together they have no more than there is.
void checker::check_charges()
{
    std::map<std::string, u64, std::less<>> children;
    u64 top = 0;
    for (const auto &[path, bytes] : charges_) {
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos)
            top += bytes;
        else
            children[path.substr(0, slash)] += bytes;
    }
    for (const auto &[path, bytes] : children)
        if (bytes > charges_[path])
            wrong("cgroup {} has {} and its children {}", path, charges_[path], bytes);
    if (charges_.empty())
        return;
    if (o_.all_charged ? top != usage_["vram"] : top > usage_["vram"])
        wrong("charges add up to {}, usage of VRAM is {}", top, usage_["vram"]);
}

std::string checker::check()
{
    check_blocks();
    check_bos();
    if (o_.at_rest) {
        check_usage();
        check_charges();
    }
    return problem_;
}

} // namespace

std::string check_state(std::string_view text, const state_check_options &o)
{
    return checker(text, o).check();
}

} // namespace vramlab::fuzz
