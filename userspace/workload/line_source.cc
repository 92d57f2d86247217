// SPDX-License-Identifier: MIT
#include "workload/line_source.h"

#include "base/stdio_file.h"
#include "workload/limits.h"
#include "workload/parse_error.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <vector>
#include <zstd.h>

namespace vramlab::workload {

void line_source::fail(const std::string &problem, const std::string &expected) const
{
    throw parse_error(file_, line_, problem, expected);
}

bool line_source::next(std::string &line)
{
    line.clear();
    while (!ended_) {
        if (chunk_.empty()) {
            chunk_ = read_chunk();
            if (chunk_.empty()) {
                ended_ = true;
                break;
            }
        }
        const std::size_t end = chunk_.find('\n');
        const std::size_t taken = end == std::string_view::npos ? chunk_.size() : end;

        if (line.empty()) {
            if (line_ == std::numeric_limits<u32>::max())
                fail("too many lines", fmt::format("at most {}", line_));
            // A line that starts in this chunk: number it now, so that errors while reading on name it.
            line_++;
        }
        line.append(chunk_.substr(0, taken));
        if (line.size() > line_max_bytes)
            fail("line too long", fmt::format("at most {} bytes", line_max_bytes));
        if (end != std::string_view::npos) {
            chunk_.remove_prefix(end + 1);
            return true;
        }
        chunk_ = {};
    }
    if (!line.empty())
        fail("truncated file: the last line has no newline", "a newline at its end");
    return false;
}

namespace {

stdio_file open_file(const std::string &path)
{
    stdio_file f(std::fopen(path.c_str(), "rb"));

    if (!f)
        throw parse_error(path, 0, fmt::format("cannot open: {}", std::strerror(errno)), "a readable file");
    return f;
}

class plain_lines final : public line_source {
public:
    explicit plain_lines(const std::string &path)
        : line_source(path), file_(open_file(path)), buffer_(64 * KiB)
    {
    }

private:
    std::string_view read_chunk() override
    {
        const std::size_t n = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());

        if (n == 0 && std::ferror(file_.get()))
            fail(fmt::format("cannot read: {}", std::strerror(errno)), "a readable file");
        return {buffer_.data(), n};
    }

    stdio_file file_;
    std::vector<char> buffer_;
};

class zstd_lines final : public line_source {
public:
    explicit zstd_lines(const std::string &path)
        : line_source(path), file_(open_file(path)), stream_(ZSTD_createDStream(), ZSTD_freeDStream),
          in_(ZSTD_DStreamInSize()), out_(ZSTD_DStreamOutSize())
    {
        if (!stream_)
            throw std::bad_alloc();
    }

private:
    std::string_view read_chunk() override
    {
        for (;;) {
            if (input_.pos == input_.size && !holding_ && !refill())
                return {};
            ZSTD_outBuffer output{out_.data(), out_.size(), 0};
            const std::size_t left = ZSTD_decompressStream(stream_.get(), &output, &input_);

            if (ZSTD_isError(left))
                fail(fmt::format("broken zstd data: {}", ZSTD_getErrorName(left)), "a zstd file");
            frame_open_ = left != 0;
            // Output that filled the buffer may have more behind it, without any more input.
            holding_ = frame_open_ && output.pos == output.size;
            if (output.pos)
                return {out_.data(), output.pos};
        }
    }

    bool refill()
    {
        const std::size_t n = std::fread(in_.data(), 1, in_.size(), file_.get());

        if (n == 0 && std::ferror(file_.get()))
            fail(fmt::format("cannot read: {}", std::strerror(errno)), "a readable file");
        if (n == 0 && frame_open_)
            fail("truncated zstd data", "a complete zstd file");
        input_ = {in_.data(), n, 0};
        return n != 0;
    }

    stdio_file file_;
    std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
    std::vector<char> in_;
    std::vector<char> out_;
    ZSTD_inBuffer input_{nullptr, 0, 0};
    bool frame_open_ = true; // an empty file is no zstd file
    bool holding_ = false;
};

class string_lines final : public line_source {
public:
    string_lines(std::string_view text, const std::string &file) : line_source(file), text_(text) {}

private:
    std::string_view read_chunk() override { return std::exchange(text_, {}); }

    std::string_view text_;
};

} // namespace

std::unique_ptr<line_source> open_lines(const std::string &path)
{
    if (path.ends_with(".zst"))
        return std::make_unique<zstd_lines>(path);
    return std::make_unique<plain_lines>(path);
}

std::unique_ptr<line_source> lines_of(std::string_view text, const std::string &file)
{
    return std::make_unique<string_lines>(text, file);
}

} // namespace vramlab::workload
