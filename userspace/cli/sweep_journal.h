// SPDX-License-Identifier: MIT
// The points of a sweep that are done, on disk while the sweep goes on, so that it can be taken up again: a
// line of JSON that says which sweep it is, then one a point.
#pragma once

#include "cli/sweep.h"

#include <cstdio>
#include <mutex>

namespace vramlab::cli {

// What makes two sweeps the same: the program, all scenarios and devices in the items' directories, the items
// and the arguments.
u64 sweep_key(const sweep_arguments &a, const std::vector<sweep_item> &items);

class sweep_journal {
public:
    // Opens or makes the file; an empty path keeps nothing. What it holds of the sweep `key` goes into `rows`
    // (by item), each of `policies` rows with `values` values. A last line that was cut off is dropped.
    // Throws std::runtime_error if it is another sweep's, or no journal, or cannot be written.
    sweep_journal(std::string path, u64 key, std::size_t policies, std::size_t values,
                  std::vector<std::vector<sweep_row>> &rows);
    ~sweep_journal();
    sweep_journal(const sweep_journal &) = delete;
    sweep_journal &operator=(const sweep_journal &) = delete;

    std::size_t found() const { return found_; } // items that were there
    // Any thread may.
    void done(std::size_t item, const std::vector<sweep_row> &rows);

private:
    void read(u64 key, std::size_t policies, std::size_t values, std::vector<std::vector<sweep_row>> &rows);

    std::string path_;
    std::FILE *f_ = nullptr;
    std::size_t found_ = 0;
    long good_bytes_ = 0; // whole lines
    std::mutex mutex_;
};

} // namespace vramlab::cli
