#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The ladders in guests and in replay: bench/guest/ladders.py SLABLAB FOLDER

FOLDER has plain.txt, ends.txt and boot1.parquet and so on (ladders.sh). What a rung holds less than the first is compared.
The replay and the guests that record are looked at at the same moment, the last reading of slabs before a recording ends; `own` is
the replay of each guest's own recording then. Slab: of plain guests is from a few tenths of a second earlier.
"""

import glob
import json
import statistics
import subprocess
import sys

slablab, folder = sys.argv[1:]
traces = sorted(glob.glob(f"{folder}/boot*.parquet"))


def guests(how):
    boots = {}
    with open(f"{folder}/{how}.txt") as lines:
        for line in lines:
            name, free, slab, *zones = line.rstrip("\n").split("\t")
            orders = [sum(zone) for zone in zip(*([int(n) for n in zone.split()] for zone in zones))]
            largest = max(4 << order for order, n in enumerate(orders) if n)
            boots.setdefault(name, []).append((int(slab), int(free), largest))
    return boots


def replayed(which, *words):
    return [ended(trace, which, *words) for trace in traces]


def ended(trace, which, *words):
    command = [slablab, "whatif", trace, *words, "--format", "json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return answer[which]["allocators"][0]["fit"]["slab_bytes_end"] // 1024


tiny = ["--merge", "-a", "slub-tiny"]
rungs = [
    ("SLUB, nothing merged", replayed("before", "--merge")),
    ("min_partial=0", replayed("after", "--min-partial", "0")),
    ("max_order=0, too", replayed("after", "--min-partial", "0", "--max-order", "0")),
    ("merged, too", replayed("after", "--min-partial", "0", "--max-order", "0", "--merge")),
    ("SLUB", replayed("after", "--merge")),
    ("SLUB max_order=0", replayed("after", "--merge", "--max-order", "0")),
    ("SLUB_TINY max_order=3", replayed("after", *tiny, "--max-order", "3")),
    ("SLUB_TINY", replayed("after", *tiny)),
    ("SLUB_TINY max_order=0", replayed("after", *tiny, "--max-order", "0")),
]
plain = guests("plain")
ends = {}
with open(f"{folder}/ends.txt") as lines:
    for line in lines:
        name, recorded, own = line.rstrip("\n").split("\t")
        ends.setdefault(name, []).append((int(recorded), int(own)))
first = rungs[0][0]


def column(boots, name, field):
    return [boot[field] for boot in boots[name]]


def mean(boots, name, field=0):
    return statistics.mean(column(boots, name, field))


def less(boots, name, field=0):
    kb, range_ = mean(boots, name, field), column(boots, name, field)
    return f"{kb:6.0f} {kb - mean(boots, first, field):5.0f} ({min(range_)}-{max(range_)})"


print(f"{'kB':22} {'replay':>24} {'guests that record':>24} {'own':>24} {'plain guests':>24} {'free':>7} largest free block")
for name, held in rungs:
    kb = statistics.mean(held)
    replay = f"{kb:6.0f} {kb - statistics.mean(rungs[0][1]):5.0f} ({min(held)}-{max(held)})"
    cells = [less(ends, name), less(ends, name, 1), less(plain, name)]
    largest = ",".join(str(n) for n in sorted(set(column(plain, name, 2))))
    print(f"{name:22} {replay:>24} " + " ".join(f"{cell:>24}" for cell in cells) + f" {mean(plain, name, 1):7.0f} {largest}")
