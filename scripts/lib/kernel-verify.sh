# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Check the series patch by patch: what Documentation/kernel-tree.rst promises of "kernel-tree verify".
#
# Two object directories go from patch to patch, so that make itself knows what a patch changes: one of the kernel that is booted
# (ccache has most of it), one of what is compiled with W=1 and checked by sparse. What those say of a file is kept per file
# (collect-warnings). "New" is what they did not say of the same file before the patch, line numbers aside, which patches move.

VERIFY_PASSED=0
VERIFY_FAILED=0

# _step NAME COMMAND...: one test. Sets STEP_OK; adds to LINE, and to WORDS what the command said if it failed.
# It must not be called in a condition: there "set -e" would not end COMMAND at its first failure.
_step() {
	local name=$1 said=$VARIANT/verify.step rc
	shift
	set +e
	(set -e; "$@") >"$said" 2>&1
	rc=$?
	set -e
	if [ $rc -eq 0 ]; then
		STEP_OK=1 VERIFY_PASSED=$((VERIFY_PASSED + 1)) LINE+=" $name ok,"
	else
		STEP_OK='' VERIFY_FAILED=$((VERIFY_FAILED + 1)) LINE+=" $name FAIL,"
		WORDS+=$(sed "s/^/  $name: /" "$said" | head -n 60)$'\n'
	fi
}

# Through stdin: a file that git tracks checkpatch takes for a source file.
# EXPORT_SYMBOL: it does not know variables that a macro defines.
_checkpatch() {
	local said=$VARIANT/checkpatch.log
	"$TREE/scripts/checkpatch.pl" --strict --no-tree --root="$TREE" --ignore FILE_PATH_CHANGES,EXPORT_SYMBOL \
		--show-types - <"$1" >"$said" 2>&1 && grep -q '^total: 0 errors, 0 warnings, 0 checks' "$said" && return
	cat "$said"
	return 1
}

# Run make; if it fails, show the compiler's words.
_verify_make() {
	local log=$VARIANT/build.log
	kernel_make V=0 -j"$(nproc)" "$@" >"$log" 2>&1 && return
	grep -E -A 4 '(error|warning): |undefined|ERROR:|\*\*\*' "$log" | grep -v '^--$' | head -n 40 || tail -n 20 "$log"
	return 1
}

# Is vttm to be compiled again with this patch? What the patch changes in headers TTM's own files tell as well; vttm is of interest where
# it comes in, where it gets a part that needed this patch, and at the end.
_verify_driver() {
	[ "$UPTO_COUNT" -gt 0 ] || return 1
	[ "$WHOLE" ] || grep -rqE "vramlab-needs: *0*$UPTO_COUNT\\b" "$VRAMLAB_TOP/kernel/drivers/gpu/drm/vttm"
}

# What is compiled a second time, for its warnings: TTM whole, its driver, what the patches touch elsewhere, our tests of it.
_verify_goals() {
	local driver=''
	! _verify_driver || driver=drivers/gpu/drm/vttm/Makefile
	(cd "$TREE" && ls -d drivers/gpu/drm/ttm/Makefile $driver $(patched_files $(series_patches) | grep '\.c$') 2>/dev/null || true) |
		sed -E 's|/Makefile$|/|; s|\.c$|.o|; s|^(drivers/gpu/drm/v?ttm/).*|\1|'
	overlay_files | cut -f 2 | grep '^drivers/gpu/drm/tests/.*\.c$' | while read -r file; do
		[ ! -e "$TREE/$file" ] || echo "${file%c}o"
	done
}

# Compile with W=1, check with sparse. W=1's check of kernel-doc is left to _kernel_doc; what it starts in vain for each file is at
# least the interpreter itself, not something that looks for one.
_verify_lint() {
	local config=$BUILD/.config goals
	local BUILD=$VARIANT/lint KERNEL_CC
	KERNEL_CC="$VRAMLAB_TOP/scripts/lib/collect-warnings $SAID/w $TREE $(kernel_cc)"
	mkdir -p "$BUILD"
	cmp -s "$config" "$BUILD/.config" || cp "$config" "$BUILD/.config"
	mapfile -t goals < <(_verify_goals | sort -u)
	set -- W=1 C=1 CHECK="$VRAMLAB_TOP/scripts/lib/collect-sparse $SAID/sparse $TREE" KERNELDOC=/dev/null \
		PYTHON3="$(python3 -c 'import sys; print(sys.executable)')"
	_verify_make "$@" "${goals[@]}"
}

