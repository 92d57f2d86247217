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

PATCH_DIR=$VRAMLAB_TOP/kernel/patches

# Prints the patches of the series, one path a line.
series_patches() { sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$PATCH_DIR/series" | sed "s|^|$PATCH_DIR/|"; }
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
	if patch -d "$stage" -p1 -F0 -s -f --no-backup-if-mismatch --dry-run <"$patch" >"$stage.log" 2>&1; then
		patch -d "$stage" -p1 -F0 -s -f --no-backup-if-mismatch <"$patch" >"$stage.log"
	elif [ -n "${KERNEL_SRC:-}" ] && patch -d "$stage" -R -p1 -F0 -s -f --dry-run <"$patch" >/dev/null 2>&1; then
		say "already in $KERNEL_SRC: ${patch##*/}"
	else
		cat "$stage.log" >&2
		die "${patch#"$VRAMLAB_TOP/"} does not apply to $SOURCE_NAME"
	fi
}

# _stage_patches STAGE UPTO: patched copies of what the patches touch.
_stage_patches() {
	local stage=$1 patches patch file
	mapfile -t patches < <(series_patches | head -n "$2"; lab_patches)
	while read -r file; do
		[ -e "$BASE/$file" ] || continue
		mkdir -p "$stage/$(dirname "$file")"
		cp "$BASE/$file" "$stage/$file"
		chmod u+w "$stage/$file"
	done < <(patched_files "${patches[@]}")
	for patch in "${patches[@]}"; do
		_apply_patch "$stage" "$patch"
	done
}

_stage_overlay() {
	local stage=$1 upto=$2 from to needs
	while IFS=$'\t' read -r from to; do
		needs=$(sed -n 's/.*vramlab-needs: *0*\([0-9]\+\).*/\1/p;T;q' "$from")
		[ "${needs:-0}" -le "$upto" ] || continue
		mkdir -p "$stage/$(dirname "$to")"
		if [[ $to == *.append ]]; then
			to=${to%.append}
			if [ ! -e "$stage/$to" ]; then
				[ -e "$BASE/$to" ] || die "$from: there is no $to to append to"
				cp "$BASE/$to" "$stage/$to"
				chmod u+w "$stage/$to"
			fi
			grep -v 'SPDX-License-Identifier' "$from" >>"$stage/$to"
		else
			[ ! -e "$BASE/$to" ] || die "$from: $to exists in the kernel; to change it is a patch's task"
			cp "$from" "$stage/$to"
			chmod u+w "$stage/$to"
		fi
	done < <(overlay_files)
}

# _sync STAGE TREE: bring the touched files of TREE up to date.
_sync() {
	local stage=$1 tree=$2 manifest=$2.manifest file count=0
	touch "$manifest"
	(cd "$stage" && find . -type f -printf '%P\n' | sort) >"$stage.new"
	# A patch may also delete a file: its path is touched and not staged.
	sort -u "$manifest" "$stage.new" "$stage.patched" >"$stage.all"
	cp "$stage.all" "$manifest"
	while read -r file; do
		if [ -e "$stage/$file" ]; then
			cmp -s "$stage/$file" "$tree/$file" && continue
			mkdir -p "$tree/$(dirname "$file")"
			mv -f "$stage/$file" "$tree/$file"
		elif [ -e "$BASE/$file" ] && ! grep -qxF "$file" "$stage.patched"; then
			cmp -s "$BASE/$file" "$tree/$file" && continue
			# Not a link: make must see a new time.
			cp --remove-destination "$BASE/$file" "$tree/$file"
		else
			[ -e "$tree/$file" ] || continue
			rm -f "$tree/$file"
			rmdir -p --ignore-fail-on-non-empty "$tree/$(dirname "$file")"
		fi
		count=$((count + 1))
	done <"$stage.all"
	sort -u "$stage.new" "$stage.patched" >"$manifest"
	say "tree: $(wc -l <"$manifest") files differ from $SOURCE_NAME, $count updated ($(elapsed))"
}

# tree_prepare UPTO [SUFFIX]: set TREE_NAME and TREE, make TREE current, lock it.
# UPTO is the number of patches of the series to apply, or "all".
tree_prepare() {
	local upto=$1 total tmp
	source_fetch
	total=$(series_patches | wc -l)
	[ "$upto" != all ] || upto=$total
	[ "$upto" -le "$total" ] || die "--upto $upto: the series has $total patches"
	TREE_NAME=$SOURCE_NAME${2:-}
	[ "$upto" -eq "$total" ] || [ -n "${2:-}" ] || TREE_NAME+=-upto$upto
	TREE=$KERNEL_CACHE/tree-$TREE_NAME
	lock "$TREE.lock"
	rm -rf "$KERNEL_CACHE/tmp.$TREE_NAME".??????
	tmp=$(mktemp -d "$KERNEL_CACHE/tmp.$TREE_NAME.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	mkdir "$tmp/stage"
	if [ ! -d "$TREE" ]; then
		say "making a tree for $TREE_NAME"
		cp -al "$BASE" "$tmp/tree" 2>/dev/null || { rm -rf "$tmp/tree"; cp -a --reflink=auto "$BASE" "$tmp/tree"; }
		rm -f "$TREE.manifest"
		mv "$tmp/tree" "$TREE"
	elif [ -n "${KERNEL_SRC:-}" ]; then
		rsync -a --delete --link-dest="$BASE" --exclude-from=<(sed 's|^|/|' "$TREE.manifest") "$BASE/" "$TREE/"
	fi
	_stage_patches "$tmp/stage" "$upto"
	patched_files $(series_patches | head -n "$upto"; lab_patches) >"$tmp/stage.patched"
	_stage_overlay "$tmp/stage" "$upto"
	_sync "$tmp/stage" "$TREE"
	# What the tree holds, for those who want to know whether it changed.
	(cd "$TREE" && { echo "$SOURCE_NAME"; xargs -d '\n' -a "$TREE.manifest" sha256sum 2>/dev/null || true; }) |
		sha256sum | cut -d' ' -f1 >"$TREE.id"
	rm -rf "$tmp"
	trap - EXIT
}
