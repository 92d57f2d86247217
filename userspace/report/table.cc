// SPDX-License-Identifier: MIT
#include "report/table.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace vramlab::report {

painter painter::for_stream(std::FILE *f)
{
    const char *no_color = std::getenv("NO_COLOR");
    return painter(isatty(fileno(f)) && (!no_color || !*no_color));
}

std::string painter::paint(std::string_view text, color c) const
{
    if (!on_ || c == color::none)
        return std::string(text);
    const char *code = "";
    switch (c) {
    case color::none:
        break;
    case color::bold:
        code = "1";
        break;
    case color::red:
        code = "31";
        break;
    case color::green:
        code = "32";
        break;
    case color::yellow:
        code = "33";
        break;
    case color::dim:
        code = "2";
        break;
    }
    return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::size_t display_width(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

table::table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

table &table::set_align(std::size_t column, align a)
{
    while (align_.size() <= column)
        align_.push_back(align_.empty() ? align::left : align::right);
    align_[column] = a;
    return *this;
}

void table::add_row(std::vector<cell> row)
{
    rows_.push_back(std::move(row));
}

std::string table::render(const painter &p) const
{
    std::vector<std::size_t> width;
    auto widen = [&](std::size_t column, std::string_view text) {
        if (width.size() <= column)
            width.resize(column + 1);
        width[column] = std::max(width[column], display_width(text));
    };
    for (std::size_t i = 0; i < headings_.size(); i++)
        widen(i, headings_[i]);
    for (const auto &row : rows_)
        for (std::size_t i = 0; i < row.size(); i++)
            widen(i, row[i].text);

    std::string out;
    auto put = [&](const std::vector<cell> &row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); i++) {
            const align a = i < align_.size() ? align_[i] : i ? align::right : align::left;
            const std::string pad(width[i] - display_width(row[i].text), ' ');
            const std::string text = p.paint(row[i].text, row[i].paint);
            line += (i ? "  " : "") + (a == align::left ? text + pad : pad + text);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    if (!headings_.empty()) {
        std::vector<cell> row;
        for (const std::string &h : headings_)
            row.emplace_back(h, color::bold);
        put(row);
    }
    for (const auto &row : rows_)
        put(row);
    return out;
}

} // namespace vramlab::report
