// SPDX-License-Identifier: MIT
#include "driver/gtt_mgr.h"

#include "kmd/ttm_bo.h"
#include "kmd/ttm_device.h"

namespace vramlab::driver {

using namespace kmd;

namespace {

vttm_gtt_mgr &to_gtt_mgr(ttm_resource_manager *man)
{
    return *static_cast<vttm_gtt_mgr *>(man);
}

int vttm_gtt_mgr_new(ttm_resource_manager *man, ttm_buffer_object *tbo, const ttm_place *place,
                     ttm_resource **res)
{
    vttm_gtt_mgr &mgr = to_gtt_mgr(man);
    vttm_gtt_mgr_resource *node = mgr.resources.create();

    ttm_resource_init(tbo, place, node);
    // A hop may exceed the size; usage includes this BO by now.
    if (!(place->flags & TTM_PL_FLAG_TEMPORARY) && ttm_resource_manager_usage(man) > man->size) {
        ttm_resource_fini(man, node);
        mgr.resources.destroy(node);
        return -ENOSPC;
    }
    *res = node;
    return 0;
}

void vttm_gtt_mgr_del(ttm_resource_manager *man, ttm_resource *res)
{
    ttm_resource_fini(man, res);
    to_gtt_mgr(man).resources.destroy(static_cast<vttm_gtt_mgr_resource *>(res));
}

constexpr ttm_resource_manager_func vttm_gtt_mgr_func = {
    .alloc = vttm_gtt_mgr_new,
    .free = vttm_gtt_mgr_del,
    .intersects = nullptr,
    .compatible = nullptr,
};

} // namespace

void vttm_gtt_mgr_init(vttm_gtt_mgr &mgr, ttm_device &bdev, u64 size_bytes)
{
    mgr.use_tt = true;
    mgr.func = &vttm_gtt_mgr_func;
    ttm_resource_manager_init(&mgr, &bdev, size_bytes);
    ttm_set_driver_manager(&bdev, TTM_PL_TT, &mgr);
    ttm_resource_manager_set_used(&mgr, true);
}

void vttm_gtt_mgr_fini(vttm_gtt_mgr &mgr)
{
    ttm_resource_manager_set_used(&mgr, false);
    ttm_resource_manager_cleanup(&mgr);
    ttm_set_driver_manager(mgr.bdev, TTM_PL_TT, nullptr);
}

} // namespace vramlab::driver
