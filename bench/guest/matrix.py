#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Prints the tables of bench/results/2026-11-25-dense-matrix from rows of a script in guests: bench/guest/matrix.py ROWS.jsonl...
import collections, json, math, statistics, sys

def ratio(a, b):
    """The ratio of geometric means, with a 95 % interval of Welch's kind (t of 10 degrees)."""
    la, lb = [[math.log(x) for x in s] for s in (a, b)]
    d = statistics.mean(la) - statistics.mean(lb)
    s = 2.23 * math.sqrt(statistics.variance(la) / len(la) + statistics.variance(lb) / len(lb))
    return f"{math.exp(d):.3f} ({math.exp(d - s):.3f} to {math.exp(d + s):.3f})"

for path in sys.argv[1:]:
    cells = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in open(path):
        row = json.loads(line)
        if row["warmup"]:
            continue
        kernel = row["variant"].rsplit("/", 1)[1]
        for name, value in row["values"].items():
            cells[int(row["point"]), kernel][name].append(value)
    for cpus in sorted({cpus for cpus, _ in cells}):
        of = lambda kernel, name: cells[cpus, kernel][name]
        median = lambda kernel, name: statistics.median(of(kernel, name))
        tiny, dense = "slub_tiny", "slub_dense"
        print(path, cpus, "CPUs,", {k: len(of(k, "slab_kb")) for c, k in cells if c == cpus})
        for name in ("slab_kb", "slab_boot_kb", "slab_peak_kb", "load_seconds"):
            line = f"  {name:13} dense/tiny {ratio(of(dense, name), of(tiny, name))}"
            if (cpus, "slub") in cells:
                line += f"  dense/slub {ratio(of(dense, name), of('slub', name))}"
            print(line, {k: median(k, name) for c, k in cells if c == cpus})
        for name in ("order_later", "huge_mib_later"):
            print(f"  {name}", {k: sorted(of(k, name)) for c, k in cells if c == cpus})
