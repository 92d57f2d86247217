# SPDX-License-Identifier: MIT
"""Find in a kernel log what the kernel says when something is wrong.

kernel/configs/allowed-splats lists what stock kernels are known to say on a
target: lines "# cause" and, below, a regular expression that has to match
within the splat.
"""

import os
import re

ALLOWED = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../kernel/configs/allowed-splats")

START = re.compile("|".join([
    r"\bWARNING: (?!.*is deprecated)", r"\bBUG: ", r"kernel BUG at ", r"\bOops\b", r"\bKASAN: ", r"\bUBSAN: ", r"\bODEBUG: ",
    r"\brefcount_t: ", r"INFO: task .* blocked for more than", r"INFO: possible ", r"INFO: inconsistent lock state",
    r"INFO: rcu.* detected stalls", r"rcu: INFO: .*stall", r"watchdog: BUG", r"scheduling while atomic",
    r"sleeping function called from invalid", r"(list_add|list_del) corruption", r"suspicious RCU usage",
    r"DEBUG_LOCKS_WARN_ON", r"Kernel panic", r"Segfault with no mm", r"kmemleak: [1-9]", r"unreferenced object 0x",
    r"general protection fault", r"Kernel mode fault", r"memory leak(?! detector)",
]))
END = re.compile(r"---\[ end (trace|Kernel panic)")
# What KUnit says of a case; its name must not allow what was said before.
KTAP = re.compile(r"^\[ *\d+\.\d+\] +(not ok|ok|#|KTAP|\d+\.\.\d+)")
CUT = "[ cut here ]"
STAMP = re.compile(r"^\[ *(\d+\.\d+)\]")
MAX_LINES = 80
# Until there, lines that could be the start of another complaint are of this one's heading.
HEADING_LINES = 3
# A complaint is printed in one go, which takes a guest some time on a machine that has other things to do: a line that
# comes later belongs to something else.
GAP_S = 2.0


def allowed():
    """The expressions of what may be said."""
    with open(ALLOWED, encoding="utf-8") as f:
        lines = (line.strip() for line in f)
        return [re.compile(line) for line in lines if line and not line.startswith("#")]


def stamp(line, default):
    """When a line was printed, in seconds since the boot."""
    match = STAMP.match(line)
    return float(match.group(1)) if match else default


def blocks(log):
    """Yield each complaint with the lines that belong to it."""
    lines = log.splitlines()
    i = 0
    while i < len(lines):
        if not START.search(lines[i]):
            i += 1
            continue
        end, last = i + 1, stamp(lines[i], 0.0)
        while end < min(len(lines), i + MAX_LINES):
            now = stamp(lines[end], last)
            if now - last > GAP_S or CUT in lines[end] or KTAP.match(lines[end]):
                break
            if end - i >= HEADING_LINES and START.search(lines[end]):
                break
            last = now
            end += 1
            if END.search(lines[end - 1]):
                break
        yield "\n".join(lines[i:end])
        i = end


def find(log):
    """The complaints that are not allowed, as a list of texts."""
    expressions = allowed()
    return [block for block in blocks(log) if not any(e.search(block) for e in expressions)]
