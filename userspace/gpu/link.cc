// SPDX-License-Identifier: MIT
#include "gpu/link.h"

#include <algorithm>
#include <stdexcept>

namespace vramlab::gpu {

u32 link::add(link_user &user)
{
    if (users_ == users_max)
        throw std::logic_error("link: too many users");
    transfers_[users_].user = &user;
    return users_++;
}

namespace {

bool under_way(u64 begin_ns, u64 left, u64 now_ns)
{
    return left && begin_ns <= now_ns;
}

} // namespace

// How much of its work a transfer that is under way gets done in a nanosecond.
u64 link::sixths(const transfers &all, const transfer &t, u64 now_ns)
{
    const auto sharing = std::count_if(all.begin(), all.end(), [&](const transfer &other) {
        return other.direction == t.direction && under_way(other.begin_ns, other.left, now_ns);
    });
    return 6 / static_cast<u64>(sharing);
}

// Goes on to where a transfer begins or ends next, at most to limit_ns. Returns that time.
u64 link::step(transfers &all, u64 now_ns, u64 limit_ns)
{
    std::array<u64, users_max> rate{};
    u64 next_ns = limit_ns;
    for (u32 i = 0; i < users_max; i++) {
        const transfer &t = all[i];
        if (!t.left)
            continue;
        if (under_way(t.begin_ns, t.left, now_ns))
            rate[i] = sixths(all, t, now_ns);
        next_ns = std::min(next_ns, rate[i] ? now_ns + (t.left + rate[i] - 1) / rate[i] : t.begin_ns);
    }
    for (u32 i = 0; i < users_max; i++)
        if (rate[i])
            all[i].left -= std::min(all[i].left, (next_ns - now_ns) * rate[i]);
    return next_ns;
}

void link::foresee()
{
    transfers all = transfers_;
    u64 now_ns = now_ns_;
    while (std::any_of(all.begin(), all.end(), [](const transfer &t) { return t.left; })) {
        const transfers before = all;
        now_ns = step(all, now_ns, never_ns);
        for (u32 i = 0; i < users_max; i++) {
            if (all[i].left || !before[i].left || transfers_[i].end_ns == now_ns)
                continue;
            transfers_[i].end_ns = now_ns;
            transfers_[i].user->transfer_will_end(now_ns);
        }
    }
}

void link::begin(u32 user, u64 now_ns, u64 begin_ns, u64 work_ns, link_direction direction)
{
    while (now_ns_ < now_ns)
        now_ns_ = step(transfers_, now_ns_, now_ns);
    transfer &t = transfers_.at(user);
    if (t.left || begin_ns < now_ns || now_ns < now_ns_ || !work_ns || direction == link_direction::none)
        throw std::logic_error("link: a transfer that cannot begin");
    t.begin_ns = begin_ns;
    t.left = 6 * work_ns;
    t.direction = direction;
    t.end_ns = never_ns; // is told in any case
    foresee();
}

} // namespace vramlab::gpu
