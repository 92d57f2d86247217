// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include <drm/drm_managed.h>

#include "vttm_drv.h"

static unsigned int event_log_size = 65536;
module_param(event_log_size, uint, 0444);
MODULE_PARM_DESC(event_log_size, "Records in the event log (default: 65536)");

#define VTTM_EVENT_LOG_MAX	BIT(22)

static void vttm_event_log_fini(struct drm_device *drm, void *res)
{
	kvfree(to_vttm_device(drm)->events.records);
}

/**
 * vttm_event_log_init() - Allocate the event log
 * @vdev: the device, which owns the log
 *
 * Return: 0, or a negative error code.
 */
int vttm_event_log_init(struct vttm_device *vdev)
{
	struct vttm_event_log *log = &vdev->events;
	int ret;

	log->size = roundup_pow_of_two(clamp_t(u32, event_log_size, 1,
					       VTTM_EVENT_LOG_MAX));
	log->records = kvmalloc_objs(*log->records, log->size);
	if (!log->records)
		return -ENOMEM;

	spin_lock_init(&log->lock);
	ret = drmm_mutex_init(&vdev->drm, &log->read_lock);
	if (ret) {
		kvfree(log->records);
		return ret;
	}

	return drmm_add_action_or_reset(&vdev->drm, vttm_event_log_fini, NULL);
}

/**
 * vttm_event_log_reset() - Forget all records
 * @log: the log
 */
void vttm_event_log_reset(struct vttm_event_log *log)
{
	guard(mutex)(&log->read_lock);
	guard(spinlock_irqsave)(&log->lock);
	log->tail = log->head;
	log->lost = 0;
}

/**
 * vttm_event_record() - Append a record
 * @vdev: the device
 * @event: the record
 *
 * Can be called with spinlocks held, and from timers.
 */
void vttm_event_record(struct vttm_device *vdev,
		       const struct drm_vttm_event *event)
{
	struct vttm_event_log *log = &vdev->events;
	struct drm_vttm_event *record;

	guard(spinlock_irqsave)(&log->lock);
	if (log->head - log->tail == log->size) {
		log->lost++;
		return;
	}

	record = &log->records[log->head & (log->size - 1)];
	*record = *event;
	log->head++;
}

/**
 * vttm_event_log_read() - Copy out the oldest records and remove them
 * @log: the log
 * @user_ptr: user space address of an array of records
 * @count: records that fit there, returns records that were copied
 *
 * Return: 0, or -EFAULT, with the records that could be copied removed.
 */
int vttm_event_log_read(struct vttm_event_log *log, u64 user_ptr, u64 *count)
{
	struct drm_vttm_event __user *to = u64_to_user_ptr(user_ptr);
	u64 left = *count;
	u32 head;

	guard(mutex)(&log->read_lock);

	/* Writers only append, and never over what hasn't been read. */
	scoped_guard(spinlock_irqsave, &log->lock)
		head = log->head;

	*count = 0;
	while (left && log->tail != head) {
		u32 index = log->tail & (log->size - 1);
		u32 n = min3((u64)(head - log->tail), left,
			     (u64)(log->size - index));

		if (copy_to_user(to, &log->records[index], n * sizeof(*to)))
			return -EFAULT;

		to += n;
		left -= n;
		*count += n;
		scoped_guard(spinlock_irqsave, &log->lock)
			log->tail += n;
	}

	return 0;
}

/**
 * vttm_event_log_lost() - Records lost since the reset
 * @log: the log
 *
 * Return: their number.
 */
u64 vttm_event_log_lost(struct vttm_event_log *log)
{
	guard(spinlock_irqsave)(&log->lock);
	return log->lost;
}
