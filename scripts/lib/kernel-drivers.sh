# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Compile the tree's own drivers on TTM with the series. Needs kernel-verify.sh.
#
# Objects of drivers only: a kernel that holds them all would take hours, and what the series can break are calls and structures of
# TTM, drm_exec and dma_resv. That these can be linked is looked at in the objects themselves.

# Directories below drivers/gpu/drm, the quick ones first.
DRIVERS=(vboxvideo qxl loongson vmwgfx radeon nouveau xe i915 amdgpu)
DRIVERS_PREFIXES='(ttm|drm_exec|dma_resv)_'

_drivers_dir() { if [ "$1" = amdgpu ]; then echo drivers/gpu/drm/amd/amdgpu; else echo "drivers/gpu/drm/$1"; fi; }

# Where a driver's files are: amdgpu's lie around the directory that says how they are compiled.
_drivers_top() { if [ "$1" = amdgpu ]; then echo drivers/gpu/drm/amd; else echo "drivers/gpu/drm/$1"; fi; }

# What the series changes, and what stands between it and the drivers.
_drivers_series() {
	echo drivers/gpu/drm/ttm/
	patched_files $(series_patches) | sed -n '/^drivers\/gpu\/drm\/ttm\//d; s/\.c$/.o/p'
	printf 'drivers/%s.o\n' dma-buf/dma-resv gpu/drm/drm_{gpuvm,gem_ttm_helper,gem_vram_helper}
}

# A driver's files that name what the series changes; its suites are not configured.
_drivers_touched() {
	(cd "$TREE" && grep -rlE "\b$DRIVERS_PREFIXES" --include='*.c' "$(_drivers_top "$1")" || true) |
		sed -E '/\/(tests|selftests)\//d; s/c$/o/; s|/amd/|/amd/amdgpu/../|; s|/\.\./amdgpu/|/|' | sort
}

_drivers_goals() {
	if [ "$1" = series ]; then _drivers_series; elif [ "$TOUCHED" ]; then _drivers_touched "$1"; else echo "$(_drivers_dir "$1")/"; fi
}

_drivers_make() {
	local KERNEL_CC
	KERNEL_CC="$VRAMLAB_TOP/scripts/lib/collect-warnings $SAID/$1 $TREE $(kernel_cc)"
	shift
	_verify_make -k "$@"
}

# The objects that make was to bring up to date.
_drivers_objects() {
	local goal
	_drivers_goals "$1" | while read -r goal; do
		case $1:$goal in
		series:*/) find "$BUILD/$goal" -name '*.o' ;;
		*/) find "$BUILD/$(_drivers_top "$1")" -name '*.o' ;;
		*) echo "$BUILD/$goal" ;;
		esac
	done | sort -u
}

# Names of the prefixes that objects (stdin) export, or ask for and don't have themselves.
_drivers_exports() { xargs -r nm 2>/dev/null | sed -nE "s/.* __export_symbol_($DRIVERS_PREFIXES.*)/\1/p" | sort -u; }
_drivers_imports() {
	xargs -r nm -g 2>/dev/null | awk -v prefixes="^$DRIVERS_PREFIXES" 'NF == 2 { asked[$2] } NF == 3 { has[$3] }
		END { for (name in asked) if (!(name in has) && name ~ prefixes) print name }' | sort -u
}

# Every name that the driver asks for is there, and exported.
_drivers_linked() {
	local missing
	[ -e "$SAID/exports" ] || { echo "what the series exports is not known: it did not compile"; return 1; }
	missing=$(comm -13 "$SAID/exports" <(_drivers_objects "$1" | _drivers_imports))
	[ -z "$missing" ] || { sed 's/$/ is not exported/' <<<"$missing"; return 1; }
}

# Nothing that the compiler does not say with patch 1 alone. Mainline says nothing, as a rule, and need not be compiled then.
_drivers_warnings() {
	local goals
	_said "$1" >"$SAID/now"
	[ -s "$SAID/now" ] || return 0
	mapfile -t goals < <(_drivers_goals "$1")
	_verify_prepare 1
	_drivers_make "$1" "${goals[@]}"
	_said "$1" >"$SAID/before"
	_verify_prepare "$(series_patches | wc -l)"
	_nothing_new "$SAID/before" "$SAID/now"
}

_drivers_one() {
	local name=$1 goals start=$SECONDS LINE='' WORDS='' STEP_OK files
	mapfile -t goals < <(_drivers_goals "$name")
	[ ${#goals[@]} -gt 0 ] || { say "$name: no file names what the series changes"; return; }
	say "compiling $name with $(nproc) jobs ($(elapsed))"
	_step compile _drivers_make "$name" "${goals[@]}"
	if [ "$STEP_OK" ]; then
		files=$(_drivers_objects "$name" | sed -E 's|([^/]*)$|.\1.cmd|' | xargs -r grep -l '^source_' 2>/dev/null | wc -l)
		[ "$name" != series ] || _drivers_objects series | _drivers_exports >"$SAID/exports"
		_step link _drivers_linked "$name"
		_step warnings _drivers_warnings "$name"
	else
		LINE+=" the rest not run,"
	fi
	printf '%s:%s %d files, %d s\n%s' "$name" "$LINE" "${files:-0}" $((SECONDS - start)) "$WORDS"
}

# kernel_drivers [DRIVER...]: by default all. With TOUCHED, of each only the files that name TTM, drm_exec or dma_resv.
kernel_drivers() {
	local name
	for name; do
		[[ " ${DRIVERS[*]} " = *" $name "* ]] || die "drivers: no '$name'; there are ${DRIVERS[*]}"
	done
	[ $# -gt 0 ] || set -- "${DRIVERS[@]}"
	need flex kernel; need bison kernel; need bc kernel
	FRAGMENTS=("$CONFIG_DIR/common" "$CONFIG_DIR/drivers")
	_target_names qemu
	source_fetch
	variant_names -drivers all
	lock "$VARIANT/lock"
	need_space "$VARIANT" 3000
	BUILD=$VARIANT/build SAID=$VARIANT/said
	# With another configuration, what was compiled and said before may be of files that no longer take part.
	cat "${FRAGMENTS[@]}" | cmp -s - "$VARIANT/fragments" || rm -rf "$BUILD" "$SAID" "$VARIANT/configured"
	cat "${FRAGMENTS[@]}" >"$VARIANT/fragments"
	mkdir -p "$SAID"
	rm -f "$SAID/exports"
	_verify_prepare "$(series_patches | wc -l)"
	for name in series "$@"; do
		_drivers_one "$name"
	done
	echo "$VERIFY_PASSED passed, $VERIFY_FAILED failed"
	[ "$VERIFY_FAILED" -eq 0 ]
}
