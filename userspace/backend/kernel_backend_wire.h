// SPDX-License-Identifier: MIT
// Messages between the controller (kernel_backend) and its agents, one per process of a workload. Both run on
// one machine and from one executable, so messages are plain structures in host byte order over a
// SOCK_SEQPACKET socket: one message a packet, one reply a message. A file descriptor (a shared BO) travels
// beside a message as SCM_RIGHTS.
#pragma once

#include "base/request.h"

#include <cstddef>
#include <span>
#include <vector>

namespace vramlab::backend::wire {

enum class message_kind : u32 {
    request,     // a request of the workload
    export_bo,   // vm, bo: the reply carries a dma-buf
    import_bo,   // vm, bo: comes with a dma-buf
    signaled,    // vm, seqno: error is 0, or -ETIME if it is not finished
    become_task, // process: lockstep registration; name: what tools call the task
    reset,       // close all files
    quit,
};

// The request is the operation of a lockstep task: the agent reports its end to the driver.
inline constexpr u32 flag_lockstep = 1u << 0;
// More elements for the list or touch set that the message before defined.
inline constexpr u32 flag_append = 1u << 1;

// Elements (tags, or touches) in one message, so that it fits a socket buffer of the default size (208 KiB).
inline constexpr u32 elements_max = 4096;

struct message {
    message_kind kind{};
    u32 flags = 0;
    request_kind what{};
    u8 pad[3] = {};
    u32 process = 0;
    u32 vm = 0;
    u32 id = 0;
    u32 list = 0;
    u32 touch_set = 0;
    u32 preferred = 0;
    u32 allowed = 0;
    u32 gem_flags = 0;
    u32 priority = 0;
    u32 bo_count = 0;    // u64 tags that follow
    u32 touch_count = 0; // then touches
    u64 bo = 0;
    u64 size_bytes = 0;
    u64 compute_ns = 0;
    u64 seqno = 0;
    char name[16] = {}; // with its end, as long as names of tasks can be
};
static_assert(sizeof(message) == 104 && sizeof(touch) == 24);

struct reply {
    s32 error = 0;
    u32 pad = 0;
    u64 seqno = 0;
};

inline constexpr std::size_t packet_max = sizeof(message) + elements_max * sizeof(touch);

// A decoded packet; the spans point into it.
struct view {
    message head;
    std::span<const std::byte> bos;     // u64 each, unaligned
    std::span<const std::byte> touches; // touch each, unaligned
};

// Number of packets that r needs, at least one; the n-th of them into `packet` (overwritten).
u32 packet_count(const request &r);
void encode(const request &r, u32 flags, u32 n, std::vector<std::byte> &packet);
void encode(const message &m, std::vector<std::byte> &packet);
// False if the packet is malformed.
bool decode(std::span<const std::byte> packet, view &v);

// One packet, and a file descriptor beside it if fd is not negative. False with errno set.
bool send_packet(int socket, std::span<const std::byte> packet, int fd = -1);
// Length of the packet, 0 at the end of the connection, -1 with errno set (EAGAIN: the socket's timeout,
// EMSGSIZE: cut off). A descriptor that came with it goes to *fd, which else becomes -1; without a place to
// put it, it is closed.
long receive_packet(int socket, std::span<std::byte> buffer, int *fd = nullptr);

} // namespace vramlab::backend::wire
