// SPDX-License-Identifier: MIT
// Models amdgpu_ttm.c of 7.3.4: what TTM asks its driver for (where to evict to, how to move), and the copy
// engine's jobs. Omits: GART windows, splitting of large copies (one job copies a BO), memcpy as a fallback,
// wiping.
#pragma once

#include "driver/bo.h"

namespace vramlab::driver {

extern const kmd::ttm_device_funcs vttm_bo_driver;

// A fill of a BO in VRAM on the copy engine, behind all fences of its resv, where its own fence is added as
// the kernel's. The resv is held, with a slot reserved.
void vttm_fill(vttm_device &dev, vttm_bo &bo);

} // namespace vramlab::driver
