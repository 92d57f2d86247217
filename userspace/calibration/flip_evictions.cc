// SPDX-License-Identifier: MIT
#include "calibration/flip_evictions.h"

#include "base/request.h"

#include <algorithm>
#include <string_view>

namespace vramlab::calibration {

using events::event_type;

void flip_evictions::record(const events::event &e)
{
    switch (e.type) {
    case event_type::op_begin:
        if (std::string_view(e.where) == "flip")
            bytes_[e.process] = 0;
        break;
    case event_type::move:
        if (const auto flip = bytes_.find(e.process);
            flip != bytes_.end() && e.flag && e.a == domain_vram && e.b != domain_vram)
            flip->second += e.c;
        break;
    case event_type::op_end:
        if (const auto flip = bytes_.find(e.process); flip != bytes_.end()) {
            most_bytes_ = std::max(most_bytes_, flip->second);
            bytes_.erase(flip);
        }
        break;
    default:
        break;
    }
}

} // namespace vramlab::calibration