# What tool KIND says of the sources that there are, as "FILE:FILE: WORDS<TAB>FILE:LINE: WORDS", the first FILE being the one compiled.
# In the first column stands what a macro of a whole line made: MODULE_INFO() asserts something of strlen(), which is a constant for gcc
# and not for sparse.
_said() {
	local dir=$SAID/$1 file
	mkdir -p "$dir"
	(cd "$dir" && find . -type f -printf '%P\n') | while read -r file; do
		[ -e "$TREE/$file" ] || rm -f "$dir/$file"
	done
	(cd "$dir" && { grep -rE '(warning|error): ' . || true; }) |
		sed -E '/:1: error: bad constant expression$/d; s|^\./||; s|:[^ :]*/tree/|:|' |
		awk '{ raw = $0; sub(/^[^:]*:/, "", raw); gsub(/:[0-9]+(:[0-9]+)?:/, ":"); print $0 "\t" raw }'
}

_kdoc() { (cd "$TREE" && PYTHONDONTWRITEBYTECODE=1 python3 tools/docs/kernel-doc "$@"); }

# What kernel-doc says of the files that patches of the series touch, and of the driver, in the same form.
_said_doc() {
	local files
	# Those that a later patch adds are not there yet.
	mapfile -t files < <(cd "$TREE" && ls $(patched_files $(series_patches) | grep '\.[ch]$') drivers/gpu/drm/vttm/*.[ch] 2>/dev/null)
	{ _kdoc -none -Wall "${files[@]}" 2>&1 || true; } |
		awk '{ raw = $0; gsub(/:[0-9]+/, ""); print $0 "\t" raw }'
}

# _nothing_new BEFORE AFTER: every complaint there was before, as often.
_nothing_new() {
	awk -F '\t' 'FILENAME == ARGV[1] { before[$1]++; next } ++after[$1] > before[$1] { print $2; new = 1 } END { exit new }' "$1" "$2"
}

# What a patch gives to others: functions that it exports, structures, enumerations and inline functions of public headers.
_offered() {
	awk '/^\+\+\+ / { public = $2 ~ /^b\/include\// }
		match($0, /^\+EXPORT_SYMBOL(_GPL)?\(/) { sub(/\).*/, ""); print substr($0, RLENGTH + 1) }
		public && /^\+(struct|enum) [a-z_0-9]+ \{$/ { print $2 }
		public && match($0, /^\+static inline [^(]*\(/) { sub(/\(.*/, ""); sub(/.*[ *]/, ""); print }' "$1" | sort -u
}

_documented() {
	local patch=$1 name files status=0
	mapfile -t files < <(cd "$TREE" && patched_files "$patch" | grep '\.[ch]$' | xargs -r ls 2>/dev/null)
	for name in $(_offered "$patch"); do
		# Not grep -q, which leaves the other with a broken pipe.
		_kdoc -rst -s "$name" "${files[@]}" 2>/dev/null | grep -w "$name" >/dev/null && continue
		echo "$name has no kernel-doc"
		status=1
	done
	return $status
}

_kernel_doc() {
	_nothing_new "$SAID/doc.before" "$SAID/doc.now" && _documented "$1"
}

_verify_boot() {
	_publish verify
	# The driver brings all of TTM with it, and takes it away.
	"$VRAMLAB_TOP/scripts/vm" run --kernel "$VARIANT/output" --mem 512M --timeout 600 --module vttm -- \
		sh -ec 'test -c /dev/dri/card0; rmmod vttm; ! test -e /dev/dri/card0'
}

# Keep what is said now as what was said before the next patch.
_remember() {
	local kind
	for kind in w sparse doc; do
		mv "$SAID/$kind.now" "$SAID/$kind.before"
	done
}

_listen() {
	_said w >"$SAID/w.now"
	_said sparse >"$SAID/sparse.now"
	_said_doc >"$SAID/doc.now"
}

_verify_warnings() {
	_verify_lint
	_listen
	_nothing_new "$SAID/w.before" "$SAID/w.now"
}

# _verify_prepare UPTO: the tree with so many patches; where it lies is known already. Most patches leave Kconfig alone.
_verify_prepare() {
	local key
	tree_assemble "$1"
	key=$({ cat "${FRAGMENTS[@]}"; gcc --version; cd "$TREE" && grep Kconfig "$VARIANT/tree.manifest" | xargs -r cat; } | sha256sum)
	[ ! -e "$BUILD/.config" ] || [ "$key" != "$(cat "$VARIANT/configured" 2>/dev/null)" ] || return 0
	rm -f "$VARIANT/configured"
	kernel_configure
	echo "$key" >"$VARIANT/configured"
}

_verify_patch() {
	local number=$1 patch start=$SECONDS LINE='' WORDS='' STEP_OK WHOLE=''
	[ "$number" -ne 1 ] && [ "$number" -ne "$last" ] || WHOLE=1
	patch=$(series_patches "$number" | sed -n '$p')
	UPTO_COUNT=$number
	_step apply _verify_prepare "$number"
	if [ "$STEP_OK" ]; then
		_step checkpatch _checkpatch "$patch"
		_step build _verify_make
	fi
	if [ "$STEP_OK" ]; then
		rm -f "$SAID"/*.now
		_step W=1 _verify_warnings
		if [ -e "$SAID/doc.now" ]; then
			_step sparse _nothing_new "$SAID/sparse.before" "$SAID/sparse.now"
			_step kernel-doc _kernel_doc "$patch"
			_remember
		fi
		_step boot _verify_boot
	else
		LINE+=" the rest not run,"
	fi
	printf 'patch %s:%s %d s: %s\n' "$number" "$LINE" $((SECONDS - start)) "${patch##*/}"
	printf '%s' "$WORDS"
}

# What was there before the first patch that is looked at. What a run that was interrupted compiled was perhaps not checked.
_verify_baseline() {
	local WHOLE=1
	[ ! -e "$VARIANT/busy" ] || rm -rf "$VARIANT/lint/drivers"
	: >"$VARIANT/busy"
	UPTO_COUNT=$1
	_verify_prepare "$1"
	_verify_make || die "it does not build with the first $1 patches: nothing to compare with"
	_verify_lint || die "it does not build with W=1 and the first $1 patches: nothing to compare with"
	_listen
	_remember
	say "$1 patches, to compare with: $(grep -c . <"$SAID/w.before") warnings of W=1, $(grep -c . <"$SAID/sparse.before") of" \
		"sparse, $(grep -c . <"$SAID/doc.before") of kernel-doc ($(elapsed))"
}

# kernel_verify [N | N..M]: patches of the series, by default all, and the lab's.
kernel_verify() {
	local total first last number patch LINE WORDS STEP_OK
	need sparse kernel
	total=$(series_patches | wc -l)
	[[ ${1:-1..$total} =~ ^([1-9][0-9]*)(\.\.([1-9][0-9]*))?$ ]] || die "verify $1: expected a number of a patch, or FIRST..LAST"
	first=${BASH_REMATCH[1]} last=${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}
	[ "$first" -le "$last" ] && [ "$last" -le "$total" ] || die "verify $1: the series has patches 1..$total"
	FRAGMENTS=("$CONFIG_DIR/common" "$CONFIG_DIR/um")
	_target_names um
	source_fetch
	variant_names -verify all
	lock "$VARIANT/lock"
	BUILD=$VARIANT/build OUTPUT=$VARIANT/output SAID=$VARIANT/said
	mkdir -p "$SAID"
	_verify_baseline $((first - 1))
	for ((number = first; number <= last; number++)); do
		_verify_patch "$number"
	done
	if [ $# -eq 0 ]; then
		while read -r patch; do
			LINE='' WORDS=''
			_step checkpatch _checkpatch "$patch"
			printf 'lab:%s %s\n%s' "$LINE" "${patch##*/}" "$WORDS"
		done < <(lab_patches)
	fi
	rm -f "$VARIANT/busy"
	say "verified in $(elapsed)"
	echo "$VERIFY_PASSED passed, $VERIFY_FAILED failed"
	[ "$VERIFY_FAILED" -eq 0 ]
}
