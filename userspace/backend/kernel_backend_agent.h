// SPDX-License-Identifier: MIT
// An agent is one process of a workload: it opens a DRM file for each of its VMs, keeps handles by tag, and
// makes the ioctls that the controller asks for. It holds no opinion: every error is the kernel's, save for
// labels, tags and lists that it doesn't know, which it answers as semantics.rst says.
#pragma once

#include "backend/kernel_backend_port.h"
#include "backend/kernel_backend_wire.h"

#include "drm/vttm_drm.h"

#include <unordered_map>
#include <vector>

namespace vramlab::backend {

class kernel_agent {
public:
    // Borrows both. The socket stays the caller's.
    kernel_agent(drm_port &port, int socket);
    ~kernel_agent();
    kernel_agent(const kernel_agent &) = delete;
    kernel_agent &operator=(const kernel_agent &) = delete;

    // Serves until quit or the end of the connection. Returns an exit status: 0, or 1 if the connection
    // broke.
    int run();

private:
    // Elements by tag as defined, and as the driver wants them, rebuilt when handles have changed since.
    struct bo_list {
        std::vector<u64> bos;
        std::vector<drm_vttm_submit_bo> prepared;
        u64 generation = 0;
    };
    struct touch_list {
        std::vector<touch> touches;
        std::vector<drm_vttm_submit_touch> prepared;
        u64 generation = 0;
    };
    struct vm {
        u32 label = 0;
        int file = -1;
        u64 last_seqno = 0;
        u64 generation = 1;                     // of the handle table
        std::unordered_map<u64, u32> handles;   // by tag; looked up, never iterated
        std::unordered_map<u32, bo_list> lists; // by id, likewise
        std::unordered_map<u32, touch_list> touch_sets;
    };

    vm *find(u32 label);
    static u32 handle_of(const vm &v, u64 tag);
    wire::reply serve(const wire::view &v, int fd_in, int *fd_out);
    wire::reply serve_request(const wire::view &v);
    int vm_open(u32 label);
    int vm_close(vm &v);
    int bo_create(vm &v, const wire::message &m);
    int bo_destroy(vm &v, u64 tag);
    int bo_set_priority(vm &v, const wire::message &m);
    int pin(vm &v, u64 tag, u32 flags);
    int define_list(vm &v, const wire::view &w);
    int define_touches(vm &v, const wire::view &w);
    wire::reply submit(vm &v, const wire::message &m);
    int wait(vm &v, u64 seqno, s64 timeout_ns);
    int export_bo(vm &v, u64 tag, int *fd_out);
    int import_bo(vm &v, u64 tag, int fd_in);
    int lab(u32 op, u64 value);
    void close_all();

    drm_port &port_;
    int socket_;
    int control_ = -1; // a file of our own for lockstep registration
    std::vector<vm> vms_;
};

} // namespace vramlab::backend
