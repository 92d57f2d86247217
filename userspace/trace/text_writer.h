// SPDX-License-Identifier: MIT
// Records as lines of text, as ftrace and `trace-cmd report` print them; the text reader reads them back.
#pragma once

#include "trace/info.h"
#include "trace/record.h"

#include <string>

namespace vramlab::trace {

// What stands after "name: ": "field=value field=value", or the text of a print or of a text trace. One line.
std::string payload_text(const record &r);

// "comm-pid (tgid) [cpu] seconds: name: payload", with its line feed; before it a line that tells of lost
// events, if there were any.
void append_text(std::string &out, const record &r, const trace_info &info);

} // namespace vramlab::trace
