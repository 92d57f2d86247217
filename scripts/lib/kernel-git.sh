# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The patches as commits, to work on them with git, and back.
#
# The repository holds only the directories that patches touch. Tag "base" is the
# pristine kernel, branch "series" has kernel/patches, branch "lab" kernel/patches/lab.

# Directories that the patches of today or tomorrow are likely to touch.
EDIT_DIRS=(drivers/gpu/drm/ttm drivers/dma-buf include/drm include/linux include/trace/events kernel/cgroup arch/um
	Documentation/gpu)

# git without the user's configuration, but with the user's name.
_git() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git -C "$EDIT_DIR" \
		-c user.name="$EDIT_NAME" -c user.email="$EDIT_EMAIL" -c core.abbrev=12 -c commit.gpgSign=false "$@"
}

# What kernel/patches holds, so that an export does not overwrite other changes.
_patch_state() {
	{ series_patches; lab_patches; } | xargs -r -d '\n' sha256sum | sed "s|$PATCH_DIR/||" | sha256sum | cut -d' ' -f1
}

_edit_open() {
	EDIT_DIR=$1
	EDIT_NAME=$(git -C "$VRAMLAB_TOP" config user.name) && EDIT_EMAIL=$(git -C "$VRAMLAB_TOP" config user.email) ||
		die "git knows no user.name and user.email: set them with git config"
}

# edit_create DIR [PATH...]: PATHs are further in-tree directories to include.
edit_create() {
	local paths path
	[ -n "${1:-}" ] || die "edit: which directory?"
	[ ! -e "$1" ] || [ -z "$(ls -A "$1")" ] || die "$1 is not empty"
	source_fetch
	mkdir -p "$1"
	_edit_open "$(cd "$1" && pwd)"
	shift
	mapfile -t paths < <({
		printf '%s\n' "${EDIT_DIRS[@]}" "$@"
		patched_files $(series_patches; lab_patches) | xargs -r -n 1 dirname
	} | sort -u)
	for path in "${paths[@]}"; do
		[ -d "$BASE/$path" ] || continue
		mkdir -p "$EDIT_DIR/$path"
		cp -r --no-preserve=all "$BASE/$path/." "$EDIT_DIR/$path/"
	done
	# Files beside the directories, such as drivers/gpu/drm/*.c.
	cp --no-preserve=all "$BASE"/drivers/gpu/drm/*.[ch] "$BASE"/drivers/gpu/drm/{Kconfig,Makefile} "$EDIT_DIR/drivers/gpu/drm/"
	_git init -q -b series
	_git add -A -f
	_git commit -q -m "Linux $SOURCE_NAME"
	_git tag base
	_git branch lab
	_edit_apply series "$(series_patches)"
	_edit_apply lab "$(lab_patches)"
	_git checkout -q series
	_git config vramlab.exported "$(_patch_state)"
	say "$EDIT_DIR: $(_git rev-list --count base..series) commits on 'series', $(_git rev-list --count base..lab) on 'lab'"
}

_edit_apply() {
	_git checkout -q "$1"
	# The paths are our own and hold no blanks that matter to git am.
	[ -z "$2" ] || xargs -d '\n' <<<"$2" env GIT_CONFIG_GLOBAL=/dev/null git -C "$EDIT_DIR" -c user.name="$EDIT_NAME" \
		-c user.email="$EDIT_EMAIL" am -q --committer-date-is-author-date || die "$1: a patch does not apply (see $EDIT_DIR)"
}

# edit_export DIR: rewrite kernel/patches from the branches of DIR.
edit_export() {
	local branch out tmp
	[ -e "${1:-}/.git" ] || die "export: '${1:-}' was not made by 'kernel-tree edit'"
	_edit_open "$(cd "$1" && pwd)"
	[ "$(_git config vramlab.exported)" = "$(_patch_state)" ] ||
		die "kernel/patches has changed since '$1' was made or exported: make a new one and move your commits there"
	for branch in series lab; do
		_git merge-base --is-ancestor base "$branch" || die "$1: '$branch' does not start from the tag 'base'"
	done
	for branch in series lab; do
		[ "$branch" = series ] && out=$PATCH_DIR || out=$PATCH_DIR/lab
		tmp=$(mktemp -d "$out/tmp.XXXXXX")
		# Nothing in the output depends on the git version or on who runs it.
		_git format-patch -q --no-signature --zero-commit --no-numbered --no-base --filename-max-length=120 --diff-algorithm=histogram \
			--src-prefix=a/ --dst-prefix=b/ -o "$tmp" base.."$branch"
		find "$out" -maxdepth 1 -name '*.patch' -delete
		find "$tmp" -name '*.patch' -exec mv -t "$out" {} +
		rmdir "$tmp"
	done
	find "$PATCH_DIR" -maxdepth 1 -name '*.patch' -printf '%f\n' | sort >"$PATCH_DIR/series"
	_git config vramlab.exported "$(_patch_state)"
	say "wrote $(series_patches | wc -l) patches of the series and $(lab_patches | wc -l) of the lab"
}
