// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/ttm_sys_manager.c: system memory, which never runs out here
// (ttm_global::pages_limit bounds what is populated).
#include "kmd/ttm_device.h"

namespace vramlab::kmd {

static int ttm_sys_man_alloc(ttm_resource_manager *, ttm_buffer_object *bo, const ttm_place *place,
                             ttm_resource **res)
{
    *res = new ttm_resource;
    ttm_resource_init(bo, place, *res);
    return 0;
}

static void ttm_sys_man_free(ttm_resource_manager *man, ttm_resource *res)
{
    ttm_resource_fini(man, res);
    delete res;
}

static const ttm_resource_manager_func ttm_sys_manager_func = {
    .alloc = ttm_sys_man_alloc,
    .free = ttm_sys_man_free,
    .intersects = nullptr,
    .compatible = nullptr,
};

void ttm_sys_man_init(ttm_device *bdev)
{
    ttm_resource_manager *man = &bdev->sysman;

    man->use_tt = true;
    man->func = &ttm_sys_manager_func;

    ttm_resource_manager_init(man, bdev, 0);
    ttm_set_driver_manager(bdev, TTM_PL_SYSTEM, man);
    ttm_resource_manager_set_used(man, true);
}

} // namespace vramlab::kmd
