# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Configure and build a prepared tree, out of tree. Needs kernel-overlay.sh.

CONFIG_DIR=$VRAMLAB_TOP/kernel/configs
TARGETS=(um)

# build_names TARGET DEBUG: set BUILD, IMAGE and MODULES for the tree TREE_NAME.
build_names() {
	local target=$1
	[[ " ${TARGETS[*]} " = *" $target "* ]] || die "no target '$target'; targets: ${TARGETS[*]}"
	FRAGMENTS=("$CONFIG_DIR/common" "$CONFIG_DIR/$target")
	BUILD=$KERNEL_CACHE/build-$TREE_NAME-$target
	if [ -n "$2" ]; then
		FRAGMENTS+=("$CONFIG_DIR/debug")
		BUILD+=-debug
	fi
	IMAGE=$BUILD/linux
	MODULES=$BUILD/root
}

# Runs make for the target um in TREE and BUILD.
kernel_make() {
	local cc=gcc
	! command -v ccache >/dev/null || cc='ccache gcc'
	# Fixed stamps: nothing is rebuilt or relinked because time went by.
	env -u ARCH -u CROSS_COMPILE -u MAKEFLAGS -u KCONFIG_CONFIG LC_ALL=C KBUILD_BUILD_USER=vramlab KBUILD_BUILD_HOST=vramlab \
		KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		nice make -C "$TREE" ARCH=um O="$BUILD" CC="$cc" HOSTCC="$cc" "$@"
}

# Write .config from the fragments; every line of them must hold in the result.
kernel_configure() {
	local wanted=$BUILD/vramlab.config line name value missing=()
	mkdir -p "$BUILD"
	# Where fragments disagree, the last one wins.
	cat "${FRAGMENTS[@]}" | awk -F= '/^CONFIG_/ { if (!($1 in v)) n[++c] = $1; v[$1] = $0 }
		END { for (i = 1; i <= c; i++) print v[n[i]] }' >"$wanted.new"
	mv "$wanted.new" "$wanted"
	kernel_make KCONFIG_ALLCONFIG="$wanted" allnoconfig >"$BUILD/config.log" 2>&1 ||
		{ tail -n 20 "$BUILD/config.log" >&2; die "cannot configure the kernel"; }
	while read -r line; do
		name=${line%%=*} value=${line#*=}
		if [ "$value" = n ]; then
			! grep -q "^$name=" "$BUILD/.config" || missing+=("$line")
		else
			grep -qxF "$line" "$BUILD/.config" || missing+=("$line")
		fi
	done <"$wanted"
	[ ${#missing[@]} -eq 0 ] ||
		die "the kernel's Kconfig does not allow: ${missing[*]} (asked for in kernel/configs; see $BUILD/.config)"
}

# Show how far a build has come, from its log, until it is killed.
_progress() {
	local log=$1 last=0 now
	while sleep 2 && kill -0 $$ 2>/dev/null; do
		now=$SECONDS
		if [ -t 2 ]; then
			printf '\r%s: %s files, %s   ' "$PROGRAM" "$(grep -c '^  CC ' "$log" || true)" "$(elapsed)" >&2
		elif [ $((now - last)) -ge 30 ]; then
			last=$now
			say "$(grep -c '^  CC ' "$log" || true) files compiled ($(elapsed))"
		fi
	done
}

# kernel_run_make LOG GOAL...: make with progress; errors are shown on failure.
kernel_run_make() {
	local log=$1 progress rc=0
	shift
	: >"$log"
	_progress "$log" &
	progress=$!
	kernel_make V=0 -j"$(nproc)" "$@" >"$log" 2>&1 || rc=$?
	kill "$progress" 2>/dev/null || true
	wait "$progress" 2>/dev/null || true
	[ ! -t 2 ] || printf '\r\033[K' >&2
	[ "$rc" -eq 0 ] && return
	grep -nE 'error:|Error [0-9]|undefined|ERROR:|\*\*\*' "$log" | head -n 20 >&2 || true
	die "the kernel does not build: the whole log is $log"
}

# kernel_build: bring BUILD up to date with TREE and the configuration.
kernel_build() {
	local stamp=$BUILD/vramlab.stamp key
	need flex kernel; need bison kernel; need bc kernel; need depmod kernel
	[ "$(uname -m)" = x86_64 ] || die "the um target needs an x86-64 machine"
	mkdir -p "$BUILD"
	key=$({ cat "$TREE.id" "${FRAGMENTS[@]}"; gcc --version; } | sha256sum)
	if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && [ -x "$IMAGE" ]; then
		say "$IMAGE is up to date ($(elapsed))"
		return
	fi
	need_space "$BUILD" 1500
	rm -f "$stamp"
	kernel_configure
	say "building ${BUILD##*/build-} with $(nproc) jobs"
	kernel_run_make "$BUILD/build.log"
	rm -rf "$MODULES.new"
	kernel_make INSTALL_MOD_PATH="$MODULES.new" INSTALL_MOD_STRIP=1 modules_install >"$BUILD/modules.log" 2>&1 ||
		{ tail "$BUILD/modules.log" >&2; die "cannot install the modules"; }
	rm -rf "$MODULES"
	mv "$MODULES.new" "$MODULES"
	echo "$key" >"$stamp"
	say "built $IMAGE in $(elapsed)"
}
