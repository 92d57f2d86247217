// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 5 */

#include <linux/module.h>

#include <drm/drm_kunit_helpers.h>

#include "drm_exec_kunit.h"

static int puts;

struct owner *owner_get(struct owner *owner)
{
	owner->refs++;
	return owner;
}

void owner_put(void *data)
{
	struct owner *owner = data;

	owner->refs--;
	owner->put_as = ++puts;
}

struct owner *owner_create(struct kunit *test)
{
	struct owner *owner = kunit_kzalloc(test, sizeof(*owner), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, owner);
	dma_resv_init(&owner->resv);
	return owner;
}

void owner_destroy(struct kunit *test, struct owner *owner)
{
	KUNIT_EXPECT_EQ(test, owner->refs, 0);
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(&owner->resv));
	dma_resv_fini(&owner->resv);
}

/* Lock with a reference. */
int lock_owner(struct drm_exec *exec, struct owner *owner)
{
	int ret = drm_exec_lock_resv(exec, &owner->resv, owner_get(owner), owner_put);

	if (ret && ret != -EDEADLK)
		owner->refs--;
	return ret;
}

/* Never meets contention, not even of the injected kind. */
void trylock_owner(struct kunit *test, struct drm_exec *exec, struct owner *owner)
{
	KUNIT_ASSERT_TRUE(test, drm_exec_trylock_resv(exec, &owner->resv));
	KUNIT_ASSERT_EQ(test, drm_exec_add_resv(exec, &owner->resv, owner_get(owner),
						owner_put), 0);
}

/* Set up test->priv, a DRM device. */
int exec_kunit_init(struct kunit *test)
{
	struct device *dev = drm_kunit_helper_alloc_device(test);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	test->priv = __drm_kunit_helper_alloc_drm_device(test, dev, sizeof(struct drm_device), 0,
							 DRIVER_MODESET);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, test->priv);
	puts = 0;
	return 0;
}

struct drm_gem_object *object_create(struct kunit *test, struct dma_resv *resv)
{
	struct drm_gem_object *obj = kunit_kzalloc(test, sizeof(*obj), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, obj);
	obj->resv = resv;
	drm_gem_private_object_init(test->priv, obj, PAGE_SIZE);
	return obj;
}

unsigned int count_objects(struct drm_exec *exec)
{
	struct drm_gem_object *obj;
	unsigned int num = 0;

	drm_exec_for_each_locked_object(exec, obj)
		num++;
	return num;
}

MODULE_DESCRIPTION("KUnit tests of drm_exec's locks that belong to no object");
MODULE_LICENSE("Dual MIT/GPL");
