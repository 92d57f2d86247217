// SPDX-License-Identifier: MIT
// Text tables: columns aligned, two blanks between them, no lines; colour only on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::report {

enum class color : unsigned char { none, bold, red, green, yellow, dim };

// Paints or does not. NO_COLOR (no-color.org) turns it off.
class painter {
public:
    explicit painter(bool on) : on_(on) {}
    // On if f is a terminal.
    static painter for_stream(std::FILE *f);
    std::string paint(std::string_view text, color c) const;

private:
    bool on_;
};

enum class align : unsigned char { left, right };

class table {
public:
    struct cell {
        std::string text;
        color paint = color::none;

        cell(std::string t, color c = color::none) : text(std::move(t)), paint(c) {}
        cell(const char *t, color c = color::none) : text(t), paint(c) {}
    };

    // Headings; an empty heading row is not printed.
    explicit table(std::vector<std::string> headings = {});
    table &set_align(std::size_t column, align a);
    // Shorter rows are filled up with empty cells.
    void add_row(std::vector<cell> row);
    bool empty() const { return rows_.empty(); }
    std::string render(const painter &p) const;

private:
    std::vector<std::string> headings_;
    std::vector<align> align_; // default: the first column left, the others right
    std::vector<std::vector<cell>> rows_;
};

// Columns that text takes on a terminal: UTF-8 sequences count one (no wide characters here).
std::size_t display_width(std::string_view text);

// What every table ends with.
inline constexpr const char *provenance_line = "decisions of mainline and of the patches' mechanisms are "
                                               "checked against the kernel by `vramlab conform`, "
                                               "other policies are on the "
                                               "model only; times are modelled "
                                               "(bandwidths and hit rates, nothing fitted)";

} // namespace vramlab::report
