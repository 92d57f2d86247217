// SPDX-License-Identifier: MIT
// The numbers by which events name engines and kinds of jobs (see events/event.h, job_start).
#pragma once

#include "base/types.h"

namespace vramlab::report {

inline constexpr u64 engine_gfx = 0;
inline constexpr u64 engine_copy = 1;

inline constexpr u8 job_kind_job = 0; // a submission; fills have the third kind
inline constexpr u8 job_kind_copy = 1;

} // namespace vramlab::report
