// SPDX-License-Identifier: MIT
// The cgroups of a workload as real ones (cgroup v2, dmem controller). Errors of the file system throw
// std::runtime_error, refusals of limits are returned.
//
// They are made directly below the root of the hierarchy, the first component prefixed ("user/game" becomes
// "vramlab.user/game"): a group in between would take part in the effective protection (mm/page_counter.c,
// effective_protection()), which a workload's root must not.
#pragma once

#include "base/request.h"

#include <string>
#include <vector>

namespace vramlab::backend {

class dmem_cgroups {
public:
    // region: as in dmem.capacity.
    explicit dmem_cgroups(std::string region, std::string root = "/sys/fs/cgroup");
    ~dmem_cgroups(); // removes what it made, as far as it is empty
    dmem_cgroups(const dmem_cgroups &) = delete;
    dmem_cgroups &operator=(const dmem_cgroups &) = delete;

    // Groups are kept from workload to workload: moving processes and removing groups waits for RCU grace
    // periods. One without limits and charges has no effect. False: a kept group had processes and is to have
    // children, or the other way round. Then move all processes to the root and remove_all() first.
    bool fits(const std::vector<cgroup_config> &groups) const;
    void remove_all();
    // Makes the groups of a workload (parents first) with their limits.
    void set_up(const std::vector<cgroup_config> &groups);
    // Moves a process; an empty path is the root.
    void attach(int pid, const std::string &path);
    // 0 or a negative error number of a write to min, low or max, in this order (lowering max evicts).
    int set_limits(const cgroup_config &c);
    // dmem.current of the n-th group of set_up().
    u64 current(std::size_t n);

private:
    struct group {
        std::string path;
        std::string dir;
        int current_fd = -1;
        bool limited = false;  // limits may differ from the default
        bool inner = false;    // has or had children
        bool attached = false; // has or had processes
    };
    std::string dir_of(const std::string &path) const;
    group &make(const std::string &path);
    const group *find(const std::string &path) const;
    int write_limit(const std::string &dir, const char *file, u64 bytes) const;

    std::string region_;
    std::string root_;
    std::vector<group> groups_;      // parents before children
    std::vector<std::size_t> order_; // of set_up(): indices into groups_
};

} // namespace vramlab::backend
