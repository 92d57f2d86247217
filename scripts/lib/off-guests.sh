# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For scripts/check-off: workloads in $work/in, and their traces on a kernel.

# The reproducers as conformance cuts them down, and random workloads.
write_workloads() { # FIRST SEEDS
	local file seed arguments
	mkdir -p "$work/in"
	for file in "${VRAMLAB_SCENARIOS:-userspace/scenarios}"/*.toml; do
		read -ra arguments < <(sed -n 's/^# conform: //p' "$file"; echo)
		"$vramlab" expand "$file" "${arguments[@]}" -o "$work/in/$(basename "$file" .toml).jsonl" || exit 1
	done
	for ((seed = $1; seed < $1 + $2; seed++)); do
		"$vramlab" expand --swarm "$seed" -o "$work/in/swarm-$(printf %06d "$seed").jsonl" || exit 1
	done
}

# traces SIDE UPTO POLICY NAMES [KEEP]: run the workloads that the file NAMES lists on the kernel with UPTO patches. $work/SIDE gets
# lines "workload, digest of the trace, states in it, bytes"; with KEEP the traces themselves stay in $work/SIDE.d.
# A game's events are gigabytes of what evictions looked at: its states must do.
# Status 1: an expectation does not hold, as some do not in mainline.
traces() {
	local side=$1 dir=$work/$1.d
	mkdir -p "$dir"
	scripts/vm run --upto "$2" --cpus 1 --module vttm --timeout 14400 --rw "$dir" -- bash -c '
		vramlab=$1 in=$2 dir=$3 policy=$4 keep=$6
		while read -r name; do
			events=(--events "$dir/events")
			[[ $name != game-* ]] || events=()
			"$vramlab" run "$in/$name.jsonl" --backend=kernel-here --policy "$policy" --states "$dir/states" "${events[@]}" \
				>"$dir/output" 2>&1 || [ $? -eq 1 ] || { cat "$dir/output"; exit 1; }
			cat "$dir/states" "$dir"/events* >"$dir/$name"
			printf "%s\t%s\t%s\t%s\n" "$name" "$(sha256sum <"$dir/$name" | cut -c1-64)" "$(grep -c "^operation " "$dir/$name")" \
				"$(stat -c %s "$dir/$name")" >>"$dir/digests"
			[ "$keep" ] || rm -f "$dir/$name"
			rm -f "$dir/states" "$dir/events"
		done <"$5"' - "$vramlab" "$work/in" "$dir" "$3" "$4" "${5:-}" >&2 || return 1
	mv "$dir/digests" "$work/$side"
}

# Run the workload again on both, and show where the traces part.
show_difference() { # NAME
	echo "$1" >"$work/one"
	traces again-whole all mainline "$work/one" keep && traces again-first 1 mainline "$work/one" keep &&
		diff -U 3 "$work/again-first.d/$1" "$work/again-whole.d/$1" | head -n 40
	rm -rf "$work"/again-*
}
