#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a recording of one call site, or of what one function leads to, costs a load that has little to do with it.

    bench/record/chosen.py SLABLAB [--rounds 7] [--loops 1000] [--recorders "callers;callers, no frees"] [-o DIR]

Beside hackbench a process sends a message to itself once a second (msgsnd). Each round runs hackbench untraced, with `slablab
record --sites load_msg` and `--sites copy_process` (one allocates by kmalloc, the other from caches), with `--callers do_msgsnd`,
each with and without `--no-frees`, and with all events, in an order drawn anew. Printed are the medians of the load's CPU time and
of its own time, the median of their ratios to the untraced run of the same round, and between which ratios that lies in 95 of 100 cases. On a machine
that has other work the CPU time is steadier. Writes raw.jsonl (a row a run) and summary.txt to DIR. Needs root and perf.
"""
import argparse
import ctypes
import json
import os
import pathlib
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile

import tracefs

LOAD = ["perf", "bench", "sched", "messaging", "-g", "5", "-l", "1000"]
# What runs the load, and prints the CPU time of it and of no recorder.
TIMES = """import resource, subprocess, sys
print(subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("CPU seconds:", used.ru_utime + used.ru_stime)"""
SITE, CACHES, CALLERS = ["--sites", "load_msg"], ["--sites", "copy_process"], ["--callers", "do_msgsnd"]
RECORDERS = {
    "untraced": None,
    "sites": SITE,
    "sites, no frees": [*SITE, "--no-frees"],
    "sites of caches": CACHES,
    "caches, no frees": [*CACHES, "--no-frees"],
    "callers": CALLERS,
    "callers, no frees": [*CALLERS, "--no-frees"],
    "all events": [],
}


def send_messages():
    """Sends a message to itself once a second, for ever."""
    libc = ctypes.CDLL(None)
    queue = libc.msgget(0, 0o1600)
    # A long that says the kind, and the text.
    message = ctypes.create_string_buffer((1).to_bytes(8, sys.byteorder) + bytes(100), 108)
    while True:
        libc.msgsnd(queue, message, 100, 0)
        libc.msgrcv(queue, message, 100, 0, 0)
        libc.usleep(999_000)


def run(slablab, options, folder):
    load = [sys.executable, "-c", TIMES, *LOAD]
    trace = folder / "t.parquet"
    command = load if options is None else [slablab, "record", *options, "-o", trace, "--", *load]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # 1 says that nothing chosen had an event, as under a load of less than a second.
    if done.returncode not in (0, 1):
        sys.exit(f"{command} ended with {done.returncode}: {done.stdout}")
    number = lambda pattern: float(re.search(pattern, done.stdout).group(1))
    row = {"cpu": number(r"CPU seconds: ([0-9.]+)"), "seconds": number(r"Total time: ([0-9.]+)")}
    if options is not None:
        info = json.loads(subprocess.check_output([slablab, "info", trace, "--format", "json"]))
        row |= {"events": info["events"], "lost": sum(info["quality"]["lost"])}
    return row


def interval(ordered):
    """Returns two of the ordered values between which their median lies in 95 of 100 cases, or the ends of a few."""
    ranks = int((len(ordered) - 1.96 * len(ordered) ** 0.5) / 2)
    return ordered[max(ranks, 0)], ordered[-1 - max(ranks, 0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slablab")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--loops", default="1000")
    parser.add_argument("--recorders", default=";".join(RECORDERS), help="which run beside the load, by semicolon")
    parser.add_argument("-o", "--output", default="bench/results/chosen")
    options = parser.parse_args()
    tracefs.need("bench/record/chosen.py", "perf")
    LOAD[-1] = options.loops
    chosen = [name for name in RECORDERS if name == "untraced" or name in options.recorders.split(";")]
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    rows, order = {name: [] for name in chosen}, random.Random(1)
    sender = os.fork()
    if sender == 0:
        send_messages()
    try:
        with tempfile.TemporaryDirectory() as folder, open(results / "raw.jsonl", "w") as raw:
            for turn in range(options.rounds):
                for name in order.sample(chosen, len(chosen)):
                    row = run(options.slablab, RECORDERS[name], pathlib.Path(folder))
                    rows[name].append(row)
                    raw.write(json.dumps({"round": turn, "recorder": name} | row) + "\n")
                    raw.flush()
    finally:
        os.kill(sender, 9)
        os.waitpid(sender, 0)
    lines = [
        f"workload   {' '.join(LOAD)}, beside one msgsnd a second",
        f"machine    {platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end",
        f"rounds     {options.rounds}",
        "",
        f"{'recorder':18} {'CPU s':>7} {'ratio':>6} {'95 of 100':>12} {'time s':>7} {'ratio':>6} {'95 of 100':>12}"
        f" {'events':>9} {'lost':>5}",
    ]
    for name, of in rows.items():
        line = f"{name:18}"
        for key in ["cpu", "seconds"]:
            ratios = [one[key] / base[key] for one, base in zip(of, rows["untraced"])]
            line += f" {statistics.median(one[key] for one in of):7.3f} {statistics.median(ratios):6.3f}"
            low, high = interval(sorted(ratios))
            line += f" {low:6.2f}..{high:.2f}"
        events = statistics.median(one.get("events", 0) for one in of)
        lines.append(f"{line} {events:9.0f} {sum(one.get('lost', 0) for one in of):5}")
    (results / "summary.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


main()
