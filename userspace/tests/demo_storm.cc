// SPDX-License-Identifier: MIT
#include "tests/demo_storm.h"

#include "tests/vttm_device.h"

#include <csignal>
#include <cstdio>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace vramlab::tests {

namespace {

constexpr u64 bo_bytes = 256 * KiB;
constexpr u32 swapouts_a_round = 4;

bool stop_asked(int commands)
{
    pollfd p{commands, POLLIN, 0};
    return poll(&p, 1, 0) != 0;
}

// Two ways in turn: buffers of its own that need all of video memory, and what suspend and memory pressure
// do.
int one_round(const vttm_file &file, const std::vector<u32> &handles, u64 round)
{
    if (round % 2) {
        int error = file.lab(DRM_VTTM_LAB_EVICT_ALL);
        for (u32 i = 0; !error && i < swapouts_a_round; i++)
            file.lab(DRM_VTTM_LAB_SWAPOUT); // there may be nothing to swap out
        return error;
    }
    u64 seqno = 0;
    const int error = file.submit(handles, &seqno);
    // No room because the other side is at work: the next round will do.
    if (error == -ENOMEM || error == -ENOSPC)
        return 0;
    return error ? error : file.wait(seqno, 60'000'000'000);
}

} // namespace

demo_storm::demo_storm(u64 vram_bytes)
{
    int commands[2], reports[2];
    if (pipe2(commands, O_CLOEXEC) || pipe2(reports, O_CLOEXEC))
        throw std::runtime_error("storm: no pipe");
    pid_ = fork();
    if (pid_ < 0)
        throw std::runtime_error("storm: no process");
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(commands[1]);
        close(reports[0]);
        run(commands[0], reports[1], vram_bytes);
    }
    close(commands[0]);
    close(reports[1]);
    commands_ = commands[1];
    reports_ = reports[0];
}

demo_storm::~demo_storm()
{
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(commands_);
    close(reports_);
}

void demo_storm::run(int commands, int reports, u64 vram_bytes)
{
    char go = 0;
    if (read(commands, &go, 1) != 1)
        _exit(0);
    vttm_file file;
    std::vector<u32> handles;
    for (u64 done = 0; done < vram_bytes; done += bo_bytes)
        handles.push_back(file.must_create(bo_bytes, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM));
    u64 rounds = 0;
    for (; !stop_asked(commands); rounds++) {
        const int error = one_round(file, handles, rounds);
        if (error) {
            std::fprintf(stderr, "storm: round %llu: %s\n", static_cast<unsigned long long>(rounds),
                         std::strerror(-error));
            _exit(1);
        }
    }
    _exit(write(reports, &rounds, sizeof rounds) == sizeof rounds ? 0 : 1);
}

void demo_storm::begin()
{
    if (write(commands_, "g", 1) != 1)
        throw std::runtime_error("storm: it is gone");
}

u64 demo_storm::end()
{
    u64 rounds = 0;
    int status = 1;
    const bool asked = write(commands_, "e", 1) == 1;
    const bool told = read(reports_, &rounds, sizeof rounds) == sizeof rounds;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    if (!asked || !told || status)
        throw std::runtime_error("storm: it has failed");
    return rounds;
}

} // namespace vramlab::tests
