# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Check the series: each prefix of it applies and compiles, W=1 warns of nothing
# that the kernel without it isn't warned of, and each patch passes checkpatch.

VERIFY_DIRS=(drivers/gpu/drm/ttm drivers/gpu/drm/vttm)
VERIFY_OBJECTS=(drivers/gpu/drm/drm_exec.o)

# Through stdin: a file that git tracks checkpatch takes for a source file.
# EXPORT_SYMBOL: it does not know variables that a macro defines.
_checkpatch() {
	local patch=$1 log=$VARIANT/checkpatch.log
	"$TREE/scripts/checkpatch.pl" --strict --no-tree --root="$TREE" --ignore FILE_PATH_CHANGES,EXPORT_SYMBOL \
		--show-types - <"$patch" >"$log" 2>&1 && grep -q '^total: 0 errors, 0 warnings, 0 checks' "$log" && return
	cat "$log" >&2
	die "checkpatch --strict is not content with ${patch#"$VRAMLAB_TOP/"}"
}

# Compile the goals from scratch (ccache has most of it) and print their warnings,
# without line numbers, which patches move.
_warnings() {
	local goals=("${VERIFY_OBJECTS[@]}") dir
	for dir in "${VERIFY_DIRS[@]}"; do
		# The driver's baseline is the first patch, its tracepoints.
		[ -d "$TREE/$dir" ] && [ "$dir/$UPTO_COUNT" != drivers/gpu/drm/vttm/0 ] || continue
		goals+=("$dir/")
		rm -rf "${BUILD:?}/$dir"
	done
	(cd "$BUILD" && rm -f "${VERIFY_OBJECTS[@]}")
	kernel_run_make "$VARIANT/build.log" W=1 prepare
	kernel_run_make "$VARIANT/build.log" W=1 "${goals[@]}"
	grep -i 'warning:' "$VARIANT/build.log" | sed 's/:[0-9]\+\(:[0-9]\+\)\?//' | sort -u || true
}

kernel_verify() {
	local upto total patch
	total=$(series_patches | wc -l)
	FRAGMENTS=("$CONFIG_DIR/common" "$CONFIG_DIR/um")
	_target_names um
	for ((upto = 0; upto <= total; upto++)); do
		tree_prepare -verify "$upto"
		BUILD=$VARIANT/build
		patch=$(series_patches "$upto" | sed -n '$p')
		[ -z "$patch" ] || _checkpatch "$patch"
		kernel_configure
		_warnings >"$VARIANT/warnings"
		[ "$upto" -gt 0 ] || cp "$VARIANT/warnings" "$VARIANT/warnings.stock"
		! comm -13 "$VARIANT/warnings.stock" "$VARIANT/warnings" | grep . >&2 || die "new warnings with W=1, first $upto patches"
		say "$upto of $total patches: fine ($(elapsed))"
		unlock
	done
	while read -r patch; do
		_checkpatch "$patch"
	done < <(lab_patches)
	say "series verified in $(elapsed)"
}
