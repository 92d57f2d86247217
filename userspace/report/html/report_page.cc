// SPDX-License-Identifier: MIT
#include "report/html/report_page.h"

#include "report/html/page_text.h"

#include <fmt/format.h>

namespace vramlab::report {

std::string html_escape(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

void write_page(std::FILE *f, const std::vector<page_scenario> &scenarios, const page_options &o)
{
    std::string title;
    for (const page_scenario &s : scenarios)
        title += fmt::format("{}{}", title.empty() ? "" : ", ", s.name);
    title = html_escape(title + " - vramlab");
    const std::string data = page_json(scenarios, o);
    for (const std::string_view part :
         {page_to_title(), std::string_view(title), page_to_data(), std::string_view(data), page_to_end()})
        std::fwrite(part.data(), 1, part.size(), f);
}

} // namespace vramlab::report
