// SPDX-License-Identifier: MIT
// The link between the device and system memory: two directions, each shared evenly by the transfers that are
// under way in it, remote reads of jobs and copies alike (Documentation/semantics.rst, "Jobs, engines,
// time").
//
// Integer throughout: work is counted in sixths of a nanosecond at the full rate, so that two and three
// transfers divide it without a remainder. Omits: what packets and their acknowledgements cost, that reads
// and posted writes differ, remote writes, the CPU's own traffic.
#pragma once

#include "base/types.h"

#include <array>

namespace vramlab::gpu {

enum class link_direction : u8 {
    none,
    in,  // to the device: remote reads, copies from GTT to VRAM
    out, // from it: copies from VRAM to GTT
};

// Who transfers: an engine. Not owned by the link; must outlive it.
class link_user {
public:
    // Its transfer will end then if no other one is begun; called again whenever that changes.
    virtual void transfer_will_end(u64 end_ns) = 0;

protected:
    ~link_user() = default;
};

class link {
public:
    static constexpr u32 users_max = 3;

    // A user has one transfer at a time. Throws std::logic_error if there is no room.
    u32 add(link_user &user);

    // Begins a transfer of work_ns at the full rate, not zero, at begin_ns; neither that nor now_ns may lie
    // before now_ns of the last call. The user's transfer before must be over. All whose end changes are
    // told, this one too.
    void begin(u32 user, u64 now_ns, u64 begin_ns, u64 work_ns, link_direction direction);

private:
    struct transfer {
        link_user *user = nullptr;
        u64 begin_ns = 0;
        u64 left = 0; // sixths of a nanosecond; 0: over, or none
        u64 end_ns = 0;
        link_direction direction = link_direction::none;
    };
    using transfers = std::array<transfer, users_max>;

    static u64 sixths(const transfers &all, const transfer &t, u64 now_ns);
    static u64 step(transfers &all, u64 now_ns, u64 limit_ns);
    void foresee();

    transfers transfers_;
    u64 now_ns_ = 0; // transfers_ are those of then
    u32 users_ = 0;
};

} // namespace vramlab::gpu
