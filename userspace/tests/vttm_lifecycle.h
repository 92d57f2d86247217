// SPDX-License-Identifier: MIT
// Binding and unbinding the driver, and what is left in a device, for tests that run in the guest.
#pragma once

#include "tests/vttm_device.h"

#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace vramlab::tests {

inline const std::string vttm_driver = "/sys/bus/platform/drivers/vttm";

// 0 or a negative errno.
inline int write_to(const std::string &path, const std::string &text)
{
    int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, text.data(), text.size());
    int ret = n < 0 ? -errno : 0;
    close(fd);
    return ret;
}

// The state of a device in debugfs; empty if there is no such device.
inline std::string vttm_state(int index = 0)
{
    struct stat st {};
    if (stat(vttm_node(index).c_str(), &st))
        return {};
    std::ifstream in("/sys/kernel/debug/dri/" + std::to_string(minor(st.st_rdev)) + "/vttm_state");
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// The first line that tells of something that exists in a device that nobody uses; empty if there is none.
inline std::string busy_line(int index)
{
    static constexpr std::pair<const char *, const char *> idle[] = {{"mgr ", "usage 0"},
                                                                     {"engine ", "running 0 queued 0"},
                                                                     {"moves ", "moves 0"},
                                                                     {"budget ", "pinned 0"}};
    std::istringstream in(vttm_state(index));
    int lines = 0;
    for (std::string line; std::getline(in, line); lines++) {
        if (line.compare(0, 3, "bo ") == 0 || line.compare(0, 4, "lru ") == 0)
            return line;
        for (auto [kind, end] : idle)
            if (line.compare(0, strlen(kind), kind) == 0 &&
                (line.size() < strlen(end) || line.compare(line.size() - strlen(end), strlen(end), end) != 0))
                return line;
    }
    return lines ? "" : "there is no state";
}

} // namespace vramlab::tests
