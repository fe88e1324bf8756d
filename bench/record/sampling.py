#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What reading /proc/slabinfo beside the events costs a workload.

Runs `slablab record` of the same load with /proc/slabinfo and with an empty file in its place, in turn, and prints the
ratio of the load's own times: median, and its 95 % interval by 1,000 medians drawn again from the pairs.

    bench/record/sampling.py SLABLAB [ROUNDS] [LOOPS]
"""
import random
import re
import statistics
import subprocess
import sys

import tracefs

LOAD = ["perf", "bench", "sched", "messaging", "-g", "10", "-l", "400"]
HIDE = "mount --bind /dev/null /proc/slabinfo && exec \"$@\""


def seconds(slablab, is_sampled):
    command = [slablab, "record", "--no-probes", "-o", "/tmp/sampling.parquet", "--", *LOAD]
    if not is_sampled:
        command = ["unshare", "-m", "sh", "-c", HIDE, "sh", *command]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(re.search(r"Total time: ([0-9.]+)", run.stdout).group(1))


def main():
    slablab, rounds = sys.argv[1], int((sys.argv[2:] or ["40"])[0])
    LOAD[-1] = (sys.argv[3:] or LOAD[-1:])[0]
    tracefs.need("bench/record/sampling.py", "perf", "unshare")
    pairs = []
    for number in range(rounds):
        order = (True, False) if number % 2 else (False, True)
        times = {is_sampled: seconds(slablab, is_sampled) for is_sampled in order}
        pairs.append(times[True] / times[False])
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(pairs, k=len(pairs))) for _ in range(1000))
    print(f"{rounds} pairs: {statistics.median(pairs):.4f} ({medians[25]:.4f} to {medians[975]:.4f})")


main()
