#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The known ladders, in tiny guests and in the replay of a tiny guest's boot. Run in a checkout of the sources:
#   bench/guest/ladders.sh FOLDER [BOOTS]
# Builds two kernels the first time (some 3 minutes each on two cores); FOLDER gets boot1.parquet and so on, recording.txt, plain.txt, ends.txt.
set -eu
folder=$1
boots=${2:-3}
here=$(dirname "$0")
slablab=${SLABLAB:-slablab}
patch=kernel/patches/6.12/optional/slab-min-partial/slab-min-partial.patch
mkdir -p "$folder"

# guest NAME KERNEL ARGUMENTS: boots once, and writes a line: name, kB free, kB of slabs, free blocks by order, a zone a field.
guest() {
	name=$1 kernel=$2
	shift 2
	for argument; do set -- "$@" --append "$argument"; shift; done
	[ "$kernel" = tiny ] && kernel=build:6.12/slub_tiny+tiny || set -- "$@" --patch "$patch"
	[ "$kernel" = slub ] && kernel=build:6.12/slub+tiny
	[ "$how" = plain ] || set -- "$@" --record "$folder/guest.parquet"
	"$slablab" kernel boot "$kernel" --cpus 1 --memory 32 --script "$here/ladder.sh" "$@" |
		awk -v name="$name" '/^RESULT/ { sub(/\r/, ""); sub(/RESULT (MemFree:|Slab:|buddy) */, ""); line = line "\t" $0 }
			END { print name line }'
	[ "$how" = plain ] && return
	# A recording does not say that its kernel has SLUB_TINY.
	allocator=slub
	[ "$kernel" = build:6.12/slub_tiny+tiny ] && allocator=slub-tiny
	"$slablab" replay "$folder/guest.parquet" -a $allocator --format json | python3 -c "
import json, sys
fit = json.load(sys.stdin)['allocators'][0]['fit']
print('$name', fit['recorded_slab_bytes_end'] // 1024, fit['slab_bytes_end'] // 1024, sep='\t')" >> "$folder/ends.txt"
}

# ends.txt: kB of slabs at the end of each recording, as the guest and as a replay of that recording say.
: > "$folder/ends.txt"

# Guests that record hold what the trace is of; guests that do not are what a user has.
for how in recording plain; do
	: > "$folder/$how.txt"
	for boot in $(seq "$boots"); do
		{
			guest "SLUB, nothing merged" slub slab_nomerge
			guest "min_partial=0" slub slab_nomerge slab_min_partial=0
			guest "max_order=0, too" slub slab_nomerge slab_min_partial=0 slab_max_order=0
			guest "merged, too" slub slab_min_partial=0 slab_max_order=0
			guest "SLUB" slub
			guest "SLUB max_order=0" slub slab_max_order=0
			guest "SLUB_TINY max_order=3" tiny slab_max_order=3
			guest "SLUB_TINY" tiny
			guest "SLUB_TINY max_order=0" tiny slab_max_order=0
		} >> "$folder/$how.txt"
	done
done

# What all rungs are compared with holds a slab of 32 KiB more in some boots than in others: it is booted and replayed more often.
how=recording
for boot in $(seq "$((2 * boots))"); do
	guest "SLUB, nothing merged" slub slab_nomerge >> "$folder/recording.txt"
	mv "$folder/guest.parquet" "$folder/boot$boot.parquet"
done
python3 "$here/ladders.py" "$slablab" "$folder"
