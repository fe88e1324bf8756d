#!/usr/bin/env python3
"""Walk of 200 scattered against 200 dense list nodes under SLUB: ratio with 95 % confidence interval.

usage: locality.py SLABLAB [RUNS]

Each run of kernel/modules/locality makes many walks of both kinds, one after the other. The ratio of a
run is that of the fastest walks: whatever else the machine does can only add to a walk. The interval is a bootstrap over runs (10,000 resamples, fixed seed).
"""
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WALK = re.compile(r"source=(\w+) size=40 walks=\d+ walk_ns_min=(\d+)")


def ratio(slablab):
    """Returns scattered kmalloc objects' walk time over that of a cache's own."""
    words = [slablab, "insmod", str(ROOT / "kernel/modules/locality"), "churn=20000", "--check", "0"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    fastest = {source: int(ns) for source, ns in WALK.findall(text)}
    return fastest["kmalloc"] / fastest["cache"]


def main():
    slablab, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 21
    ratios = [ratio(slablab) for _ in range(runs)]
    rng = random.Random(1)
    means = sorted(sum(rng.choices(ratios, k=runs)) / runs for _ in range(10_000))
    print(f"scattered / dense: {sum(ratios) / runs:.2f}, 95 % CI {means[250]:.2f} to {means[9749]:.2f}, {runs} runs")
    print("runs: " + " ".join(f"{r:.2f}" for r in ratios))


if __name__ == "__main__":
    main()
