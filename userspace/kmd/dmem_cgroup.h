// SPDX-License-Identifier: GPL-2.0 OR MIT
// Models kernel/cgroup/dmem.c: the dmem cgroup controller, which charges device memory to cgroups, limits it,
// and says whose memory may be evicted for whom. Omits: more than one region, removal of cgroups, RCU and
// SRCU, signals during reclaim. References are counted but free nothing: a pool lives as long as its cgroup.
//
// Charges go to the cgroup of the running process, dmem_cgroup_current, which kmd/task.h switches with the
// stack.
#pragma once

#include "kmd/page_counter.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::kmd {

struct dmem_cgroup_region;
struct dmemcg_state;

// What a cgroup uses of the region.
struct dmem_cgroup_pool_state {
    page_counter cnt; // first, so that a counter can be turned into its pool
    dmem_cgroup_region *region = nullptr;
    dmemcg_state *cs = nullptr;
    dmem_cgroup_pool_state *parent = nullptr;
    u64 refs = 0; // charges, limit pools and common ancestors that somebody holds
};

// A cgroup. The creator owns it; parents must outlive children, and all of them the charges.
struct dmemcg_state {
    explicit dmemcg_state(std::string name,
                          dmemcg_state *parent = nullptr); // joins the parent's children at the end
    ~dmemcg_state();
    dmemcg_state(const dmemcg_state &) = delete;
    dmemcg_state &operator=(const dmemcg_state &) = delete;

    std::string name;
    dmemcg_state *parent;
    std::vector<dmemcg_state *> children;         // in order of creation
    std::unique_ptr<dmem_cgroup_pool_state> pool; // made by the first charge or limit
};

// The cgroup that the running process is in; nullptr: the root.
inline thread_local constinit dmemcg_state *dmem_cgroup_current = nullptr;

struct dmem_cgroup_ops {
    // The maximum of a pool went below its usage: free about target_bytes of it. 0: some progress; -ENOSPC:
    // none (tried again, at most 16 times); else: fatal. May be nullptr.
    int (*reclaim)(dmem_cgroup_pool_state *pool, u64 target_bytes, void *priv) = nullptr;
};

struct dmem_cgroup_init {
    u64 size = 0;
    const dmem_cgroup_ops *ops = nullptr;
    void *reclaim_priv = nullptr;
    dmemcg_state *root = nullptr; // of the hierarchy; the caller's
};

struct dmem_cgroup_region {
    u64 size = 0;
    std::string name;
    const dmem_cgroup_ops *ops = nullptr;
    void *reclaim_priv = nullptr;
    dmemcg_state *root = nullptr;
};

// nullptr if init.size is 0.
std::unique_ptr<dmem_cgroup_region> dmem_cgroup_register_region(const dmem_cgroup_init &init,
                                                                std::string_view name);

// 0: *ret_pool is charged, for dmem_cgroup_uncharge(). -EAGAIN: a maximum is in the way; *ret_limit_pool (may
// be nullptr) is whose, for dmem_cgroup_pool_state_put(). A nullptr region charges nothing and succeeds with
// *ret_pool = nullptr.
int dmem_cgroup_try_charge(dmem_cgroup_region *region, u64 size, dmem_cgroup_pool_state **ret_pool,
                           dmem_cgroup_pool_state **ret_limit_pool);
void dmem_cgroup_uncharge(dmem_cgroup_pool_state *pool, u64 size); // nullptr allowed
void dmem_cgroup_pool_state_put(dmem_cgroup_pool_state *pool);     // nullptr allowed

// Whether memory of test_pool may be evicted because limit_pool (nullptr: the region) is full. *ret_hit_low
// is set if ignore_low would make a difference.
bool dmem_cgroup_state_evict_valuable(dmem_cgroup_pool_state *limit_pool, dmem_cgroup_pool_state *test_pool,
                                      bool ignore_low, bool *ret_hit_low);
// Whether test uses no more than its effective protection below root (nullptr: the topmost).
bool dmem_cgroup_below_min(dmem_cgroup_pool_state *root, dmem_cgroup_pool_state *test);
bool dmem_cgroup_below_low(dmem_cgroup_pool_state *root, dmem_cgroup_pool_state *test);
// nullptr if either is. For dmem_cgroup_pool_state_put().
dmem_cgroup_pool_state *dmem_cgroup_get_common_ancestor(dmem_cgroup_pool_state *a, dmem_cgroup_pool_state *b);

// dmem.min, dmem.low, dmem.max of a cgroup. "max" is PAGE_COUNTER_MAX; larger values are cut to it. Lowering
// the maximum below the usage reclaims before it returns, unless nonblock; what could not be reclaimed stays.
void dmem_cgroup_set_min(dmem_cgroup_region &region, dmemcg_state &cg, u64 min_bytes);
void dmem_cgroup_set_low(dmem_cgroup_region &region, dmemcg_state &cg, u64 low_bytes);
void dmem_cgroup_set_max(dmem_cgroup_region &region, dmemcg_state &cg, u64 max_bytes, bool nonblock = false);
u64 dmem_cgroup_usage(const dmemcg_state &cg); // dmem.current

} // namespace vramlab::kmd
