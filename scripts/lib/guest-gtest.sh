# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Programs of tests (GoogleTest) that need the driver, run in the um guest.

GTEST_PASSED=0 GTEST_FAILED=0

# Little memory, so that clients evict each other.
# shellcheck disable=SC2034
VTTM_STRESS_GUEST=(--append vttm.vram_size_mb=8 --append vttm.gtt_size_mb=64 --module vttm)

# guest_gtest PROGRAM [OPTION OF scripts/vm run]...: what is skipped there was not tested, and counts as failed.
guest_gtest() {
	local program=$PWD/$1 status=0 output passed failed skipped
	shift
	output=$(scripts/vm run "$@" -- "$program" 2>&1) || status=$?
	printf '%s\n' "$output"
	passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' <<<"$output")
	failed=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' <<<"$output")
	skipped=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' <<<"$output")
	[ "${skipped:-0}" = 0 ] || { echo "no vttm device in the guest"; failed=$((${failed:-0} + skipped)); }
	[ "$status" = 0 ] || [ "${failed:-0}" != 0 ] || failed=1
	GTEST_PASSED=$((GTEST_PASSED + ${passed:-0}))
	GTEST_FAILED=$((GTEST_FAILED + ${failed:-0}))
}

# Print what all of them add up to, and return whether nothing failed.
guest_gtest_total() {
	echo "$GTEST_PASSED passed, $GTEST_FAILED failed"
	[ "$GTEST_FAILED" = 0 ]
}
