# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Shared by the bash scripts: messages, paths, locks. Source it, don't run it.

VRAMLAB_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
VRAMLAB_CACHE=${VRAMLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vramlab}
# The kind of machine that kernels are built for and guests are, unless --target says another.
DEFAULT_TARGET=${VRAMLAB_TARGET:-um}
PROGRAM=${0##*/}
# Where depmod is; not everybody has it in PATH.
PATH=$PATH:/usr/sbin:/sbin
START_SECONDS=$SECONDS

# Messages go to stderr, so that stdout carries results only.
say() { printf '%s: %s\n' "$PROGRAM" "$*" >&2; }
die() { printf '%s: error: %s\n' "$PROGRAM" "$*" >&2; exit 1; }
elapsed() { printf '%d:%02d' $(((SECONDS - START_SECONDS) / 60)) $(((SECONDS - START_SECONDS) % 60)); }

# need COMMAND GROUP: fail with advice if COMMAND is not installed.
need() {
	command -v "$1" >/dev/null || die "'$1' is not installed: run 'scripts/setup $2'"
}

# need_space DIR MIB: fail unless the file system of DIR has MIB to spare.
need_space() {
	local free
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] || die "$1: $2 MiB of disk space needed, $free MiB free (set VRAMLAB_CACHE to move the cache)"
}

# lock FILE: hold FILE exclusively until the script ends or "unlock", which lets
# go of what was locked last; tells if it waits.
lock() {
	mkdir -p "$(dirname "$1")"
	exec {LOCK_FD}>>"$1"
	flock -n "$LOCK_FD" && return
	say "waiting for another run that uses $(dirname "$1")"
	flock "$LOCK_FD"
}
unlock() { exec {LOCK_FD}>&-; }
