// SPDX-License-Identifier: GPL-2.0 OR MIT

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "vttm_trace.h"
#endif
