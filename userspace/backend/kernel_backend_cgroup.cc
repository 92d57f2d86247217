// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_cgroup.h"

#include "backend/system_error.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace vramlab::backend {

namespace {

// Bytes beyond what a page_counter holds are no limit (include/linux/page_counter.h, PAGE_COUNTER_MAX).
constexpr u64 page_counter_max = 0x7fffffffffffffff / 4096;

int write_file(const std::string &file, std::string_view text)
{
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    const ssize_t n = ::write(fd, text.data(), text.size());
    const int err = n < 0 ? -errno : 0;
    ::close(fd);
    return err;
}

} // namespace

dmem_cgroups::dmem_cgroups(std::string region, std::string root)
    : region_(std::move(region)), root_(std::move(root))
{
    if (const int err = write_file(root_ + "/cgroup.subtree_control", "+dmem"))
        throw_system_error(
            fmt::format("cannot enable the dmem controller in {} (is cgroup2 mounted there?)", root_), err);
}

dmem_cgroups::~dmem_cgroups()
{
    remove_all();
}

std::string dmem_cgroups::dir_of(const std::string &path) const
{
    return fmt::format("{}/vramlab.{}", root_, path);
}

const dmem_cgroups::group *dmem_cgroups::find(const std::string &path) const
{
    const auto it =
        std::find_if(groups_.begin(), groups_.end(), [&](const group &g) { return g.path == path; });
    return it == groups_.end() ? nullptr : &*it;
}

void dmem_cgroups::remove_all()
{
    for (std::size_t i = groups_.size(); i-- > 0;) {
        ::close(groups_[i].current_fd);
        ::rmdir(groups_[i].dir.c_str());
    }
    groups_.clear();
    order_.clear();
}

bool dmem_cgroups::fits(const std::vector<cgroup_config> &groups) const
{
    for (const cgroup_config &c : groups) {
        const group *const own = find(c.path);
        const bool inner = std::any_of(groups.begin(), groups.end(), [&](const cgroup_config &o) {
            return o.path.starts_with(c.path + "/");
        });
        if (own && inner ? own->attached : own && own->inner)
            return false;
    }
    return true;
}

dmem_cgroups::group &dmem_cgroups::make(const std::string &path)
{
    if (const group *const g = find(path))
        return groups_[static_cast<std::size_t>(g - groups_.data())];

    const std::size_t slash = path.rfind('/');
    if (slash != std::string::npos) {
        group &parent = make(path.substr(0, slash));
        parent.inner = true;
        if (const int err = write_file(parent.dir + "/cgroup.subtree_control", "+dmem"))
            throw_system_error(
                fmt::format("cannot enable dmem below {} (a group with processes of its own has no children)",
                            parent.dir),
                err);
    }
    group g;
    g.path = path;
    g.dir = dir_of(path);
    if (::mkdir(g.dir.c_str(), 0755) && errno != EEXIST)
        throw_system_error("cannot create " + g.dir, -errno);
    g.current_fd = ::open((g.dir + "/dmem.current").c_str(), O_RDONLY | O_CLOEXEC);
    if (g.current_fd < 0)
        throw_system_error("cannot open dmem.current in " + g.dir, -errno);
    return groups_.emplace_back(std::move(g));
}

void dmem_cgroups::set_up(const std::vector<cgroup_config> &groups)
{
    for (group &g : groups_) {
        if (!g.limited)
            continue;
        cgroup_config none;
        none.path = g.path;
        if (const int err = set_limits(none))
            throw_system_error("cannot take back the limits of " + g.dir, err);
        g.limited = false;
    }
    order_.clear();
    for (const cgroup_config &c : groups) {
        order_.push_back(static_cast<std::size_t>(&make(c.path) - groups_.data()));
        if (const int err = set_limits(c))
            throw_system_error(fmt::format("cannot set the limits of {}", dir_of(c.path)), err);
    }
}

void dmem_cgroups::attach(int pid, const std::string &path)
{
    const std::string file = (path.empty() ? root_ : dir_of(path)) + "/cgroup.procs";
    if (const int err = write_file(file, fmt::format("{}", pid)))
        throw_system_error(fmt::format("cannot move a process to cgroup '{}'{}", path,
                                       err == -EBUSY ? " (processes belong into leaves)" : ""),
                           err);
    for (group &g : groups_)
        g.attached |= g.path == path;
}

int dmem_cgroups::write_limit(const std::string &dir, const char *file, u64 bytes) const
{
    const std::string value = bytes >= page_counter_max ? "max" : fmt::format("{}", bytes);
    return write_file(fmt::format("{}/{}", dir, file), fmt::format("{} {}", region_, value));
}

int dmem_cgroups::set_limits(const cgroup_config &c)
{
    const std::string dir = dir_of(c.path);
    for (group &g : groups_)
        g.limited |= g.path == c.path;
    int err = write_limit(dir, "dmem.min", c.min_bytes);
    if (!err)
        err = write_limit(dir, "dmem.low", c.low_bytes);
    if (!err)
        err = write_limit(dir, "dmem.max", c.max_bytes);
    return err;
}

// The file has a line "<region> <bytes>" for each region of the machine.
u64 dmem_cgroups::current(std::size_t n)
{
    const group &g = groups_[order_.at(n)];
    char text[1024];
    const ssize_t length = ::pread(g.current_fd, text, sizeof(text), 0);
    if (length < 0)
        throw_system_error("cannot read dmem.current in " + g.dir, -errno);
    std::string_view rest(text, static_cast<std::size_t>(length));
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (line.size() <= region_.size() || !line.starts_with(region_) || line[region_.size()] != ' ')
            continue;
        const std::string_view value = line.substr(region_.size() + 1);
        u64 bytes = 0;
        std::from_chars(value.data(), value.data() + value.size(), bytes);
        return bytes;
    }
    throw std::runtime_error(fmt::format("no region {} in dmem.current of {}", region_, g.dir));
}

} // namespace vramlab::backend
