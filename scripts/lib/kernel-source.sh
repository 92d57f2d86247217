# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The pristine kernel source ("base"). Sets, for the other kernel-*.sh:
#   BASE         directory of the pristine source; nothing here writes to it
#   SOURCE_NAME  names everything in the cache that depends on that source

KERNEL_SERIES=7.3
KERNEL_SUITE=trixie-backports
KERNEL_CACHE=$VRAMLAB_CACHE/kernel

_check_version() {
	local version
	[ -r "$1/Makefile" ] || die "$1 is no kernel source: it has no Makefile"
	version=$(sed -n 's/^\(VERSION\|PATCHLEVEL\) = //p' "$1/Makefile" | paste -sd.)
	[ "$version" = "$KERNEL_SERIES" ] || die "$1 is Linux $version, the patches are for $KERNEL_SERIES.x:" \
		"get that, or port them: 'scripts/kernel-tree edit DIR', git rebase, 'scripts/kernel-tree export DIR'"
}

_fetch_debian() {
	local package=linux-source-$KERNEL_SERIES tmp deb version
	need rsync kernel
	mkdir -p "$KERNEL_CACHE"
	need_space "$KERNEL_CACHE" 5000
	rm -rf "$KERNEL_CACHE"/tmp.source.*
	tmp=$(mktemp -d "$KERNEL_CACHE/tmp.source.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	say "looking for $package in $KERNEL_SUITE"
	private_apt_update "$KERNEL_SUITE"
	say "downloading $package (160 MB)"
	private_apt_download "$package" "$tmp"
	deb=$(echo "$tmp"/*.deb)
	version=$(dpkg-deb -f "$deb" Version | tr -c 'A-Za-z0-9.+\n-' _)
	if [ ! -d "$KERNEL_CACHE/base-$version" ]; then
		say "unpacking $package $version ($(elapsed))"
		mkdir "$tmp/base"
		dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$package.tar.xz" |
			tar -xJ -C "$tmp/base" --strip-components=1
		_check_version "$tmp/base"
		# Trees are made of hard links to these files.
		find "$tmp/base" -type f -exec chmod a-w {} +
		mv "$tmp/base" "$KERNEL_CACHE/base-$version"
	fi
	echo "$version" >"$tmp/current"
	mv "$tmp/current" "$KERNEL_CACHE/current"
	rm -rf "$tmp"
	trap - EXIT
	say "have $package $version ($(elapsed))"
}

# Copy somebody's own tree, without what a build left in it, and keep the copy
# up to date: the tree itself is only read.
_copy_own() {
	need rsync kernel
	_check_version "$KERNEL_SRC"
	mkdir -p "$BASE"
	need_space "$BASE" 4000
	if git -C "$KERNEL_SRC" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$KERNEL_SRC" ls-files -z --cached --others --exclude-standard | sort -zu >"$BASE.files"
		rsync -a --from0 --files-from="$BASE.files" --delete-missing-args "$KERNEL_SRC/" "$BASE/"
		(cd "$BASE" && find . ! -type d -printf '%P\0' | sort -z | comm -z -23 - "$BASE.files" | xargs -0 -r rm -f)
	else
		rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.a' --exclude='.*.cmd' --exclude='/vmlinux*' \
			--exclude='/.config*' --exclude='include/generated' --exclude='include/config' --exclude='.git' \
			"$KERNEL_SRC/" "$BASE/"
	fi
}

# Set SOURCE_NAME and BASE, without making anything.
source_name() {
	if [ -n "${KERNEL_SRC:-}" ]; then
		KERNEL_SRC=$(cd "$KERNEL_SRC" && pwd) || die "KERNEL_SRC: no such directory"
		SOURCE_NAME=own-$(printf %s "$KERNEL_SRC" | sha256sum | cut -c1-8)
	else
		SOURCE_NAME=$(cat "$KERNEL_CACHE/current" 2>/dev/null) || die "no source yet: run 'scripts/kernel-tree fetch'"
	fi
	BASE=$KERNEL_CACHE/base-$SOURCE_NAME
}

# source_fetch [--refresh]: make sure that there is a base; sets SOURCE_NAME and BASE.
source_fetch() {
	lock "$KERNEL_CACHE/source.lock"
	if [ -n "${KERNEL_SRC:-}" ]; then
		source_name
		_copy_own
	else
		if [ "${1:-}" = --refresh ] || [ ! -r "$KERNEL_CACHE/current" ]; then
			_fetch_debian
		fi
		source_name
		[ -d "$BASE" ] || die "$BASE is gone: run 'scripts/kernel-tree fetch --refresh'"
	fi
	unlock
}
