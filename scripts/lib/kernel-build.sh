# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Configure and build a prepared tree, out of tree. Needs kernel-overlay.sh.

CONFIG_DIR=$VRAMLAB_TOP/kernel/configs
TARGETS=(um qemu)

# _target_names TARGET: set KERNEL_ARCH, KERNEL_GOALS and IMAGE, what a guest boots of the build.
_target_names() {
	case $1 in
	um) KERNEL_ARCH=um KERNEL_GOALS=() IMAGE=linux ;;
	# QEMU boots it as it is: no bzImage.
	qemu) KERNEL_ARCH=x86 KERNEL_GOALS=(vmlinux modules) IMAGE=vmlinux ;;
	esac
}

# build_names TARGET KIND UPTO: set FRAGMENTS, KERNEL_VARIABLES, and VARIANT, TREE, BUILD, OUTPUT. KIND is "", debug or gcov.
build_names() {
	local target=$1
	[[ " ${TARGETS[*]} " = *" $target "* ]] || die "no target '$target'; targets: ${TARGETS[*]}"
	FRAGMENTS=("$CONFIG_DIR/common" "$CONFIG_DIR/$target")
	[ -z "$2" ] || FRAGMENTS+=("$CONFIG_DIR/$2")
	KERNEL_VARIABLES=()
	[ "$2" != gcov ] || mapfile -t KERNEL_VARIABLES < <(gcov_variables)
	_target_names "$target"
	variant_names "-$target${2:+-$2}" "$3"
	BUILD=$VARIANT/build
	# A link to what was built last: kernel and modules that belong together.
	OUTPUT=$VARIANT/output
}

# What make is told so that branches are counted in the modelled sources, whatever their Makefiles say. Branches are put in before
# functions are inlined, so that those of the source are counted, once.
gcov_variables() {
	local file
	coverage_files | while read -r file; do
		file=${file##*/}
		printf 'GCOV_PROFILE_%s.o=y\nCFLAGS_%s.o=-fno-early-inlining\n' "${file%.c}" "${file%.c}"
	done
}

# The kernel's files that are modelled.
coverage_files() { sed -nE 's/^kernel +([^ ]+\.c)$/\1/p' "$VRAMLAB_TOP/scripts/coverage/modelled"; }

kernel_cc() { if command -v ccache >/dev/null; then echo 'ccache gcc'; else echo gcc; fi; }

# Runs make for the target in TREE and BUILD. KERNEL_CC is another compiler for the kernel itself.
kernel_make() {
	local cc
	cc=$(kernel_cc)
	# Fixed stamps: nothing is rebuilt or relinked because time went by. The base
	# directory lets variants share what ccache has.
	env -u ARCH -u CROSS_COMPILE -u MAKEFLAGS -u KCONFIG_CONFIG LC_ALL=C KBUILD_BUILD_USER=vramlab KBUILD_BUILD_HOST=vramlab \
		KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' CCACHE_BASEDIR="$VARIANT" \
		make -C "$TREE" ARCH="$KERNEL_ARCH" O="$BUILD" CC="${KERNEL_CC:-$cc}" HOSTCC="$cc" "${KERNEL_VARIABLES[@]}" "$@"
}

# Write .config from the fragments; every line of them must hold in the result.
kernel_configure() {
	local wanted=$VARIANT/config line name value missing=()
	mkdir -p "$BUILD"
	# Where fragments disagree, the last one wins.
	cat "${FRAGMENTS[@]}" | awk -F= '/^CONFIG_/ { if (!($1 in v)) n[++c] = $1; v[$1] = $0 }
		END { for (i = 1; i <= c; i++) print v[n[i]] }' >"$wanted.new"
	mv "$wanted.new" "$wanted"
	kernel_make KCONFIG_ALLCONFIG="$wanted" allnoconfig >"$VARIANT/config.log" 2>&1 ||
		{ tail -n 20 "$VARIANT/config.log" >&2; die "cannot configure the kernel"; }
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

# Put kernel and modules where guests find them. Guests that run keep what they
# were started with; outputs that nobody uses any more are removed.
_publish() {
	local output=$VARIANT/output-$1 old
	rm -rf "$output" "$output.new"
	mkdir "$output.new"
	kernel_make INSTALL_MOD_PATH="$output.new" INSTALL_MOD_STRIP=1 modules_install >"$VARIANT/modules.log" 2>&1 ||
		{ tail "$VARIANT/modules.log" >&2; die "cannot install the modules"; }
	cp "$BUILD/$IMAGE" "$output.new/linux"
	: >"$output.new/lock"
	mv "$output.new" "$output"
	ln -sfn "${output##*/}" "$OUTPUT.new"
	mv -T "$OUTPUT.new" "$OUTPUT"
	for old in "$VARIANT"/output-*; do
		[ "$old" -ef "$OUTPUT" ] || flock -n "$old/lock" rm -rf "$old" || true
	done
}

# kernel_build: bring BUILD and OUTPUT up to date with TREE and the configuration.
kernel_build() {
	local key
	need flex kernel; need bison kernel; need bc kernel; need depmod kernel
	[ "$(uname -m)" = x86_64 ] || die "the lab's kernels are built on x86-64 machines only"
	key=$({ cat "$VARIANT/tree.id" "${FRAGMENTS[@]}"; printf %s "${KERNEL_VARIABLES[*]}"; gcc --version; } | sha256sum | cut -c1-16)
	if [ -d "$VARIANT/output-$key" ] && [ "$OUTPUT" -ef "$VARIANT/output-$key" ]; then
		say "${VARIANT##*/} is up to date ($(elapsed))"
		return
	fi
	need_space "$VARIANT" 1500
	kernel_configure
	say "building ${VARIANT##*/} with $(nproc) jobs"
	kernel_run_make "$VARIANT/build.log" "${KERNEL_GOALS[@]}"
	_publish "$key"
	say "built ${VARIANT##*/} in $(elapsed)"
}
