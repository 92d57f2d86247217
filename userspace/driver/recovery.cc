// SPDX-License-Identifier: MIT
#include "driver/recovery.h"

#include "driver/bo.h"

namespace vramlab::driver {

using namespace kmd;

void vttm_recovery_update(displaced_bos &displaced, vttm_bo &bo)
{
    bo.displaced = bo.bulk_priority && !(vttm_domain_of(bo.resource) & bo.preferred_domains);
    if (bo.displaced)
        list_move_tail(bo, displaced.lists[bo.bulk_priority]);
    else
        list_del_init(bo);
}

void vttm_recovery_priority_changed(displaced_bos &displaced, vttm_bo &bo)
{
    if (!bo.displaced)
        return;
    bo.displaced = bo.bulk_priority != 0;
    if (bo.displaced)
        list_move_tail(bo, displaced.lists[bo.bulk_priority]);
    else
        list_del_init(bo);
}

vttm_bo *vttm_recovery_first(const displaced_bos &displaced)
{
    for (u32 priority = priority_max; priority; priority--)
        if (const list_head &list = displaced.lists[priority]; !list_empty(list))
            return static_cast<vttm_bo *>(list.next);
    return nullptr;
}

} // namespace vramlab::driver
