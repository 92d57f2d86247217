/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_CONFIG_H_
#define _VTTM_CONFIG_H_

#include <linux/types.h>

struct drm_vttm_lab_config;

/**
 * struct vttm_config - Plain description of a device
 *
 * Independent of where it comes from (module parameters, DRM_VTTM_LAB_RESET)
 * and of the live device that is made of it.
 */
struct vttm_config {
	/** @vram_size: Size of video memory, bytes. */
	u64 vram_size;
	/** @gtt_size: Size of the GTT domain, bytes. */
	u64 gtt_size;
	/** @vram_bandwidth: Bytes a second of video memory. */
	u64 vram_bandwidth;
	/** @link_bandwidth: Bytes a second of the link, in one direction. */
	u64 link_bandwidth;
	/** @copy_latency_ns: Fixed part of each copy or fill. */
	u64 copy_latency_ns;
	/** @log2_max_mbps: Move budget, log2 of MiB a second; 0 for none. */
	u32 log2_max_mbps;
	/** @job_timeout_ns: Jobs that take longer hang; 0: none does. */
	u64 job_timeout_ns;
	/** @num_crtcs: CRTCs; stays what it was when the device was created. */
	u32 num_crtcs;
	/** @virtual_clock: Time advances by modelled durations only. */
	bool virtual_clock;
	/** @no_contents: Copies and fills take time but move no data. */
	bool no_contents;
	/** @overlap: A job computes and reads VRAM and the link at the same time. */
	bool overlap;
};

void vttm_config_init_default(struct vttm_config *config);
int vttm_config_init_from_uapi(struct vttm_config *config,
			       const struct drm_vttm_lab_config *args);
bool vttm_config_is_valid(const struct vttm_config *config);

#endif
