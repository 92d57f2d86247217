// SPDX-License-Identifier: MIT
// Files that appear complete or not at all, and progress on a terminal.
#pragma once

#include "base/types.h"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

namespace vramlab::cli {

// Writes beside `path`, and renames at commit(). Without commit() nothing stays. Throws std::runtime_error.
class atomic_file {
public:
    explicit atomic_file(std::string path);
    ~atomic_file();
    atomic_file(const atomic_file &) = delete;
    atomic_file &operator=(const atomic_file &) = delete;

    std::FILE *stream() { return f_; }
    void commit();

private:
    std::string path_;
    std::string temporary_;
    std::FILE *f_ = nullptr;
};

// One line on stderr, rewritten a few times a second, if stderr is a terminal; nothing otherwise.
class progress_line {
public:
    explicit progress_line(std::string what);
    ~progress_line(); // wipes the line
    progress_line(const progress_line &) = delete;
    progress_line &operator=(const progress_line &) = delete;

    void show(u64 operations, u64 now_ns);

private:
    std::string what_;
    std::chrono::steady_clock::time_point next_;
    bool on_;
    bool shown_ = false;
};

// Likewise: how many of so many are done. Any thread may count.
class progress_count {
public:
    progress_count(std::string what, std::size_t total);
    ~progress_count(); // wipes the line
    progress_count(const progress_count &) = delete;
    progress_count &operator=(const progress_count &) = delete;

    void one_done();

private:
    void show() const;

    std::string what_;
    std::size_t total_;
    std::size_t done_ = 0;
    std::mutex mutex_;
    bool on_;
};

} // namespace vramlab::cli
