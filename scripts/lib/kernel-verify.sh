# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Check the series: each prefix of it applies and compiles without a warning at
# W=1, and each patch passes checkpatch.

VERIFY_GOALS=(drivers/gpu/drm/ttm/ drivers/gpu/drm/drm_exec.o drivers/gpu/drm/vttm/)

# Through stdin: a file that git tracks checkpatch takes for a source file.
_checkpatch() {
	local patch=$1 log=$2
	"$TREE/scripts/checkpatch.pl" --strict --no-signoff --no-tree --root="$TREE" --ignore FILE_PATH_CHANGES,EXPORT_SYMBOL \
		--show-types - <"$patch" >"$log" 2>&1 && grep -q '^total: 0 errors, 0 warnings, 0 checks' "$log" && return
	cat "$log" >&2
	die "checkpatch --strict is not content with ${patch#"$VRAMLAB_TOP/"}"
}

kernel_verify() {
	local upto total patch goals
	total=$(series_patches | wc -l)
	FRAGMENTS=("$CONFIG_DIR/common" "$CONFIG_DIR/um")
	for ((upto = 0; upto <= total; upto++)); do
		tree_prepare -verify "$upto"
		patch=$(series_patches | sed -n "${upto}p")
		[ -z "$patch" ] || _checkpatch "$patch" "$VARIANT/checkpatch.log"
		BUILD=$VARIANT/build
		kernel_configure
		goals=("${VERIFY_GOALS[@]}")
		# The driver's baseline is the first patch, its tracepoints.
		[ "$upto" -gt 0 ] || goals=("${goals[@]/%*vttm\//}")
		kernel_run_make "$VARIANT/build.log" W=1 prepare
		kernel_run_make "$VARIANT/build.log" W=1 ${goals[@]}
		! grep -n 'warning:' "$VARIANT/build.log" >&2 || die "warnings with W=1 after patch $upto"
		say "$upto of $total patches: ${patch##*/} fine ($(elapsed))"
		unlock
	done
	while read -r patch; do
		_checkpatch "$patch" "$VARIANT/checkpatch.log"
	done < <(lab_patches)
	say "series verified in $(elapsed)"
}
