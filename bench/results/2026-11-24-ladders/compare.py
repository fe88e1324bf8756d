# SPDX-License-Identifier: MIT OR Apache-2.0
"""The ladders in guests and in replay: python3 compare.py SLABLAB FOLDER

FOLDER has recording.txt, plain.txt and boot.parquet (ladders.sh). What a rung holds less than the first is compared. The replay
is looked at in the last second before its end, when the guest slept, and read its slabs: the median of the samples.
"""

import json
import statistics
import subprocess
import sys

slablab, folder = sys.argv[1:]
trace = f"{folder}/boot.parquet"


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
    command = [slablab, "whatif", trace, *words, "--format", "json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    series = answer[which]["allocators"][0]["series"]
    last = [s["held_bytes"] for s in series if s["time_ns"] > series[-1]["time_ns"] - 1e9]
    return statistics.median(last) / 1024


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
recording, plain = guests("recording"), guests("plain")
first = rungs[0][0]


def column(boots, name, field):
    return [boot[field] for boot in boots[name]]


def mean(boots, name, field=0):
    return statistics.mean(column(boots, name, field))


print(f"{'kB':22} {'replay':>12} {'guests that record':>24} {'plain guests':>22} {'free':>7} largest free block")
for name, held in rungs:
    cells = [f"{held:6.0f} {held - rungs[0][1]:5.0f}"]
    for boots in (recording, plain):
        slabs = column(boots, name, 0)
        cells.append(f"{mean(boots, name):6.0f} {mean(boots, name) - mean(boots, first):5.0f} ({min(slabs)}-{max(slabs)})")
    largest = ",".join(str(n) for n in sorted(set(column(plain, name, 2))))
    print(f"{name:22} {cells[0]:>12} {cells[1]:>24} {cells[2]:>22} {mean(plain, name, 1):7.0f} {largest}")
