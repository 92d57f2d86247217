// SPDX-License-Identifier: MIT
// Does the wire carry requests unharmed, and does an agent make of them what the driver should be asked?
// Without a kernel: the agent's system calls go to a fake.
#include "backend/kernel_backend_agent.h"
#include "backend/kernel_backend_agents.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace vramlab::backend {
namespace {

request define(u32 vm, u32 id, std::vector<u64> bos)
{
    request r;
    r.kind = request_kind::list_define;
    r.process = 1;
    r.vm = vm;
    r.id = id;
    r.bos = std::move(bos);
    return r;
}

request simple(request_kind kind, u32 vm, u64 bo = 0)
{
    request r;
    r.kind = kind;
    r.process = 1;
    r.vm = vm;
    r.bo = bo;
    return r;
}

TEST(kernel_backend_wire, request_survives)
{
    request r = simple(request_kind::submit, 7, u64{1} << 40);
    r.list = 3;
    r.touch_set = 4;
    r.compute_ns = 123456789;
    r.touches = {{5, 6, 7}, {8, 9, 10}};
    r.bos = {11, 12};
    std::vector<std::byte> packet;
    wire::encode(r, wire::flag_lockstep, 0, packet);
    wire::view v;
    ASSERT_TRUE(wire::decode(packet, v));
    EXPECT_EQ(v.head.flags, wire::flag_lockstep);
    EXPECT_EQ(v.head.what, request_kind::submit);
    EXPECT_EQ(v.head.vm, 7u);
    EXPECT_EQ(v.head.bo, u64{1} << 40);
    EXPECT_EQ(v.head.list, 3u);
    EXPECT_EQ(v.head.touch_set, 4u);
    EXPECT_EQ(v.head.compute_ns, 123456789u);
    ASSERT_EQ(v.bos.size(), 16u);
    ASSERT_EQ(v.touches.size(), 2 * sizeof(touch));
    touch last;
    std::memcpy(&last, v.touches.data() + sizeof(touch), sizeof(last));
    EXPECT_EQ(last, (touch{8, 9, 10}));
}

TEST(kernel_backend_wire, malformed_packets_are_refused)
{
    std::vector<std::byte> packet;
    wire::view v;
    EXPECT_FALSE(wire::decode(packet, v));
    wire::encode(define(1, 1, {1, 2, 3}), 0, 0, packet);
    ASSERT_TRUE(wire::decode(packet, v));
    packet.pop_back();
    EXPECT_FALSE(wire::decode(packet, v));
    packet.resize(packet.size() + 2);
    EXPECT_FALSE(wire::decode(packet, v));
}

TEST(kernel_backend_wire, long_lists_go_in_parts)
{
    request r = define(1, 1, std::vector<u64>(2 * wire::elements_max + 1, 9));
    EXPECT_EQ(wire::packet_count(r), 3u);
    std::vector<std::byte> packet;
    wire::view v;
    wire::encode(r, 0, 0, packet);
    ASSERT_TRUE(wire::decode(packet, v));
    EXPECT_EQ(v.head.flags & wire::flag_append, 0u);
    EXPECT_EQ(v.head.bo_count, wire::elements_max);
    wire::encode(r, 0, 2, packet);
    ASSERT_TRUE(wire::decode(packet, v));
    EXPECT_NE(v.head.flags & wire::flag_append, 0u);
    EXPECT_EQ(v.head.bo_count, 1u);
    EXPECT_EQ(wire::packet_count(simple(request_kind::wait, 1)), 1u);
}

// Notes what it is asked, and answers as a driver without memory would. A "dma-buf" is a pipe's end.
class fake_port final : public drm_port {
public:
    struct call {
        int file;
        unsigned long nr;
        std::vector<u32> handles; // of a submission, or the one handle
    };
    std::vector<call> calls;
    std::vector<int> closed;
    std::vector<drm_vttm_submit_touch> touches;
    int submit_error = 0;

