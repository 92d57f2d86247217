/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_LINK_H_
#define _VTTM_LINK_H_

#include <linux/types.h>

/* One for each engine. */
#define VTTM_LINK_MAX_JOBS	3

/** enum vttm_link_dir - Directions of the link, which have nothing in common. */
enum vttm_link_dir {
	/** @VTTM_LINK_IN: To the device: what jobs read, and copies bring. */
	VTTM_LINK_IN = 0,
	/** @VTTM_LINK_OUT: From the device: what copies take away. */
	VTTM_LINK_OUT,
	/** @VTTM_NUM_LINK_DIRS: Number of directions. */
	VTTM_NUM_LINK_DIRS,
};

/**
 * struct vttm_load - What a job takes of the device
 */
struct vttm_load {
	/** @fixed_ns: Duration of what others can't slow down. */
	u64 fixed_ns;
	/** @link_ns: That of its transfer with the link to itself; 0: none. */
	u64 link_ns;
	/** @dir: Direction of its transfer. */
	enum vttm_link_dir dir;
	/** @overlap: The transfer begins with the job, else after @fixed_ns. */
	bool overlap;
};

/**
 * struct vttm_link_job - A job that runs, as the link sees it
 */
struct vttm_link_job {
	/** @fixed_end_ns: When its fixed part is over. */
	u64 fixed_end_ns;
	/** @begin_ns: When its transfer begins or began. */
	u64 begin_ns;
	/** @transfer_end_ns: When that is over, as foreseen or as it was; or 0. */
	u64 transfer_end_ns;
	/** @left: What is left of it, in sixths of a ns at the full rate. */
	u64 left;
	/** @dir: Its direction. */
	enum vttm_link_dir dir;
};

/**
 * struct vttm_link - The link, and the jobs that run
 */
struct vttm_link {
	/** @now_ns: Device time that transfers were brought up to. */
	u64 now_ns;
	/** @jobs: The jobs that run; all zero for none. */
	struct vttm_link_job jobs[VTTM_LINK_MAX_JOBS];
};

u64 vttm_load_alone_ns(const struct vttm_load *load);

void vttm_link_start(struct vttm_link *link, unsigned int slot,
		     const struct vttm_load *load, u64 time_ns);
void vttm_link_stop(struct vttm_link *link, unsigned int slot, u64 time_ns);
u64 vttm_link_end(const struct vttm_link *link, unsigned int slot);

#endif
