/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_BUDGET_H_
#define _VTTM_BUDGET_H_

#include <linux/spinlock.h>
#include <linux/types.h>

struct vttm_device;

/**
 * struct vttm_budget - How much submissions may move, as amdgpu's mm_stats
 *
 * The currency is time: it accumulates with device time, up to a limit, and
 * moved bytes cost the time that they take at the configured rate.
 */
struct vttm_budget {
	/** @lock: Protects the rest. */
	spinlock_t lock;
	/** @accum_us: Accumulated time; negative while in debt. */
	s64 accum_us;
	/** @last_us: Device time of the last update. */
	s64 last_us;
};

void vttm_budget_init(struct vttm_budget *budget);
u64 vttm_budget_get_threshold(struct vttm_device *vdev);
void vttm_budget_report_moved(struct vttm_device *vdev, u64 bytes);

#endif
