# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# apt with lists and cache of its own, for a suite that the machine does not
# use: the system's sources, lists and packages stay as they are. Mirrors and
# everything else (proxies, date checks) come from the machine's apt set-up.

DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the archives in the machine's sources, as apt itself reads them: first
# those that look like Debian's main archive. VRAMLAB_DEBIAN_MIRROR comes first.
_debian_mirrors() {
	local uris
	[ -z "${VRAMLAB_DEBIAN_MIRROR:-}" ] || echo "${VRAMLAB_DEBIAN_MIRROR%/}"
	uris=$(apt-get update --print-uris -o Dir::State::Lists="$1" 2>/dev/null |
		sed -n "s|^'\(.*\)/dists/[a-z]*/InRelease' .*|\1|p" | grep -v '^cdrom:' || true)
	{ grep '/debian$' <<<"$uris"; grep -v '/debian$' <<<"$uris"; } | awk 'NF && !seen[$0]++'
}

# private_apt_update SUITE: set PRIVATE_APT to the options that make apt-get
# see SUITE of the first mirror that has it, and nothing else.
private_apt_update() {
	local suite=$1 dir=$VRAMLAB_CACHE/apt/$1 mirror log
	need apt-get kernel
	[ -r "$DEBIAN_KEYRING" ] || die "$DEBIAN_KEYRING is missing: run 'scripts/setup kernel'"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	log=$dir/update.log
	PRIVATE_APT=(-q -o "Dir::State::Lists=$dir/lists" -o "Dir::Cache=$dir/cache"
		-o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=-
		-o "APT::Sandbox::User=$(id -un)")
	: >"$log"
	while read -r mirror; do
		echo "deb [signed-by=$DEBIAN_KEYRING] $mirror $suite main" >"$dir/sources.list"
		if apt-get "${PRIVATE_APT[@]}" -o APT::Update::Error-Mode=any update >>"$log" 2>&1; then
			return
		fi
	done < <(_debian_mirrors "$dir/lists")
	tail -n 5 "$log" >&2
	die "no mirror in the machine's apt sources has $suite: set VRAMLAB_DEBIAN_MIRROR=URI (e.g. of a full Debian mirror)"
}

# private_apt_download PACKAGE DIR: put the .deb into DIR (checked by apt).
private_apt_download() {
	(cd "$2" && apt-get "${PRIVATE_APT[@]}" download "$1") >>"$2/download.log" 2>&1 ||
		{ tail -n 5 "$2/download.log" >&2; die "cannot download $1"; }
}
