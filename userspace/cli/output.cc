// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include "report/format.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <sys/stat.h>
#include <unistd.h>

namespace vramlab::cli {

namespace {

[[noreturn]] void cannot_write(const std::string &path)
{
    throw std::runtime_error(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

} // namespace

atomic_file::atomic_file(std::string path) : path_(std::move(path))
{
    struct stat st;
    if (::stat(path_.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) { // a device or a pipe cannot be replaced
        f_ = std::fopen(path_.c_str(), "w");
        if (!f_)
            cannot_write(path_);
        return;
    }
    temporary_ = path_ + ".XXXXXX";
    const int fd = ::mkstemp(temporary_.data());
    if (fd < 0)
        cannot_write(path_);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(fd, 0666 & ~mask); // mkstemp() is for secrets
    f_ = ::fdopen(fd, "w");
}

atomic_file::~atomic_file()
{
    if (!f_)
        return;
    std::fclose(f_);
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

void atomic_file::commit()
{
    bool good = !std::ferror(f_);
    good &= !std::fclose(f_);
    f_ = nullptr;
    if (temporary_.empty() && good)
        return;
    if (good && !std::rename(temporary_.c_str(), path_.c_str()))
        return;
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    cannot_write(path_);
}

progress_line::progress_line(std::string what)
    : what_(std::move(what)), next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(500)),
      on_(::isatty(STDERR_FILENO))
{
}

progress_line::~progress_line()
{
    if (shown_)
        fmt::print(stderr, "\r\033[K");
}

void progress_line::show(u64 operations, u64 now_ns)
{
    if (!on_)
        return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_)
        return;
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    fmt::print(stderr, "\r\033[K{}: {} operations, device time {}", what_, operations,
               report::format_time(now_ns));
    std::fflush(stderr);
}

progress_count::progress_count(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), on_(::isatty(STDERR_FILENO))
{
    show();
}

progress_count::~progress_count()
{
    if (on_)
        fmt::print(stderr, "\r\033[K");
}

void progress_count::one_done()
{
    const std::scoped_lock lock(mutex_);
    done_++;
    show();
}

void progress_count::show() const
{
    if (!on_)
        return;
    fmt::print(stderr, "\r\033[K{} of {} {}", done_, total_, what_);
    std::fflush(stderr);
}

} // namespace vramlab::cli
