// SPDX-License-Identifier: MIT
#include "trace/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vramlab::trace {

trace_error::trace_error(u64 offset, const std::string &what)
    : std::runtime_error(fmt::format("at offset {}: {}", offset, what))
{
}

void damage_list::add(u64 offset, std::string what)
{
    if (first_.size() < kept)
        first_.push_back({offset, std::move(what)});
    count_++;
}

namespace {

class file_source final : public byte_source {
public:
    explicit file_source(int fd) : fd_(fd)
    {
        struct stat s = {};
        if (fstat(fd, &s) || !S_ISREG(s.st_mode)) {
            close(fd);
            throw trace_error("not a file, expected a regular one");
        }
        size_ = static_cast<u64>(s.st_size);
    }
    ~file_source() override { close(fd_); }

    u64 size() const override { return size_; }

    std::size_t read(u64 offset, std::span<u8> out) const override
    {
        std::size_t done = 0;
        while (done < out.size()) {
            const ssize_t n =
                pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                throw trace_error(offset + done, std::strerror(errno));
            if (n == 0)
                break;
            done += static_cast<std::size_t>(n);
        }
        return done;
    }

private:
    int fd_;
    u64 size_;
};

class memory_source final : public byte_source {
public:
    explicit memory_source(std::span<const u8> bytes) : bytes_(bytes) {}

    u64 size() const override { return bytes_.size(); }

    std::size_t read(u64 offset, std::span<u8> out) const override
    {
        if (offset >= bytes_.size())
            return 0;
        const std::size_t n = std::min<std::size_t>(out.size(), bytes_.size() - offset);
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), n, out.begin());
        return n;
    }

private:
    std::span<const u8> bytes_;
};

} // namespace

std::unique_ptr<byte_source> open_file(const std::string &path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        throw trace_error(std::strerror(errno));
    return std::make_unique<file_source>(fd);
}

std::unique_ptr<byte_source> source_of(std::FILE *f)
{
    std::fflush(f);
    const int fd = dup(fileno(f));
    std::fclose(f);
    if (fd < 0)
        throw trace_error(std::strerror(errno));
    return std::make_unique<file_source>(fd);
}

std::unique_ptr<byte_source> source_of(std::span<const u8> bytes)
{
    return std::make_unique<memory_source>(bytes);
}

} // namespace vramlab::trace
