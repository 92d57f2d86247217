// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/time64.h>

#include <drm/ttm/ttm_resource.h>

#include "vttm_drv.h"

/* No more than this accumulates, as in amdgpu_cs_get_threshold_for_moves(). */
#define VTTM_BUDGET_MAX_US	200000

static u64 us_to_bytes(const struct vttm_config *config, s64 us)
{
	return us > 0 ? (u64)us << config->log2_max_mbps : 0;
}

static s64 bytes_to_us(const struct vttm_config *config, u64 bytes)
{
	return config->log2_max_mbps ? bytes >> config->log2_max_mbps : 0;
}

/**
 * vttm_budget_init() - Start with nothing
 * @budget: the budget
 *
 * Also used to reset it: nobody uses it meanwhile.
 */
void vttm_budget_init(struct vttm_budget *budget)
{
	spin_lock_init(&budget->lock);
	budget->accum_us = 0;
	budget->last_us = 0;
}

/**
 * vttm_budget_get_threshold() - How many bytes a submission may move
 * @vdev: the device
 *
 * As amdgpu_cs_get_threshold_for_moves() on a discrete GPU all of whose memory
 * is visible.
 *
 * Return: bytes; BOs are moved to preferred domains while less was moved.
 */
u64 vttm_budget_get_threshold(struct vttm_device *vdev)
{
	const struct vttm_config *config = &vdev->config;
	struct vttm_budget *budget = &vdev->budget;
	u64 total, used, free;
	s64 now_us;

	if (!config->log2_max_mbps)
		return 0;

	total = config->vram_size - atomic64_read(&vdev->vram_pinned);
	used = ttm_resource_manager_usage(&vdev->vram_mgr.base);
	free = used >= total ? 0 : total - used;

	guard(spinlock)(&budget->lock);

	now_us = div_u64(vttm_clock_now(vdev), NSEC_PER_USEC);
	budget->accum_us = min_t(s64, budget->accum_us + now_us - budget->last_us,
				 VTTM_BUDGET_MAX_US);
	budget->last_us = now_us;

	/* With much free memory fill it now, whatever the debt is. */
	if (free >= SZ_128M || free >= total / 8)
		budget->accum_us = max(bytes_to_us(config, free / 4),
				       budget->accum_us);

	return us_to_bytes(config, budget->accum_us);
}

/**
 * vttm_budget_report_moved() - Charge what was moved
 * @vdev: the device
 * @bytes: bytes moved
 */
void vttm_budget_report_moved(struct vttm_device *vdev, u64 bytes)
{
	guard(spinlock)(&vdev->budget.lock);
	vdev->budget.accum_us -= bytes_to_us(&vdev->config, bytes);
}
