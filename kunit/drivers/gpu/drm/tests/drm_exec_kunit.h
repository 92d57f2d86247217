/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* vramlab-needs: 5 */
#ifndef _DRM_EXEC_KUNIT_H_
#define _DRM_EXEC_KUNIT_H_

#include <kunit/test.h>

#include <linux/dma-resv.h>

#include <drm/drm_exec.h>
#include <drm/drm_gem.h>

/**
 * struct owner - Owns a reservation object, and isn't a GEM object
 */
struct owner {
	/** @resv: The reservation object. */
	struct dma_resv resv;
	/** @refs: References; nothing happens when the last one goes. */
	int refs;
	/** @put_as: When the last one went, counted. */
	int put_as;
};

int exec_kunit_init(struct kunit *test);
struct drm_gem_object *object_create(struct kunit *test, struct dma_resv *resv);
unsigned int count_objects(struct drm_exec *exec);

struct owner *owner_create(struct kunit *test);
void owner_destroy(struct kunit *test, struct owner *owner);
struct owner *owner_get(struct owner *owner);
void owner_put(void *owner);
int lock_owner(struct drm_exec *exec, struct owner *owner);
void trylock_owner(struct kunit *test, struct drm_exec *exec, struct owner *owner);

#endif
