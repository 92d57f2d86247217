// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_agents.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace vramlab::backend {

namespace {

[[noreturn]] void run_child(const std::function<int(int)> &main, int socket, pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(1);
    // Interrupts from the terminal are the controller's to handle.
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGQUIT, SIG_IGN);
    // Only the standard streams and the socket: others' sockets would hide from the controller that they
    // died.
    constexpr int own_socket = 3;
    if (socket != own_socket)
        ::dup2(socket, own_socket);
    ::close_range(own_socket + 1, ~0u, 0);
    int status = 2;
    try {
        status = main(own_socket);
    } catch (const std::exception &e) {
        fmt::print(stderr, "vramlab: agent: {}\n", e.what());
    }
    ::_exit(status); // not the parent's destructors and buffers
}

// What the process sleeps in, for messages about a hang. Needs no more than a readable /proc.
std::string kernel_stack(pid_t pid)
{
    std::ifstream stack(fmt::format("/proc/{}/stack", pid));
    std::string text;
    std::string line;
    for (int i = 0; i < 8 && std::getline(stack, line); i++)
        text += "\n    " + line;
    return text;
}

} // namespace

agent_process::agent_process(const std::function<int(int)> &main, u32 timeout_s) : timeout_s_(timeout_s)
{
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        throw std::runtime_error(fmt::format("socketpair: {}", std::strerror(errno)));
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) {
        const int err = errno;
        ::close(pair[0]);
        ::close(pair[1]);
        throw std::runtime_error(fmt::format("fork: {}", std::strerror(err)));
    }
    if (pid_ == 0) {
        ::close(pair[0]);
        run_child(main, pair[1], parent);
    }
    ::close(pair[1]);
    socket_ = pair[0];
    timeval limit{};
    limit.tv_sec = timeout_s;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

agent_process::agent_process(agent_process &&o) noexcept
    : pid_(std::exchange(o.pid_, -1)), socket_(std::exchange(o.socket_, -1)), timeout_s_(o.timeout_s_),
      pending_(o.pending_), broken_(o.broken_), asked_(std::move(o.asked_)), packet_(std::move(o.packet_))
{
}

// One that sleeps in the kernel and cannot be killed is left behind rather than waited for.
agent_process::~agent_process()
{
    if (pid_ < 0)
        return;
    ::close(socket_); // an idle agent ends by itself
    if (pending_ || broken_)
        ::kill(pid_, SIGKILL);
    for (int i = 0; i < 2000; i++) {
        if (::waitpid(pid_, nullptr, WNOHANG) != 0)
            return;
        if (i == 1000)
            ::kill(pid_, SIGKILL);
        ::usleep(1000);
    }
    fmt::print(stderr, "vramlab: agent {} hangs in the kernel and was left behind{}\n", pid_,
               kernel_stack(pid_));
}

void agent_process::fail(const std::string &what)
{
    broken_ = true;
    throw std::runtime_error(
        fmt::format("agent {} {} (it was asked: {}){}", pid_, what, asked_, kernel_stack(pid_)));
}

void agent_process::send(int fd)
{
    if (!wire::send_packet(socket_, packet_, fd))
        fail(fmt::format("cannot be reached: {}", std::strerror(errno)));
    pending_ = true;
}

wire::reply agent_process::receive(int *fd_out)
{
    wire::reply r;
    const long n = wire::receive_packet(socket_, std::as_writable_bytes(std::span(&r, 1)), fd_out);
    if (n == sizeof(r)) {
        pending_ = false;
        return r;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        fail(fmt::format("did not answer within {} s", timeout_s_));
    if (n < 0)
        fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    int status = 0;
    if (n == 0 && ::waitpid(pid_, &status, 0) == pid_) {
        const pid_t pid = std::exchange(pid_, -1);
        ::close(std::exchange(socket_, -1));
        throw std::runtime_error(WIFSIGNALED(status)
                                     ? fmt::format("agent {} was killed by signal {} (it was asked: {})", pid,
                                                   WTERMSIG(status), asked_)
                                     : fmt::format("agent {} exited with {} (it was asked: {})", pid,
                                                   WEXITSTATUS(status), asked_));
    }
    fail("sent a malformed reply");
}

wire::reply agent_process::call(const wire::message &m, int fd_in, int *fd_out)
{
    asked_ = fmt::format("message {} of vm {} bo {}", static_cast<u32>(m.kind), m.vm, m.bo);
    wire::encode(m, packet_);
    send(fd_in);
    return receive(fd_out);
}

void agent_process::send_request(const request &r, u32 flags)
{
    asked_ = fmt::format("request {} of vm {} bo {}", static_cast<u32>(r.kind), r.vm, r.bo);
    const u32 count = wire::packet_count(r);
    for (u32 n = 0; n < count; n++) {
        wire::encode(r, flags, n, packet_);
        send();
        if (n + 1 < count)
            receive(); // an error of a part is an error of every part
    }
}

wire::reply agent_process::call(const request &r)
{
    send_request(r, 0);
    return receive();
}

} // namespace vramlab::backend
