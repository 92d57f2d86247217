// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/bits.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/time64.h>

#include <drm/vttm_drm.h>

#include "vttm_config.h"

/* Bounds that keep page numbers within 32 and arithmetic within 64 bits. */
#define VTTM_MAX_REGION_SIZE	(8ULL * SZ_1T)
#define VTTM_MAX_BANDWIDTH	BIT_ULL(50)
#define VTTM_MAX_LATENCY_NS	BIT_ULL(50)
#define VTTM_MAX_LOG2_MBPS	32

#define VTTM_MAX_CRTCS		4

static unsigned int vram_size_mb = 256;
module_param(vram_size_mb, uint, 0444);
MODULE_PARM_DESC(vram_size_mb, "Size of video memory, MiB (default: 256)");

static unsigned int gtt_size_mb = 1024;
module_param(gtt_size_mb, uint, 0444);
MODULE_PARM_DESC(gtt_size_mb, "Size of the GTT domain, MiB (default: 1024)");

static unsigned int vram_bandwidth_mbps = 262144;
module_param(vram_bandwidth_mbps, uint, 0444);
MODULE_PARM_DESC(vram_bandwidth_mbps, "Bandwidth of video memory, MiB/s (default: 262144)");

static unsigned int link_bandwidth_mbps = 16384;
module_param(link_bandwidth_mbps, uint, 0444);
MODULE_PARM_DESC(link_bandwidth_mbps, "Bandwidth of the link in one direction, MiB/s (default: 16384)");

static unsigned int copy_latency_ns = 5000;
module_param(copy_latency_ns, uint, 0444);
MODULE_PARM_DESC(copy_latency_ns, "Fixed part of each copy or fill, ns (default: 5000)");

static unsigned int log2_max_mbps = 3;
module_param(log2_max_mbps, uint, 0444);
MODULE_PARM_DESC(log2_max_mbps, "Move budget, log2 of MiB/s (default: 3, 0: move nothing)");

static unsigned int num_crtcs = 1;
module_param(num_crtcs, uint, 0444);
MODULE_PARM_DESC(num_crtcs, "CRTCs, each with a monitor (default: 1, 0: no display, at most 4)");

static bool overlap;
module_param(overlap, bool, 0444);
MODULE_PARM_DESC(overlap, "Let jobs compute and read memory at the same time (default: N)");

static bool virtual_clock;
module_param(virtual_clock, bool, 0444);
MODULE_PARM_DESC(virtual_clock, "Let time advance by modelled durations only (default: N)");

static unsigned int job_timeout_ms = 10000;
module_param(job_timeout_ms, uint, 0444);
MODULE_PARM_DESC(job_timeout_ms, "Jobs that take longer hang, ms (default: 10000, 0: none; real clock)");

/* Workloads that are replayed under the virtual clock have no hangs. */
static u64 default_job_timeout_ns(bool is_virtual)
{
	return is_virtual ? 0 : (u64)job_timeout_ms * NSEC_PER_MSEC;
}

/**
 * vttm_config_init_default() - Describe the device that module parameters ask for
 * @config: the description to fill in; may turn out invalid
 */
void vttm_config_init_default(struct vttm_config *config)
{
	*config = (struct vttm_config) {
		.vram_size = (u64)vram_size_mb * SZ_1M,
		.gtt_size = (u64)gtt_size_mb * SZ_1M,
		.vram_bandwidth = (u64)vram_bandwidth_mbps * SZ_1M,
		.link_bandwidth = (u64)link_bandwidth_mbps * SZ_1M,
		.copy_latency_ns = copy_latency_ns,
		.log2_max_mbps = log2_max_mbps,
		.job_timeout_ns = default_job_timeout_ns(virtual_clock),
		.num_crtcs = num_crtcs,
		.virtual_clock = virtual_clock,
		.overlap = overlap,
	};
}

/**
 * vttm_config_init_from_uapi() - Describe the device that user space asks for
 * @config: the description to fill in
 * @args: arguments of DRM_VTTM_LAB_RESET
 *
 * Return: 0, or -EINVAL for an unknown flag or an invalid description.
 */
int vttm_config_init_from_uapi(struct vttm_config *config,
			       const struct drm_vttm_lab_config *args)
{
	if (args->flags & ~(DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK |
			    DRM_VTTM_LAB_CONFIG_NO_CONTENTS |
			    DRM_VTTM_LAB_CONFIG_OVERLAP))
		return -EINVAL;

	*config = (struct vttm_config) {
		.vram_size = args->vram_size,
		.gtt_size = args->gtt_size,
		.vram_bandwidth = args->vram_bandwidth,
		.link_bandwidth = args->link_bandwidth,
		.copy_latency_ns = args->copy_latency_ns,
		.log2_max_mbps = args->log2_max_mbps,
		.virtual_clock = args->flags & DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK,
		.no_contents = args->flags & DRM_VTTM_LAB_CONFIG_NO_CONTENTS,
		.overlap = args->flags & DRM_VTTM_LAB_CONFIG_OVERLAP,
	};
	config->job_timeout_ns = default_job_timeout_ns(config->virtual_clock);

	return vttm_config_is_valid(config) ? 0 : -EINVAL;
}

static bool valid_region_size(u64 size)
{
	return size && size <= VTTM_MAX_REGION_SIZE && !(size % PAGE_SIZE);
}

static bool valid_bandwidth(u64 bandwidth)
{
	return bandwidth && bandwidth <= VTTM_MAX_BANDWIDTH;
}

/**
 * vttm_config_is_valid() - Can a device be made of a description?
 * @config: the description
 *
 * Return: true if it can.
 */
bool vttm_config_is_valid(const struct vttm_config *config)
{
	return valid_region_size(config->vram_size) &&
	       valid_region_size(config->gtt_size) &&
	       valid_bandwidth(config->vram_bandwidth) &&
	       valid_bandwidth(config->link_bandwidth) &&
	       config->copy_latency_ns <= VTTM_MAX_LATENCY_NS &&
	       config->log2_max_mbps <= VTTM_MAX_LOG2_MBPS &&
	       config->num_crtcs <= VTTM_MAX_CRTCS;
}
