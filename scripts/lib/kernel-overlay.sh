# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Assemble a kernel tree: base + series + lab patches + overlay.
#
# A tree consists of hard links to the base, except for the files that patches
# and overlay touch. Those are made anew each time in a staging directory and
# replace the tree's only where the contents differ, so that make rebuilds what
# changed. The manifest lists them; what leaves it is restored from the base.
#
# Rules for overlay files (below kernel/ and kunit/, at their in-tree paths):
#   X.append            is appended to the file X
#   "vramlab-needs: N"  anywhere in the file: left out if patch N is not applied

PATCH_DIR=${VRAMLAB_PATCHES:-$VRAMLAB_TOP/kernel/patches}

# Prints the first N patches of the series (default: all), one path a line.
series_patches() {
	awk -v dir="$PATCH_DIR/" -v n="${1:-1000000}" '{ sub(/#.*/, "") } NF && ++i <= n { print dir $1 }' "$PATCH_DIR/series"
}
lab_patches() { find "$PATCH_DIR/lab" -name '*.patch' | sort; }

# Prints the in-tree files that the given patches touch.
patched_files() {
	[ $# -eq 0 ] || sed -n 's/^\(---\|+++\) [ab]\/\([^\t]*\).*/\2/p; s/^rename \(from\|to\) //p' "$@" | sort -u
}

# Prints overlay files as "path-in-repository<TAB>path-in-tree".
overlay_files() {
	local dir
	for dir in kernel kunit; do
		[ ! -d "$VRAMLAB_TOP/$dir" ] || find "$VRAMLAB_TOP/$dir" -mindepth 2 -type f \
			! -path "$PATCH_DIR/*" ! -path "$VRAMLAB_TOP/kernel/configs/*" ! -name '*~' ! -name '.*.sw?' ! -name '*.orig' \
			! -name '*.rej' -printf '%p\t%P\n'
	done | sort -t $'\t' -k 2
}

_apply_patch() {
	local stage=$1 patch=$2
	# With a source of somebody's own, what does not apply must leave things as they are.
	if [ -z "${KERNEL_SRC:-}" ] || patch -d "$stage" -p1 -F0 -s -f --dry-run <"$patch" >"$stage.log" 2>&1; then
		patch -d "$stage" -p1 -F0 -s -f --no-backup-if-mismatch <"$patch" >"$stage.log" 2>&1 && return
	elif patch -d "$stage" -R -p1 -F0 -s -f --dry-run <"$patch" >/dev/null 2>&1; then
		say "already in $KERNEL_SRC: ${patch##*/}"
		return
	fi
	cat "$stage.log" >&2
	die "${patch#"$VRAMLAB_TOP/"} does not apply to $SOURCE_NAME"
}

# _copy FROM TO: the files that stdin names, with their directories.
_copy() { (cd "$1" && xargs -r -d '\n' cp --parents -t "$2"); }

# _stage_patches STAGE UPTO: patched copies of what the patches touch.
_stage_patches() {
	local stage=$1 patches patch file
	mapfile -t patches < <(series_patches "$2"; lab_patches)
	patched_files "${patches[@]}" | while read -r file; do
		[ ! -e "$BASE/$file" ] || echo "$file"
	done | _copy "$BASE" "$stage"
	chmod -R u+w "$stage"
	for patch in "${patches[@]}"; do
		_apply_patch "$stage" "$patch"
	done
}

# Processes are what this takes time for: as few as can be for each file.
_stage_overlay() {
	local stage=$1 upto=$2 from to dir
	local -A needs=() plain=()
	while IFS=: read -r from to; do
		needs[$from]=$((10#${to//[^0-9]/}))
	done < <(overlay_files | cut -f 1 | xargs -r -d '\n' grep -HoE -m 1 'vramlab-needs: *[0-9]+')
	while IFS=$'\t' read -r from to; do
		[ "${needs[$from]:-0}" -le "$upto" ] || continue
		if [[ $to == *.append ]]; then
			mkdir -p "$stage/${to%/*}"
			to=${to%.append}
			if [ ! -e "$stage/$to" ]; then
				[ -e "$BASE/$to" ] || die "$from: there is no $to to append to"
				cp "$BASE/$to" "$stage/$to"
				chmod u+w "$stage/$to"
			fi
			# A tree of somebody's own may have the lines already.
			grep -v 'SPDX-License-Identifier' "$from" | grep -vxF -f "$stage/$to" >>"$stage/$to.appended" || true
			cat "$stage/$to.appended" >>"$stage/$to"
			rm "$stage/$to.appended"
		else
			[ ! -e "$BASE/$to" ] || [ -n "${KERNEL_SRC:-}" ] ||
				die "$from: $to exists in the kernel; to change it is a patch's task"
			plain[${from%"/$to"}]+=$to$'\n'
		fi
	done < <(overlay_files)
	for dir in "${!plain[@]}"; do
		printf %s "${plain[$dir]}" | _copy "$dir" "$stage"
	done
	chmod -R u+w "$stage"
}

# _sync STAGE: write to TREE the touched files whose contents are not what they
# should be.
_sync() {
	local stage=$1 file count=0
	# Which are as they should be already, one process tells of all.
	(cd "$stage" && xargs -r -d '\n' sha256sum <"$stage.new") |
		(cd "$TREE" && LC_ALL=C sha256sum -c 2>/dev/null || true) | sed -n 's/: OK$//p' >"$stage.same"
	while read -r file; do
		if [ -e "$stage/$file" ]; then
			mkdir -p "$TREE/$(dirname "$file")"
			mv -f "$stage/$file" "$TREE/$file"
		elif [ -e "$BASE/$file" ] && ! grep -qxF "$file" "$stage.patched"; then
			# No longer touched (a file that a patch deletes is).
			cmp -s "$BASE/$file" "$TREE/$file" && continue
			# Not a link: make must see a new time.
			cp --remove-destination "$BASE/$file" "$TREE/$file"
		else
			[ -e "$TREE/$file" ] || continue
			rm -f "$TREE/$file"
			rmdir -p --ignore-fail-on-non-empty "$TREE/$(dirname "$file")"
		fi
		count=$((count + 1))
	done < <(grep -vxF -f "$stage.same" "$stage.all")
	say "tree: $(wc -l <"$stage.new") files patched or added, $count updated ($(elapsed))"
}

# Bring TREE up to date with what is staged.
_update_tree() {
	local stage=$1 manifest=$VARIANT/tree.manifest
	touch "$manifest"
	(cd "$stage" && find . -type f -printf '%P\n' | sort) >"$stage.new"
	sort -u "$manifest" "$stage.new" "$stage.patched" >"$stage.all"
	# Until all is done the manifest names what was and what will be touched.
	cp "$stage.all" "$manifest"
	_sync "$stage"
	sort -u "$stage.new" "$stage.patched" >"$manifest"
	# What the tree holds, for those who want to know whether it changed.
	(cd "$TREE" && { echo "$SOURCE_NAME"; xargs -d '\n' -a "$manifest" sha256sum 2>/dev/null || true; }) |
		sha256sum | cut -d' ' -f1 >"$VARIANT/tree.id"
}

# Make the tree itself, or bring a copy of somebody's own up to date.
_make_tree() {
	local tmp=$1
	if [ ! -d "$TREE" ]; then
		cp -al "$BASE" "$tmp/tree" 2>/dev/null || { rm -rf "$tmp/tree"; cp -a --reflink=auto "$BASE" "$tmp/tree"; }
		rm -f "$VARIANT/tree.manifest" "$VARIANT/tree.id"
		mv "$tmp/tree" "$TREE"
	elif [ -n "${KERNEL_SRC:-}" ]; then
		rsync -a --delete --link-dest="$BASE" --exclude-from=<(sed 's|^|/|' "$VARIANT/tree.manifest") "$BASE/" "$TREE/" >/dev/null
	fi
}

# variant_names SUFFIX UPTO: set VARIANT, TREE and UPTO_COUNT for the source SOURCE_NAME.
# A variant is a tree and what is built in it; variants don't get into each
# other's way. UPTO is a number of patches to apply, or "all".
variant_names() {
	local total
	total=$(series_patches | wc -l)
	UPTO_COUNT=$2
	[ "$UPTO_COUNT" != all ] || UPTO_COUNT=$total
	[ "$UPTO_COUNT" -le "$total" ] || die "--upto $UPTO_COUNT: the series has $total patches"
	VARIANT=$KERNEL_CACHE/$SOURCE_NAME$1
	[ "$UPTO_COUNT" -eq "$total" ] || [ "$1" = -verify ] || VARIANT+=-upto$UPTO_COUNT
	TREE=$VARIANT/tree
}

# tree_prepare SUFFIX UPTO: make TREE current. It stays so until the end or "unlock".
tree_prepare() {
	source_fetch
	variant_names "$@"
	lock "$VARIANT/lock"
	tree_assemble "$UPTO_COUNT"
}

# tree_assemble UPTO: the same, where names are set and the variant is locked.
tree_assemble() {
	local tmp
	rm -rf "$VARIANT"/tmp.*
	tmp=$(mktemp -d "$VARIANT/tmp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	mkdir "$tmp/stage"
	_make_tree "$tmp"
	_stage_patches "$tmp/stage" "$1"
	patched_files $(series_patches "$1"; lab_patches) >"$tmp/stage.patched"
	_stage_overlay "$tmp/stage" "$1"
	_update_tree "$tmp/stage"
	rm -rf "$tmp"
	trap - EXIT
}
