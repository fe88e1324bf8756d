#!/usr/bin/env python3
"""What every command costs on a large machine, and how its costs grow.

usage: bench/scale/run.py SLABLAB MACHINE FOLDER [--smoke | --reference] [--only NAME,...] [--traces FOLDER]

MACHINE is the program of bench/scale/src. It makes the traces, in target/scale-traces, where they stay for the next run.

Without an option each command runs on a machine of medium size and on machines that differ from it in one number: events,
CPUs, call sites, caches or live objects. FOLDER/raw.jsonl gets a row a run (processor seconds, seconds, peak memory), and
FOLDER/table.md the exponents: the slope of a line through the logarithms. With --reference each command runs once on the
reference machine (512 CPUs on 8 nodes, 100,000 call sites, 3,000 caches, 5 million live objects, 50 million events), and the
table has what it took beside one replay. What --ram would refuse is a failure here, and so is a crash.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

MEDIUM = {"cpus": 32, "sites": 4000, "caches": 200, "live": 50000, "events": 500000}
SCALES = {
    "events": [250000, 500000, 1000000],
    "cpus": [8, 32, 128],
    "sites": [1000, 4000, 16000],
    "caches": [50, 200, 800],
    "live": [12500, 50000, 100000],
}
SMOKE = {"cpus": 8, "sites": 200, "caches": 30, "live": 2000, "events": 30000}
SMOKE_SCALES = {"events": [15000, 30000], "cpus": [4, 8], "sites": [100, 200], "caches": [15, 30], "live": [1000, 2000]}
REFERENCE = {"cpus": 512, "sites": 100000, "caches": 3000, "live": 5000000, "events": 50000000}
NODES = 8
COMMANDS = {
    "replay": ["replay", "TRACE", "-a", "slub"],
    "info": ["info", "TRACE"],
    "stat": ["stat", "TRACE"],
    "replay, all usual allocators": ["replay", "TRACE"],
    "replay, page": ["replay", "TRACE", "-a", "slub", "--report", "PAGE"],
    "advise": ["advise", "TRACE"],
    "whatif --buckets 16": ["whatif", "TRACE", "--buckets", "16"],
    "whatif --per-site": ["whatif", "TRACE", "--per-site"],
    "partition random:16": ["partition", "TRACE", "--by", "random:16"],
    "import --strip-addresses": ["import", "UNRESOLVED", "--strip-addresses", "-o", "COPY"],
    "tune": ["tune", "TRACE"],
}
# Asked of the exponents: time in every number, memory in these.
TIME_MOST = 1.1
MEMORY_MOST = {"live": 1.0, "cpus": 0.7}


def name_of(shape):
    return "-".join(f"{key}{shape[key]}" for key in sorted(shape))


def trace(machine, traces, shape, unresolved):
    path = os.path.join(traces, name_of(shape) + ("-unresolved" if unresolved else "") + ".parquet")
    if not os.path.exists(path):
        words = [machine, path, "--nodes", str(min(NODES, shape["cpus"]))]
        for key, value in shape.items():
            words += ["--" + key, str(value)]
        subprocess.run(words + (["--unresolved"] if unresolved else []), check=True)
    return path


def run(slablab, words):
    """Runs a command to its end; returns its processor seconds, seconds, MiB and exit status."""
    begin = time.monotonic()
    with open(os.devnull, "w") as null:
        child = subprocess.Popen([slablab, *words], stdout=null, stderr=subprocess.PIPE)
        message = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begin
    return {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
        "elapsed_s": round(seconds, 3),
        "peak_mib": usage.ru_maxrss / 1024,
        "status": child.returncode,
        "message": message.strip()[-300:] if child.returncode else "",
    }


def slope(points):
    """Returns the slope of the line through the logarithms, by least squares."""
    logs = [(math.log(x), math.log(max(y, 1e-3))) for x, y in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


class Bench:
    def __init__(self, args):
        self.args = args
        os.makedirs(args.folder, exist_ok=True)
        os.makedirs(args.traces, exist_ok=True)
        self.raw = open(os.path.join(args.folder, "raw.jsonl"), "a")
        wanted = args.only.split(",") if args.only else list(COMMANDS)
        self.commands = {name: words for name, words in COMMANDS.items() if name in wanted}
        self.failed = False

    def measure(self, name, shape):
        unresolved = "UNRESOLVED" in self.commands[name]
        path = trace(self.args.machine, self.args.traces, shape, unresolved)
        beside = {"TRACE": path, "UNRESOLVED": path}
        beside["PAGE"] = os.path.join(self.args.traces, "page.html")
        beside["COPY"] = os.path.join(self.args.traces, "copy.parquet")
        words = [beside.get(word, word) for word in self.commands[name]]
        row = {"command": name, **shape, **run(self.args.slablab, words)}
        for made in ("PAGE", "COPY"):
            if os.path.exists(beside[made]):
                os.remove(beside[made])
        self.raw.write(json.dumps(row) + "\n")
        self.raw.flush()
        print(name, shape, row["cpu_s"], "s", int(row["peak_mib"]), "MiB", row["message"], flush=True)
        self.failed |= row["status"] != 0
        return row

    def fit(self, medium, scales):
        """Returns the table of exponents."""
        lines = ["| command | medium, s | MiB |" + "".join(f" {key}: time, memory |" for key in scales)]
        lines.append("|---" * (3 + len(scales)) + "|")
        for name in self.commands:
            at_medium = self.measure(name, medium)
            cells = []
            for key, values in scales.items():
                other = [value for value in values if value != medium[key]]
                rows = [(value, self.measure(name, {**medium, key: value})) for value in other]
                rows.append((medium[key], at_medium))
                time_slope = slope([(value, row["cpu_s"]) for value, row in rows])
                memory_slope = slope([(value, row["peak_mib"]) for value, row in rows])
                over = time_slope > TIME_MOST or memory_slope > MEMORY_MOST.get(key, math.inf)
                cells.append(f" {time_slope:.2f}, {memory_slope:.2f}{' (over)' if over else ''} |")
            lines.append(f"| {name} | {at_medium['cpu_s']:.1f} | {at_medium['peak_mib']:.0f} |" + "".join(cells))
        return lines

    def reference(self):
        """Returns the table of what each command takes on the reference machine."""
        lines = ["| command | processor s | s | times one replay | MiB |", "|---|---|---|---|---|"]
        one = None
        for name in self.commands:
            row = self.measure(name, REFERENCE)
            one = one or row["elapsed_s"]
            end = f" (ended with status {row['status']})" if row["status"] else ""
            lines.append(
                f"| {name}{end} | {row['cpu_s']:.1f} | {row['elapsed_s']:.1f} | {row['elapsed_s'] / one:.1f} |"
                f" {row['peak_mib']:.0f} |"
            )
        return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slablab")
    parser.add_argument("machine")
    parser.add_argument("folder")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--traces", default="target/scale-traces")
    args = parser.parse_args()
    bench = Bench(args)
    if args.reference:
        name, lines = "reference.md", bench.reference()
    elif args.smoke:
        name, lines = "table.md", bench.fit(SMOKE, SMOKE_SCALES)
    else:
        name, lines = "table.md", bench.fit(MEDIUM, SCALES)
    text = "\n".join(lines) + "\n"
    with open(os.path.join(args.folder, name), "w") as file:
        file.write(text)
    print(text)
    sys.exit(1 if bench.failed else 0)


if __name__ == "__main__":
    main()
