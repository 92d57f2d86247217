// SPDX-License-Identifier: MIT
#include "gputrace/device_clock.h"

namespace vramlab::gputrace {

void device_clock::tell(u64 time_ns)
{
    told_++;
    if (time_ns < now_ns_)
        went_back_++;
    else
        now_ns_ = time_ns;
}

bool device_clock::next(trace::record &r)
{
    if (!in_->next(r))
        return false;
    if (r.format->id >= kinds_.size())
        kinds_.resize(r.format->id + std::size_t{1});
    kind &k = kinds_[r.format->id];
    if (k == kind::unknown)
        k = r.format->name.starts_with("vttm_") && r.format->find("time_ns") ? kind::timed : kind::other;
    if (k == kind::timed)
        if (const std::optional<u64> t = r.number("time_ns"))
            tell(*t);
    r.time_ns = now_ns_;
    return true;
}

} // namespace vramlab::gputrace
