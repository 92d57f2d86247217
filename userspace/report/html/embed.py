#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes page_text.cc: embed.py OUTPUT PAGE.html STYLE.css CHART.js SCRIPT.js...

The scripts become one, in the order given, in a function of its own; a script that could end its element is refused.
"""
import pathlib
import sys

CHUNK = 8000  # bytes of a string literal; compilers need not take more than 65536 in all, but do


def refuse(path: str, text: str, *ends: str):
    for end in ends:
        if end in text.lower():
            sys.exit(f"embed.py: {path}: contains {end}, expected a text that cannot end its element")


def literals(text: bytes) -> str:
    lines = []
    for i in range(0, len(text), CHUNK):
        chunk = "".join(
            chr(b) if 32 <= b < 127 and b not in (34, 92, 63) else "\\%03o" % b for b in text[i:i + CHUNK])
        lines.append(f'    "{chunk}"')
    return "\n".join(lines)


def main() -> int:
    output, page_path, style_path, chart_path, *script_paths = sys.argv[1:]
    read = lambda path: pathlib.Path(path).read_text(encoding="utf-8")
    style, chart = read(style_path), read(chart_path)
    scripts = "\n".join(read(path) for path in script_paths)
    refuse(style_path, style, "</style")
    refuse(chart_path, chart, "</script", "<!--")
    refuse("the report's scripts", scripts, "</script", "<!--")
    chart = "\n".join(line for line in chart.splitlines() if not line.startswith("//# sourceMappingURL"))
    page = read(page_path)
    for mark, text in (("@STYLE@", style), ("@CHART@", chart), ("@SCRIPT@", f'(() => {{\n"use strict";\n{scripts}}})();')):
        if page.count(mark) != 1:
            sys.exit(f"embed.py: {page_path}: {mark} is there {page.count(mark)} times, expected once")
        page = page.replace(mark, text)
    to_title, rest = page.split("@TITLE@")
    to_data, to_end = rest.split("@DATA@")
    parts = []
    for name, text in (("page_to_title", to_title), ("page_to_data", to_data), ("page_to_end", to_end)):
        raw = text.encode()
        parts.append(f"std::string_view {name}()\n{{\n    static const char text[] =\n{literals(raw)};\n"
                     f"    return {{text, {len(raw)}}};\n}}\n")
    pathlib.Path(output).write_text(
        '// Made by embed.py.\n#include "report/html/page_text.h"\n\nnamespace vramlab::report {\n\n'
        + "\n".join(parts) + "\n} // namespace vramlab::report\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
