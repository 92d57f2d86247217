/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_EVENT_H_
#define _VTTM_EVENT_H_

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct drm_vttm_event;
struct vttm_device;

/**
 * struct vttm_event_log - Ring of event records for user space
 *
 * When it is full new records are lost and counted.
 */
struct vttm_event_log {
	/** @records: The ring. */
	struct drm_vttm_event *records;
	/** @size: Records in the ring, a power of two. */
	u32 size;
	/** @head: Next record to write. Protected by @lock. */
	u32 head;
	/** @tail: Oldest record. Protected by @lock and @read_lock. */
	u32 tail;
	/** @lost: Records lost since the reset. Protected by @lock. */
	u64 lost;
	/** @lock: Protects the fields named above. */
	spinlock_t lock;
	/** @read_lock: Serializes readers; copying to user space sleeps. */
	struct mutex read_lock;
};

int vttm_event_log_init(struct vttm_device *vdev);
void vttm_event_log_reset(struct vttm_event_log *log);
void vttm_event_record(struct vttm_device *vdev,
		       const struct drm_vttm_event *event);
int vttm_event_log_read(struct vttm_event_log *log, u64 user_ptr, u64 *count);
u64 vttm_event_log_lost(struct vttm_event_log *log);

#endif
