// SPDX-License-Identifier: MIT
#include "bounds/schedule.h"

#include <algorithm>

namespace vramlab::bounds {

namespace {

// Who would like to be in VRAM in this step.
struct candidate {
    u32 object;
    bool must;
    bool inside; // already: or just created, which costs no move
    wide worth;  // 1/2^20 byte
};

class scheduler {
public:
    scheduler(const instance &in, const price_list &p, u32 move_weight, schedule_log *log)
        : in_(in), log_(log), outside_from_(in.objects.size()), ledger_(in, p, move_weight),
          ways_(in.objects.size()), next_(in.objects.size()), inside_(in.objects.size()),
          pinned_(in.objects.size())
    {
        for (std::size_t i = 0; i < in.objects.size(); i++) {
            ledger_.best_way(in.objects[i], ways_[i]);
            outside_from_[i] = in.objects[i].born;
            if (!in.objects[i].uses.empty())
                by_birth_.push_back(static_cast<u32>(i));
        }
        std::stable_sort(by_birth_.begin(), by_birth_.end(),
                         [&](u32 a, u32 b) { return in.objects[a].born < in.objects[b].born; });
    }

    std::optional<traffic> run()
    {
        out_.remote_bytes = in_.fixed_bytes;
        for (u32 s = 0; s < in_.steps; s++)
            if (!step(s))
                return std::nullopt;
        return out_;
    }

private:
    const use *used_in(u32 i, u32 s) const
    {
        const object &o = in_.objects[i];
        return next_[i] < o.uses.size() && o.uses[next_[i]].step == s ? &o.uses[next_[i]] : nullptr;
    }

    // What being inside from step s on saves, its next use being later.
    wide worth_of_keeping(u32 i, u32 s) const
    {
        const object &o = in_.objects[i];
        const std::size_t j = next_[i];
        const wide k = ledger_.keep(o, s, o.uses[j].step, false);
        // Inside for this step only: nothing is saved if VRAM is emptied before the next use.
        return k < 0 ? wide{0} : ways_[i].outside[j] - k - ways_[i].in[j];
    }

    wide worth_of_use(u32 i, u32 s, const use &u, bool inside) const
    {
        const object &o = in_.objects[i];
        const std::size_t j = next_[i];
        const wide onward = ways_[i].in[j] - ledger_.price(s) * o.size_bytes;
        const wide remote = wide{u.remote_bytes} << fraction_bits;
        return remote + ways_[i].outside[j + 1] - onward - (inside ? wide{0} : ledger_.move_in(o));
    }

    void empty(u32 s)
    {
        if (!s || !ledger_.empties().between(s - 1, s))
            return;
        for (u32 i : alive_)
            if (!pinned_[i])
                inside_[i] = false;
    }

    void be_born(u32 s)
    {
        for (; born_ < by_birth_.size() && in_.objects[by_birth_[born_]].born <= s; born_++) {
            alive_.push_back(by_birth_[born_]);
            inside_[by_birth_[born_]] = true;
        }
    }

    bool step(u32 s)
    {
        empty(s);
        be_born(s);
        gather(s);
        std::stable_sort(candidates_.begin(), candidates_.end(), [&](const candidate &a, const candidate &b) {
            if (a.must != b.must)
                return a.must;
            return a.worth * in_.objects[b.object].size_bytes > b.worth * in_.objects[a.object].size_bytes;
        });
        return settle(s);
    }

    void gather(u32 s)
    {
        candidates_.clear();
        std::erase_if(alive_, [&](u32 i) { return next_[i] == in_.objects[i].uses.size(); });
        for (u32 i : alive_) {
            const use *u = used_in(i, s);
            if (u && u->remote_bytes == must_be_in_vram)
                candidates_.push_back({i, true, inside_[i], 0});
            else if (u)
                candidates_.push_back({i, false, inside_[i], worth_of_use(i, s, *u, inside_[i])});
            else if (inside_[i])
                candidates_.push_back({i, false, true, worth_of_keeping(i, s)});
        }
    }

    bool settle(u32 s)
    {
        u64 left = in_.vram_bytes;
        for (const candidate &c : candidates_) {
            const object &o = in_.objects[c.object];
            // What is inside stays while there is room; prices may be too high.
            const bool in = (c.must || c.inside || c.worth > 0) && o.size_bytes <= left;
            if (c.must && !in)
                return false;
            if (in) {
                left -= o.size_bytes;
                out_.moved_in_bytes += c.inside ? 0 : o.size_bytes;
            }
            const use *u = used_in(c.object, s);
            if (u && !in)
                out_.remote_bytes += u->remote_bytes;
            if (log_ && (in ? !c.inside : u != nullptr))
                log_->entries.push_back({s, c.object, outside_from_[c.object], in});
            if (in || u)
                outside_from_[c.object] = s + 1;
            inside_[c.object] = in;
            pinned_[c.object] = c.must;
            next_[c.object] += u != nullptr;
        }
        if (log_)
            log_->vram_bytes.push_back(in_.vram_bytes - left);
        return true;
    }

    const instance &in_;
    schedule_log *log_;
    std::vector<u32> outside_from_; // by object: the first step after its last in VRAM, or its last use
    ledger ledger_;
    std::vector<way> ways_;
    std::vector<std::size_t> next_; // by object: its next use
    std::vector<bool> inside_;
    std::vector<bool> pinned_; // in the step before
    std::vector<u32> by_birth_, alive_;
    std::size_t born_ = 0;
    std::vector<candidate> candidates_;
    traffic out_;
};

} // namespace

wide weighed(const traffic &t, u32 move_weight)
{
    return wide{t.moved_in_bytes} * move_weight + wide{t.remote_bytes} * move_weight_one;
}

std::optional<traffic> schedule(const instance &in, const price_list &p, u32 move_weight, schedule_log *log)
{
    return scheduler(in, p, move_weight, log).run();
}

} // namespace vramlab::bounds
