// SPDX-License-Identifier: MIT
#include "runner/guest.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vramlab::runner {

namespace fs = std::filesystem;

namespace {

bool runs(const fs::path &file)
{
    return ::access(file.c_str(), X_OK) == 0;
}

std::string find_vm_script(const fs::path &executable)
{
    if (const char *dir = std::getenv("VRAMLAB_SCRIPTS")) {
        if (runs(fs::path(dir) / "vm"))
            return (fs::path(dir) / "vm").string();
        throw std::runtime_error(fmt::format("VRAMLAB_SCRIPTS is {}, which has no vm", dir));
    }
    for (fs::path dir = executable.parent_path(); dir != dir.root_path(); dir = dir.parent_path())
        if (runs(dir / "scripts" / "vm"))
            return (dir / "scripts" / "vm").string();
#ifdef VRAMLAB_SOURCE_ROOT
    if (runs(fs::path(VRAMLAB_SOURCE_ROOT) / "scripts" / "vm"))
        return (fs::path(VRAMLAB_SOURCE_ROOT) / "scripts" / "vm").string();
#endif
    throw std::runtime_error("scripts/vm, which boots the kernel, was not found: set VRAMLAB_SCRIPTS to the "
                             "scripts directory of the "
                             "vramlab sources");
}

} // namespace

guest::guest() : executable_(fs::read_symlink("/proc/self/exe").string())
{
    vm_script_ = find_vm_script(executable_);
}

pid_t guest::start(const std::vector<std::string> &arguments, const std::string &exchange_dir, u64 timeout_s,
                   bool output_to_stderr, u32 processors) const
{
    std::vector<std::string> words = {vm_script_, "run",       "--module",
                                      "vttm",     "--timeout", std::to_string(timeout_s)};
    if (processors)
        words.insert(words.end(), {"--cpus", std::to_string(processors)});
    words.insert(words.end(), {"--rw", exchange_dir, "--", executable_});
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char *> argv;
    for (std::string &w : words)
        argv.push_back(w.data());
    argv.push_back(nullptr);

    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid < 0)
        throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM); // scripts/vm ends its guest
        if (output_to_stderr)
            ::dup2(2, 1);
        ::execv(argv[0], argv.data());
        fmt::print(stderr, "vramlab: cannot run {}: {}\n", argv[0], std::strerror(errno));
        ::_exit(127);
    }
    return pid;
}

int guest::wait(pid_t pid)
{
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            throw std::runtime_error(fmt::format("waitpid: {}", std::strerror(errno)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool in_guest()
{
    return fs::exists("/sys/module/vttm");
}

} // namespace vramlab::runner
