// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 9 */

/**
 * DOC: Retry
 *
 * A submission locks BOs in a drm_exec loop. When TTM can back off as well, BOs
 * are validated within that loop: if making room meets contention, everything
 * is unlocked, what was contended is waited for, and the loop starts over. The
 * ticket is the same in all attempts, so that a submission gets older than all
 * others some time. What attempts have moved is added up.
 *
 * How often that happens is in debugfs, as vttm_retry.
 */

#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_exec.h>

#include "vttm_drv.h"
#include "vttm_retry.h"
#include "vttm_trace.h"

/**
 * vttm_retry_init() - Initialize the counters
 * @vdev: the device
 */
void vttm_retry_init(struct vttm_device *vdev)
{
	spin_lock_init(&vdev->retry.lock);
}

/**
 * vttm_retry_reset() - Set the counters to zero
 * @vdev: the device
 */
void vttm_retry_reset(struct vttm_device *vdev)
{
	struct vttm_retry_stats *stats = &vdev->retry;

	guard(spinlock)(&stats->lock);
	stats->operations = 0;
	stats->retries = 0;
	stats->contended_evictions = 0;
	stats->max_attempts = 0;
	stats->max_ns = 0;
}

/**
 * vttm_retry_begin() - An operation begins
 * @retry: set up by this
 * @exec: what it locks with
 *
 * Whether TTM retries is decided now, and holds for all of its attempts.
 */
void vttm_retry_begin(struct vttm_retry *retry, struct drm_exec *exec)
{
	*retry = (struct vttm_retry) {
		.exec = ttm_retry_exec(exec),
		.start = ktime_get(),
	};
}

/**
 * vttm_retry_attempt() - An attempt begins
 * @vdev: the device
 * @retry: the operation
 * @vm_label: label of its VM
 * @bytes_moved: bytes that it has moved so far
 */
void vttm_retry_attempt(struct vttm_device *vdev, struct vttm_retry *retry, u32 vm_label,
			u64 bytes_moved)
{
	if (retry->attempts)
		trace_vttm_backoff(vdev, vm_label, retry->attempts, retry->evicting,
				   bytes_moved);

	retry->contended_evictions += retry->evicting;
	retry->evicting = false;
	retry->attempts++;
}

/**
 * vttm_retry_end() - An operation is over, or has failed
 * @vdev: the device
 * @retry: the operation
 */
void vttm_retry_end(struct vttm_device *vdev, struct vttm_retry *retry)
{
	struct vttm_retry_stats *stats = &vdev->retry;
	u64 ns;

	if (retry->attempts <= 1)
		return;

	ns = ktime_to_ns(ktime_sub(ktime_get(), retry->start));

	guard(spinlock)(&stats->lock);
	stats->operations++;
	stats->retries += retry->attempts - 1;
	stats->contended_evictions += retry->contended_evictions;
	stats->max_attempts = max_t(u64, stats->max_attempts, retry->attempts);
	stats->max_ns = max(stats->max_ns, ns);
}

static int vttm_debugfs_retry(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct vttm_retry_stats *stats = &to_vttm_device(entry->dev)->retry;

	guard(spinlock)(&stats->lock);
	seq_printf(m, "operations %llu\n", stats->operations);
	seq_printf(m, "retries %llu\n", stats->retries);
	seq_printf(m, "contended_evictions %llu\n", stats->contended_evictions);
	seq_printf(m, "max_attempts %llu\n", stats->max_attempts);
	seq_printf(m, "max_ns %llu\n", stats->max_ns);
	return 0;
}

/**
 * vttm_retry_debugfs_init() - Add our file to debugfs
 * @vdev: the device, not registered yet
 */
void vttm_retry_debugfs_init(struct vttm_device *vdev)
{
	drm_debugfs_add_file(&vdev->drm, "vttm_retry", vttm_debugfs_retry, NULL);
}
