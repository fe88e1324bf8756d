#!/usr/bin/env python3
"""The frontier of sheaves: bytes held against locks, for capacities and limits of barns around Linux's.

frontier.py SLABLAB TRACE...: replays each trace under slub-sheaves at each point, and prints a line of CSV for each: bytes held at the end, on average and at the peak, and locks with atomic operations.
"""
import csv
import json
import subprocess
import sys

PERCENTS = [0, 25, 50, 100, 200]
BARNS = [0, 2, 5, 10, 20]


def point(slablab, trace, percent, barn):
    """Returns the numbers of a replay with and without the change."""
    command = [slablab, "whatif", trace, "--allocators", "slub-sheaves", "--format", "json"]
    command += ["--sheaf-percent", str(percent), "--barn-sheaves", str(barn)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    allocator = answer["after"]["allocators"][0]
    return {
        "trace": trace.split("/")[-1],
        "sheaf_percent": percent,
        "barn_sheaves": barn,
        "held_bytes_end": allocator["held_bytes"]["end"],
        "held_bytes_mean": allocator["held_bytes"]["mean"],
        "held_bytes_peak": allocator["held_bytes"]["peak"],
        "locks": sum(allocator["locks"].values()),
    }


def main():
    slablab, *traces = sys.argv[1:]
    rows = None
    for trace in traces:
        for percent in PERCENTS:
            for barn in BARNS if percent else [0]:
                row = point(slablab, trace, percent, barn)
                if rows is None:
                    rows = csv.DictWriter(sys.stdout, row.keys())
                    rows.writeheader()
                rows.writerow(row)


if __name__ == "__main__":
    main()