    int open() override { return next_file_++; }
    void close(int file) override { closed.push_back(file); }
    int export_bo(int, unsigned handle, int *dma_buf) override
    {
        if (!handle)
            return -ENOENT;
        int ends[2];
        if (::pipe(ends))
            return -errno;
        ::close(ends[1]);
        *dma_buf = ends[0];
        return 0;
    }
    int import_bo(int, int dma_buf, unsigned *handle) override
    {
        if (::fcntl(dma_buf, F_GETFD) < 0)
            return -EBADF;
        *handle = next_handle_++;
        return 0;
    }
    int ioctl(int file, unsigned long nr, void *arg) override
    {
        call c{file, nr, {}};
        int ret = 0;
        if (nr == DRM_IOCTL_VTTM_GEM_CREATE) {
            static_cast<drm_vttm_gem_create *>(arg)->handle = next_handle_++;
        } else if (nr == DRM_IOCTL_VTTM_SUBMIT) {
            auto *s = static_cast<drm_vttm_submit *>(arg);
            const auto *bos = reinterpret_cast<const drm_vttm_submit_bo *>(s->bos);
            for (u32 i = 0; i < s->bo_count; i++)
                c.handles.push_back(bos[i].handle);
            const auto *t = reinterpret_cast<const drm_vttm_submit_touch *>(s->touches);
            touches.assign(t, t + s->touch_count);
            ret = submit_error;
            s->seqno = ret ? 0 : ++seqno_;
        } else if (nr == DRM_IOCTL_GEM_CLOSE) {
            c.handles = {static_cast<drm_gem_close *>(arg)->handle};
            ret = c.handles[0] ? 0 : -EINVAL;
        }
        calls.push_back(c);
        return ret;
    }

private:
    int next_file_ = 100;
    unsigned next_handle_ = 1;
    u64 seqno_ = 0;
};

// An agent on a thread; the test is the controller.
class kernel_backend_agent : public testing::Test {
protected:
    kernel_backend_agent()
    {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
            throw std::runtime_error("socketpair");
        socket_ = pair[0];
        thread_ = std::thread([this, s = pair[1]] {
            status_ = kernel_agent(port_, s).run();
            ::close(s);
        });
    }
    ~kernel_backend_agent() override { end(); }

    void end()
    {
        if (socket_ >= 0)
            ::close(std::exchange(socket_, -1));
        if (thread_.joinable())
            thread_.join();
    }

    wire::reply exchange(int fd_in = -1, int *fd_out = nullptr)
    {
        EXPECT_TRUE(wire::send_packet(socket_, packet_, fd_in));
        wire::reply r;
        EXPECT_EQ(wire::receive_packet(socket_, std::as_writable_bytes(std::span(&r, 1)), fd_out),
                  static_cast<long>(sizeof(r)));
        return r;
    }
    wire::reply ask(const request &r, u32 flags = 0)
    {
        wire::reply reply;
        for (u32 n = 0; n < wire::packet_count(r); n++) {
            wire::encode(r, flags, n, packet_);
            reply = exchange();
        }
        return reply;
    }
    wire::reply ask(wire::message_kind kind, u32 vm = 0, u64 bo = 0, int fd_in = -1, int *fd_out = nullptr)
    {
        wire::message m;
        m.kind = kind;
        m.process = 1;
        m.vm = vm;
        m.bo = bo;
        wire::encode(m, packet_);
        return exchange(fd_in, fd_out);
    }

    fake_port port_; // looked at between exchanges only
    int socket_ = -1;
    int status_ = -1;
    std::thread thread_;
    std::vector<std::byte> packet_;
};

TEST_F(kernel_backend_agent, submits_handles_of_tags)
{
    EXPECT_EQ(ask(simple(request_kind::vm_open, 5)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::bo_create, 5, 1000)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::bo_create, 5, 2000)).error, 0);
    EXPECT_EQ(ask(define(5, 1, {2000, 1000, 3000})).error, 0);
    request touches = simple(request_kind::touch_define, 5);
    touches.id = 2;
    touches.touches = {{1000, 11, 12}};
    EXPECT_EQ(ask(touches).error, 0);
    request s = simple(request_kind::submit, 5);
    s.list = 1;
    s.touch_set = 2;
    wire::reply r = ask(s);
    EXPECT_EQ(r.error, 0);
    EXPECT_EQ(r.seqno, 1u);
    EXPECT_EQ(port_.calls.back().handles, (std::vector<u32>{2, 1, 0}));
    ASSERT_EQ(port_.touches.size(), 1u);
    EXPECT_EQ(port_.touches[0].handle, 1u);
    EXPECT_EQ(port_.touches[0].link_bytes, 12u);

    // A list follows the handles: what is destroyed or made later counts from then on.
    EXPECT_EQ(ask(simple(request_kind::bo_destroy, 5, 1000)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::bo_create, 5, 3000)).error, 0);
    EXPECT_EQ(ask(s).seqno, 2u);
    EXPECT_EQ(port_.calls.back().handles, (std::vector<u32>{2, 0, 3}));
    EXPECT_EQ(port_.touches[0].handle, 0u);
}

