# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Check the series: each prefix of it applies and compiles without a warning at
# W=1, and each patch passes checkpatch.

VERIFY_GOALS=(drivers/gpu/drm/ttm/ drivers/gpu/drm/drm_exec.o drivers/gpu/drm/vttm/)

_checkpatch() {
	local patch=$1 log=$2
	"$TREE/scripts/checkpatch.pl" --strict --no-signoff --no-tree --root="$TREE" --ignore FILE_PATH_CHANGES \
		--show-types "$patch" >"$log" 2>&1 && grep -q '^total: 0 errors, 0 warnings, 0 checks' "$log" && return
	cat "$log" >&2
	die "checkpatch --strict is not content with ${patch#"$VRAMLAB_TOP/"}"
}

kernel_verify() {
	local upto total patch goals
	total=$(series_patches | wc -l)
	for ((upto = 0; upto <= total; upto++)); do
		tree_prepare "$upto" -verify
		build_names um ''
		patch=$(series_patches | sed -n "${upto}p")
		[ -z "$patch" ] || _checkpatch "$patch" "$BUILD.checkpatch.log"
		kernel_configure
		goals=("${VERIFY_GOALS[@]}")
		# The driver's baseline is the first patch, its tracepoints.
		[ "$upto" -gt 0 ] || goals=("${goals[@]/%*vttm\//}")
		kernel_run_make "$BUILD/build.log" W=1 prepare
		kernel_run_make "$BUILD/build.log" W=1 ${goals[@]}
		! grep -n 'warning:' "$BUILD/build.log" >&2 || die "warnings with W=1 after patch $upto"
		say "$upto of $total patches: ${patch##*/} fine ($(elapsed))"
		unlock
	done
	while read -r patch; do
		_checkpatch "$patch" "$BUILD.checkpatch.log"
	done < <(lab_patches)
	say "series verified in $(elapsed)"
}
