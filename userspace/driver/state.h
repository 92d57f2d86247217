// SPDX-License-Identifier: MIT
// The state of the device as text, line by line as Documentation/semantics.rst ("State") has it, without the
// lines that user space adds. Visits every BO: for tests, conformance and debugging.
#pragma once

#include "driver/device.h"

#include <string>

namespace vramlab::driver {

void print_state(const vttm_device &dev, std::string &text); // appends

} // namespace vramlab::driver
