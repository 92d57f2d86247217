// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_wire.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace vramlab::backend::wire {

namespace {

void append(std::vector<std::byte> &packet, const void *data, std::size_t bytes)
{
    const auto *p = static_cast<const std::byte *>(data);
    packet.insert(packet.end(), p, p + bytes);
}

std::size_t element_count(const request &r)
{
    return std::max(r.bos.size(), r.touches.size());
}

// The n-th slice of elements_max.
template <typename T> std::span<const T> slice(const std::vector<T> &all, u32 n)
{
    const std::size_t first = std::min(all.size(), std::size_t{n} * elements_max);
    return std::span(all).subspan(first, std::min<std::size_t>(elements_max, all.size() - first));
}

} // namespace

u32 packet_count(const request &r)
{
    return std::max<u32>(1, static_cast<u32>((element_count(r) + elements_max - 1) / elements_max));
}

void encode(const message &m, std::vector<std::byte> &packet)
{
    packet.clear();
    append(packet, &m, sizeof(m));
}

void encode(const request &r, u32 flags, u32 n, std::vector<std::byte> &packet)
{
    const auto bos = slice(r.bos, n);
    const auto touches = slice(r.touches, n);

    message m;
    m.kind = message_kind::request;
    m.flags = flags | (n ? flag_append : 0);
    m.what = r.kind;
    m.process = r.process;
    m.vm = r.vm;
    m.id = r.id;
    m.list = r.list;
    m.touch_set = r.touch_set;
    m.preferred = r.preferred;
    m.allowed = r.allowed;
    m.gem_flags = r.flags;
    m.priority = r.priority;
    m.bo_count = static_cast<u32>(bos.size());
    m.touch_count = static_cast<u32>(touches.size());
    m.bo = r.bo;
    m.size_bytes = r.size_bytes;
    m.compute_ns = r.compute_ns;
    m.seqno = r.seqno;

    encode(m, packet);
    append(packet, bos.data(), bos.size_bytes());
    append(packet, touches.data(), touches.size_bytes());
}

bool decode(std::span<const std::byte> packet, view &v)
{
    if (packet.size() < sizeof(message))
        return false;
    std::memcpy(&v.head, packet.data(), sizeof(message));
    packet = packet.subspan(sizeof(message));
    if (v.head.bo_count > elements_max || v.head.touch_count > elements_max)
        return false;
    const std::size_t bo_bytes = v.head.bo_count * sizeof(u64);
    const std::size_t touch_bytes = v.head.touch_count * sizeof(touch);
    if (packet.size() != bo_bytes + touch_bytes)
        return false;
    v.bos = packet.subspan(0, bo_bytes);
    v.touches = packet.subspan(bo_bytes);
    return v.head.kind <= message_kind::quit;
}

bool send_packet(int socket, std::span<const std::byte> packet, int fd)
{
    if (fd < 0) {
        long n;
        do
            n = ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n == static_cast<long>(packet.size());
    }

    iovec iov{const_cast<std::byte *>(packet.data()), packet.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr msg{};
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control;
    msg.msg_controllen = sizeof(control);
    cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof(int));
    long n;
    do
        n = ::sendmsg(socket, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == static_cast<long>(packet.size());
}

long receive_packet(int socket, std::span<std::byte> buffer, int *fd)
{
    iovec iov{buffer.data(), buffer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr msg{};
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control;
    msg.msg_controllen = sizeof(control);
    long n;
    do
        n = ::recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);

    int received = -1;
    if (n >= 0)
        for (cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
                std::memcpy(&received, CMSG_DATA(c), sizeof(int));
    if (fd)
        *fd = received;
    else if (received >= 0)
        ::close(received);

    if (n >= 0 && (msg.msg_flags & MSG_TRUNC)) {
        errno = EMSGSIZE;
        return -1;
    }
    return n;
}

} // namespace vramlab::backend::wire
