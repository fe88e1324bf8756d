#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How well replays of six live recordings agree with what /proc/slabinfo said meanwhile.

Records six loads on this machine, replays each under the allocator that the kernel has, and prints for each: the sum of all
slabs at the peak and at the end, the median of the caches, and the caches that are furthest off. Caches are listed apart where
less than 90 % of the frees or allocations were seen, or of the objects at the end are known to live (the table of `slablab
replay` says so). Recording needs root; what the loads need (perf, nginx, sqlite3, make and cc) has to be there.

    bench/record/fit.py SLABLAB LINUX-SOURCE FOLDER [LOAD...]

Without a LOAD all six are recorded. PROCESSES and FILES in the environment make those loads smaller.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tracefs

HERE = pathlib.Path(__file__).resolve().parent
LOADS = {
    "hackbench": ["perf", "bench", "sched", "messaging", "-g", "10", "-l", "200"],
    "connections": ["python3", str(HERE / "storm.py"), "80000"],
} | {name: ["sh", str(HERE / "loads" / f"{name}.sh")] for name in ("build", "files", "daemons", "procs")}
NEEDS = {"hackbench": ["perf"], "daemons": ["nginx", "sqlite3"], "build": ["make", "cc"]}
# Below it a cache is marked (SEEN_SHARE_MIN of slablab-replay).
SEEN_SHARE_MIN = 0.9


def record(slablab, linux, name, trace):
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {"PLACE": place, "LINUX": linux}
        command = [slablab, "record", "-o", str(trace), "--", *LOADS[name]]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_marked(cache):
    shares = [cache[share] for share in ("frees_seen_share", "allocs_seen_share", "living_known_share")]
    return any(share is not None and share < SEEN_SHARE_MIN for share in shares)


def worst(caches):
    """Returns the cache that is furthest off, as a cell."""
    if not caches:
        return "none above 10 %"
    cache = max(caches, key=lambda cache: cache["difference_share"])
    slabs = [f"{cache[f'slabs_{when}']} against {cache[f'recorded_slabs_{when}']}" for when in ("peak", "end")]
    return f"`{cache['cache']}`, {cache['difference_share']:.0%}: {slabs[0]} at the peak, {slabs[1]} at the end"


def row(slablab, name, trace):
    command = [slablab, "replay", str(trace), "--format", "json"]
    replayed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    fit, recorded = replayed["allocators"][0]["fit"], replayed["trace"]
    lost = recorded["lost"] / (recorded["events"] + recorded["lost"])
    sums = [fit[f"slab_bytes_{when}"] / fit[f"recorded_slab_bytes_{when}"] - 1 for when in ("peak", "end")]
    off = [cache for cache in fit["caches"] if cache["difference_share"] > 0.1]
    unmarked = worst([cache for cache in off if not is_marked(cache)])
    marked = worst([cache for cache in off if is_marked(cache)])
    found = [f"{recorded['events']:,}, {lost:.1%}", f"{sums[0]:+.1%}, {sums[1]:+.1%}", f"{fit['difference_share_p50']:.1%}"]
    return f"| {' | '.join([name, *found, unmarked, marked])} |"


def main():
    loads = sys.argv[4:] or list(LOADS)
    if len(sys.argv) < 4 or not set(loads) <= set(LOADS):
        sys.exit(f"usage: fit.py SLABLAB LINUX-SOURCE FOLDER [{'|'.join(LOADS)}]...")
    slablab, linux, folder = shutil.which(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    tracefs.need("bench/record/fit.py", sys.argv[1], *(tool for load in loads for tool in NEEDS.get(load, [])))
    folder.mkdir(parents=True, exist_ok=True)
    print("| load | events, lost | sum at the peak, end | median | worst unmarked cache | worst marked cache |")
    print("|---|---|---|---|---|---|")
    for name in loads:
        trace = folder / f"{name}.parquet"
        record(slablab, linux, name, trace)
        print(row(slablab, name, trace), flush=True)


main()
