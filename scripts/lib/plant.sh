# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For tests of tests: patches with a fault each, to put behind the series. Sets "series", the number of its patches; $work/patches is
# a copy of them, $work/old and $work/new have the files to change.

# plant_from TREE FILE...: the files as the whole series leaves them.
plant_from() {
	local tree=$1 side file
	shift
	cp -r kernel/patches "$work/patches"
	series=$(grep -c '^[^#]' kernel/patches/series)
	for side in old new; do
		for file; do
			mkdir -p "$work/$side/${file%/*}"
			cp "$tree/$file" "$work/$side/$file"
		done
	done
	chmod -R u+w "$work"
}

# plant_patch PATCHES NUMBER FAULT: the difference between old and new, as the patch NUMBER of the directory.
plant_patch() {
	local name
	name=$(printf '%04d-drm-ttm-Plant-fault-%d.patch' "$2" "$3")
	{
		printf 'From %040d Mon Sep 17 00:00:00 2001\nFrom: %s <%s>\nDate: Thu, 1 Jan 1970 00:00:00 +0000\n' 0 \
			"$(git config user.name)" "$(git config user.email)"
		printf 'Subject: [PATCH] drm/ttm: Plant fault %d\n\nSomebody has to notice: this patch is wrong, and only in one way.\n\n' "$3"
		printf 'Signed-off-by: %s <%s>\n---\n\n' "$(git config user.name)" "$(git config user.email)"
		(cd "$work" && diff -upr -x '*.orig' old new || true) | sed -E 's|^diff .* old/(.*) new/.*|diff --git a/\1 b/\1|
			s|^--- old/([^\t]*).*|--- a/\1|; s|^\+\+\+ new/([^\t]*).*|+++ b/\1|'
		printf -- '-- \n2.39.0\n'
	} >"$1/$name"
	echo "$name" >>"$1/series"
}
