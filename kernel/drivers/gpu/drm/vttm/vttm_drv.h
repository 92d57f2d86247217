/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_DRV_H_
#define _VTTM_DRV_H_

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_placement.h>

#include <drm/vttm_drm.h>

#include "vttm_budget.h"
#include "vttm_clock.h"
#include "vttm_config.h"
#include "vttm_copy.h"
#include "vttm_engine.h"
#include "vttm_event.h"
#include "vttm_gtt_mgr.h"
#include "vttm_link.h"
#include "vttm_lockstep.h"
#include "vttm_retry.h"
#include "vttm_vram_mgr.h"
#include "vttm_vram_store.h"

/* Label of a VM that has none; such VMs are not shown in debugfs. */
#define VTTM_LABEL_NONE		U32_MAX

/**
 * struct vttm_device - The device
 *
 * Lock order: @reset_lock, reservation locks, &vttm_clock.lock,
 * &vttm_copy.lock or &vttm_vram_mgr.lock, @bos_lock, @bdev.lru_lock,
 * @vms_lock and &vttm_vm.evicted_lock, @engine_lock, &vttm_event_log.lock.
 * &vttm_retry_stats.lock is taken within none of these.
 */
struct vttm_device {
	/** @drm: DRM device. */
	struct drm_device drm;
	/** @bdev: TTM device. */
	struct ttm_device bdev;
	/** @config: What the device is like; constant under @reset_lock. */
	struct vttm_config config;

	/** @reset_lock: Held for writing by a reset, else for reading. */
	struct rw_semaphore reset_lock;

	/** @vram_mgr: Resource manager of video memory. */
	struct vttm_vram_mgr vram_mgr;
	/** @gtt_mgr: Resource manager of the GTT domain. */
	struct vttm_gtt_mgr gtt_mgr;
	/** @vram_store: Contents of video memory. */
	struct vttm_vram_store vram_store;
	/** @dummy_page: Stands for all pages of BOs without contents. */
	struct page *dummy_page;

	/** @engines: The engines, indexed by enum vttm_engine_id. */
	struct vttm_engine engines[VTTM_NUM_ENGINES];
	/** @engine_lock: Protects the engines and the link; taken from a timer. */
	spinlock_t engine_lock;
	/** @link: The link. Protected by @engine_lock. */
	struct vttm_link link;
	/** @ended: Fences of jobs that ended, to be signaled in that order. */
	struct list_head ended;
	/** @engine_timer: Fires at the next end of a job (real clock). */
	struct hrtimer engine_timer;
	/** @job_timeout_ns: Jobs that take longer hang; 0: none does. */
	u64 job_timeout_ns;
	/** @hangs: Jobs of VMs that hung since the last reset. */
	atomic64_t hangs;
	/** @submit_wq: Ordered; all schedulers work on it. */
	struct workqueue_struct *submit_wq;
	/** @sched_is_fifo: The scheduling policy is the default one. */
	bool sched_is_fifo;
	/** @copy: Copies and fills. */
	struct vttm_copy copy;
	/** @clock: Device time. */
	struct vttm_clock clock;
	/** @lockstep: Tasks that run in lockstep. */
	struct vttm_lockstep lockstep;
	/** @events: Event log. */
	struct vttm_event_log events;
	/** @budget: How many bytes submissions may move. */
	struct vttm_budget budget;

	/** @bos: All BOs, including deleted ones. Protected by @bos_lock. */
	struct list_head bos;
	/** @num_bos: Length of @bos. Protected by @bos_lock. */
	unsigned int num_bos;
	/** @bos_lock: Protects @bos, @num_bos and &vttm_bo.exported. */
	spinlock_t bos_lock;
	/** @idle_wq: Woken when @num_bos or @num_jobs becomes 0. */
	wait_queue_head_t idle_wq;
	/** @num_jobs: Jobs that exist. Protected by the lock of @idle_wq. */
	unsigned int num_jobs;

	/** @vms: VMs of all open files. Protected by @vms_lock. */
	struct list_head vms;
	/** @vms_lock: Protects @vms. */
	spinlock_t vms_lock;
	/** @vm_serial: Serial number of the last VM. */
	atomic_long_t vm_serial;

	/** @vram_pinned: Bytes of video memory that are pinned. */
	atomic64_t vram_pinned;
	/** @bytes_moved: Bytes that copies moved since the last reset. */
	atomic64_t bytes_moved;
	/** @evictions: Evictions by copy since the last reset. */
	atomic64_t evictions;
	/** @retry: Operations that met contention since the last reset. */
	struct vttm_retry_stats retry;
};

static inline struct vttm_device *to_vttm_device(struct drm_device *drm)
{
	return container_of(drm, struct vttm_device, drm);
}

static inline struct vttm_device *bdev_to_vttm_device(struct ttm_device *bdev)
{
	return container_of(bdev, struct vttm_device, bdev);
}

/**
 * vttm_mem_type_to_domain() - Domain of a memory type
 * @mem_type: TTM_PL_*
 *
 * Return: DRM_VTTM_DOMAIN_*, 0 if there is none.
 */
static inline u32 vttm_mem_type_to_domain(u32 mem_type)
{
	switch (mem_type) {
	case TTM_PL_SYSTEM:
		return DRM_VTTM_DOMAIN_SYSTEM;
	case TTM_PL_TT:
		return DRM_VTTM_DOMAIN_GTT;
	case TTM_PL_VRAM:
		return DRM_VTTM_DOMAIN_VRAM;
	default:
		return 0;
	}
}

#endif