TEST_F(kernel_backend_agent, errors_come_back)
{
    EXPECT_EQ(ask(simple(request_kind::bo_create, 5, 1)).error, -ENOENT);
    EXPECT_EQ(ask(simple(request_kind::vm_open, 5)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::vm_open, 5)).error, -EEXIST);
    EXPECT_EQ(ask(simple(request_kind::bo_destroy, 5, 77)).error, -EINVAL);
    request s = simple(request_kind::submit, 5);
    s.list = 9;
    EXPECT_EQ(ask(s).error, -ENOENT);
    s.list = 0;
    port_.submit_error = -ENOMEM;
    const wire::reply r = ask(s);
    EXPECT_EQ(r.error, -ENOMEM);
    EXPECT_EQ(r.seqno, 0u);
    EXPECT_EQ(ask(simple(request_kind::wait, 5)).error, 0); // nothing was submitted: no wait
    EXPECT_EQ(port_.calls.back().nr, static_cast<unsigned long>(DRM_IOCTL_VTTM_SUBMIT));
}

TEST_F(kernel_backend_agent, lockstep_operations_report_their_end)
{
    EXPECT_EQ(ask(wire::message_kind::become_task).error, 0);
    EXPECT_EQ(port_.calls.back().nr, static_cast<unsigned long>(DRM_IOCTL_VTTM_LAB));
    EXPECT_EQ(ask(simple(request_kind::vm_open, 5), wire::flag_lockstep).error, 0);
    ASSERT_GE(port_.calls.size(), 2u);
    EXPECT_EQ(port_.calls.back().nr, static_cast<unsigned long>(DRM_IOCTL_VTTM_LAB));
    EXPECT_EQ(port_.calls[port_.calls.size() - 2].nr,
              static_cast<unsigned long>(DRM_IOCTL_VTTM_VM_SET_LABEL));
}

TEST_F(kernel_backend_agent, shares_by_descriptor)
{
    EXPECT_EQ(ask(simple(request_kind::vm_open, 1)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::vm_open, 2)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::bo_create, 1, 10)).error, 0);
    int dma_buf = -1;
    EXPECT_EQ(ask(wire::message_kind::export_bo, 1, 99, -1, &dma_buf).error, -ENOENT);
    EXPECT_EQ(dma_buf, -1);
    EXPECT_EQ(ask(wire::message_kind::export_bo, 1, 10, -1, &dma_buf).error, 0);
    ASSERT_GE(dma_buf, 0);
    EXPECT_EQ(ask(wire::message_kind::import_bo, 2, 10, dma_buf).error, 0);
    ::close(dma_buf);
    EXPECT_EQ(ask(wire::message_kind::import_bo, 2, 10).error, -EPROTO);
    EXPECT_EQ(ask(define(2, 1, {10})).error, 0);
    request s = simple(request_kind::submit, 2);
    s.list = 1;
    EXPECT_EQ(ask(s).error, 0);
    EXPECT_EQ(port_.calls.back().handles, (std::vector<u32>{2}));
}

TEST_F(kernel_backend_agent, reset_closes_files_and_end_of_connection_ends_it)
{
    EXPECT_EQ(ask(simple(request_kind::vm_open, 1)).error, 0);
    EXPECT_EQ(ask(simple(request_kind::vm_open, 2)).error, 0);
    EXPECT_EQ(ask(wire::message_kind::reset).error, 0);
    EXPECT_EQ(port_.closed, (std::vector<int>{100, 101}));
    EXPECT_EQ(ask(simple(request_kind::vm_close, 1)).error, -ENOENT);
    EXPECT_EQ(ask(simple(request_kind::vm_open, 1)).error, 0);
    end();
    EXPECT_EQ(status_, 0);
    EXPECT_EQ(port_.closed.back(), 102);
}

TEST(kernel_backend_agents, silence_and_death_are_errors)
{
    agent_process silent([](int) { return ::pause(); }, 1);
    EXPECT_THROW(silent.call(simple(request_kind::vm_open, 1)), std::runtime_error);

    agent_process gone([](int) { return 3; }, 5);
    try {
        gone.call(simple(request_kind::vm_open, 1));
        FAIL() << "expected an exception";
    } catch (const std::runtime_error &) {
    }
}

} // namespace
} // namespace vramlab::backend
