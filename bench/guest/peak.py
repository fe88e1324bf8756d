#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""bench/guest/peak.py ROWS...: the peaks of SLUB_DENSE over those of SLUB_TINY, with intervals.

A boot is one observation: the mean of its hackbenches. Intervals are 95 %, by Welch's t on the boots' logarithms. `held` is
what slabs held at the peak besides the objects that the load had in use; `like for like` is the peak that both would have with
SLUB_TINY's mean of objects in use.
"""
import json, math, sys
from statistics import mean, variance

T = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228}


def interval(a, b):
    a, b = [[math.log(x) for x in xs] for xs in (a, b)]
    va, vb = variance(a) / len(a), variance(b) / len(b)
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1)) if va + vb else 1
    half = T[max(1, min(10, int(df)))] * math.sqrt(va + vb)
    d = mean(a) - mean(b)
    return "%.3f (%.3f to %.3f)" % tuple(math.exp(x) for x in (d, d - half, d + half))


boots = {}
for path in sys.argv[1:]:
    for line in open(path):
        row = json.loads(line)
        v = row["values"]
        names = sorted({k[:-8] for k in v if k.startswith("hackbench") and k.endswith("_peak_kb")})
        boot = {
            "peak": mean(v[n + "_peak_kb"] for n in names),
            "in use": mean(v[n + "_in_use_kb"] for n in names),
            "held": mean(v[n + "_peak_kb"] - v[n + "_in_use_kb"] for n in names),
            "fill peak": v["fill_peak_kb"],
            "fill held": v["fill_peak_kb"] - v["fill_in_use_kb"],
            "after": v["after_kb"],
            "seconds": v["load_seconds"],
        }
        boots.setdefault((row["point"], row["variant"].split("-")[-1]), []).append(boot)
for point in sorted({p for p, _ in boots}):
    for kernel in sorted({k for p, k in boots if p == point}, reverse=True):
        found = boots[point, kernel]
        print(point, kernel, len(found), "boots")
        for name in found[0]:
            print("   ", name, " ".join("%.0f" % b[name] if name != "seconds" else "%.2f" % b[name] for b in found))
    tiny, dense = boots.get((point, "slub_tiny"), []), boots.get((point, "slub_dense"), [])
    if min(len(tiny), len(dense)) > 1:
        use = mean(b["in use"] for b in tiny)
        for name in tiny[0]:
            print("  dense/tiny", name, interval([b[name] for b in dense], [b[name] for b in tiny]))
        print("  dense/tiny like for like", interval([use + b["held"] for b in dense], [use + b["held"] for b in tiny]))
