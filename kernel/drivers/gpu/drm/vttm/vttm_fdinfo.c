// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: What a client uses
 *
 * Documentation/gpu/drm-usage-stats.rst says what the keys mean. Engines are
 * busy in device time, with jobs of the client: copies and fills are the
 * kernel's. Regions are called as in debugfs: vram, gtt and system. A BO counts
 * as *total* in the best region that it prefers, and as *resident* and *active*
 * in the one that it is in, if it has pages there. Nothing can be purged.
 *
 * No reservation lock is taken, not even tried: that would change what others
 * evict, and tasks that are parked hold some.
 */

#include <linux/dma-resv.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_fdinfo.h"
#include "vttm_gem.h"
#include "vttm_vm.h"

/* Regions, the best one last. */
static const struct {
	u32 domain;
	const char *name;
} regions[] = {
	{ DRM_VTTM_DOMAIN_SYSTEM, "system" },
	{ DRM_VTTM_DOMAIN_GTT, "gtt" },
	{ DRM_VTTM_DOMAIN_VRAM, "vram" },
};

/* Statistics of the best region of a mask that isn't empty. */
static struct drm_memory_stats *stats_of(struct drm_memory_stats *stats, u32 domains)
{
	unsigned int i = ARRAY_SIZE(regions) - 1;

	while (i && !(domains & regions[i].domain))
		i--;

	return &stats[i];
}

static void add_bo(struct drm_memory_stats *stats, struct drm_gem_object *obj)
{
	struct vttm_bo *bo = gem_to_vttm_bo(obj);
	u32 domain = READ_ONCE(bo->domain);
	struct drm_memory_stats *s;

	s = stats_of(stats, bo->preferred);
	if (drm_gem_object_is_shared_for_memory_stats(obj))
		s->shared += obj->size;
	else
		s->private += obj->size;

	if (!domain || !READ_ONCE(bo->has_pages))
		return;

	/* All fences: engines are busy with it whatever they do. */
	s = stats_of(stats, domain);
	s->resident += obj->size;
	if (!dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP))
		s->active += obj->size;
}

static void show_engines(struct drm_printer *p, struct vttm_device *vdev,
			 struct vttm_vm *vm)
{
	unsigned int i;

	/* A reset gives the VM another context. */
	guard(rwsem_read)(&vdev->reset_lock);
	for (i = 0; i < VTTM_NUM_USER_ENGINES; i++) {
		struct vttm_engine *engine = vttm_engine_of_user(vdev, i);

		drm_printf(p, "drm-engine-%s:\t%llu ns\n", engine->name,
			   vttm_engine_busy_ns(engine, vm->ctx));
	}
}

/**
 * vttm_show_fdinfo() - Print what a client uses
 * @p: where to
 * @file: its file
 */
void vttm_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct drm_memory_stats stats[ARRAY_SIZE(regions)] = {};
	struct drm_gem_object *obj;
	unsigned int i;
	int id;

	show_engines(p, to_vttm_device(file->minor->dev), file->driver_priv);

	scoped_guard(spinlock, &file->table_lock)
		idr_for_each_entry(&file->object_idr, obj, id)
			add_bo(stats, obj);

	for (i = ARRAY_SIZE(regions); i--;)
		drm_print_memory_stats(p, &stats[i], DRM_GEM_OBJECT_RESIDENT |
				       DRM_GEM_OBJECT_PURGEABLE |
				       DRM_GEM_OBJECT_ACTIVE, regions[i].name);
}
