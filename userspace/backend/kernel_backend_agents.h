// SPDX-License-Identifier: MIT
// The agent processes, from the controller's side: forked once, kept from workload to workload, killed at the
// end. An agent that dies or does not answer in time throws std::runtime_error that says what it was asked.
#pragma once

#include "backend/kernel_backend_wire.h"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace vramlab::backend {

class agent_process {
public:
    // Forks; the child runs main(socket) and exits with its value.
    agent_process(const std::function<int(int socket)> &main, u32 timeout_s);
    ~agent_process(); // quits it, or kills it
    agent_process(agent_process &&o) noexcept;
    agent_process &operator=(agent_process &&) = delete;
    agent_process(const agent_process &) = delete;

    pid_t pid() const { return pid_; }

    // Messages that make one exchange. send_request() sends a request's last packet and leaves its reply to
    // receive(), so that agents can work at a time.
    wire::reply call(const wire::message &m, int fd_in = -1, int *fd_out = nullptr);
    wire::reply call(const request &r);
    void send_request(const request &r, u32 flags);
    wire::reply receive(int *fd_out = nullptr);
    bool pending() const { return pending_; } // a reply is due

private:
    void send(int fd = -1);
    [[noreturn]] void fail(const std::string &what);

    pid_t pid_ = -1;
    int socket_ = -1;
    u32 timeout_s_;
    bool pending_ = false;
    bool broken_ = false;
    std::string asked_; // the last request, for messages
    std::vector<std::byte> packet_;
};

} // namespace vramlab::backend
