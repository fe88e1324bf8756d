#!/usr/bin/env python3
"""What recording costs the workload: untraced, the kernel's own buffers that nobody reads, `slablab record`,
its `--sample 16` and `--stacks`, a call site alone, `slablab top` and `perf kmem record`, interleaved.

usage: bench/record/run.py [--rounds 5] [--loops 100] [--recorders untraced,top] [--slablab target/release/slablab] [-o DIR]

Needs root, and perf (Debian: linux-perf); where one is missing, or tracefs cannot be had, it says so and ends with status 0. `top` looks once a second, so that it takes --loops 1000 and more to say what it
costs. Each round runs all in an order drawn anew, so that a
machine that becomes slower hits all alike and no recorder always follows the same other. Time is the one that the
workload itself reports, so neither starting the recorder nor writing the trace counts. Writes raw.jsonl (a
row a run) and summary.txt to DIR.
"""
import argparse
import fcntl
import json
import os
import pathlib
import platform
import pty
import random
import re
import statistics
import struct
import subprocess
import tempfile
import termios
import threading
import time

import tracefs as mount

WORKLOAD = ["perf", "bench", "sched", "messaging", "-g", "5", "-l", "100"]
EVENTS = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"]


def seconds(output):
    return float(re.search(r"Total time: ([0-9.]+) \[sec\]", output).group(1))


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return done.stdout


def untraced(_slablab, _directory):
    return {"seconds": seconds(run(WORKLOAD)), "events": 0, "lost": 0}


def tracefs(_slablab, _directory):
    """The least that these events cost: written to buffers as large as ours, and never read."""
    instance = pathlib.Path("/sys/kernel/tracing/instances/slablab-bench")
    instance.mkdir()
    write = lambda name, value: (instance / name).write_text(value)
    try:
        for name, value in [("tracing_on", "0"), ("options/overwrite", "0"), ("trace_clock", "mono"),
                            ("trace_options", "norecord-cmd"), ("buffer_size_kb", "65536")]:
            write(name, value)
        for event in EVENTS:
            write(f"events/kmem/{event}/enable", "1")
        write("tracing_on", "1")
        output = run(WORKLOAD)
        write("tracing_on", "0")
        stats = "".join(path.read_text() for path in instance.glob("per_cpu/cpu*/stats"))
    finally:
        instance.rmdir()
    count = lambda name: sum(int(n) for n in re.findall(rf"^{name}: (\d+)", stats, re.M))
    return {"seconds": seconds(output), "events": count("entries"), "lost": count("overrun") + count("dropped events")}


def slablab(binary, directory, *options):
    trace = directory / "t.parquet"
    output = run([binary, "record", *options, "-o", trace, "--", *WORKLOAD])
    info = json.loads(run([binary, "info", trace, "--format", "json"]))
    return {"seconds": seconds(output), "events": find(info, "events"), "lost": find(info, "lost")}


def sampled(binary, directory):
    return slablab(binary, directory, "--sample", "16")


def stacks(binary, directory):
    """The objects of one block in 32, each with its call stack."""
    return slablab(binary, directory, "--stacks")


def site(binary, directory):
    """One function that runs seldom beside the messages, with the frees of its objects."""
    return slablab(binary, directory, "--no-probes", "--sites", "copy_process")


def site_allocs(binary, directory):
    """The same without frees."""
    return slablab(binary, directory, "--no-probes", "--no-frees", "--sites", "copy_process")


def perf(_slablab, directory):
    data = directory / "perf.data"
    # As `perf kmem record` does it, but with buffers as large as perf can be given.
    events = ",".join(f"kmem:{event}" for event in EVENTS)
    output = run(["perf", "record", "-a", "-R", "-c", "1", "-m", "64M", "-e", events, "-o", data, "--", *WORKLOAD])
    stats = run(["perf", "report", "-i", data, "--stats"])
    count = lambda name: sum(int(n) for n in re.findall(name + r" events:\s+(\d+)", stats)[:1])
    lost = re.search(r"Processed (\d+) events and lost (\d+) chunks", output + stats)
    dump = run(["perf", "script", "-i", data, "--show-lost-events", "-F", "time,event"])
    lost = sum(int(n) for n in re.findall(r"PERF_RECORD_LOST.*?lost[ :]+(\d+)", dump))
    return {"seconds": seconds(output), "events": count("SAMPLE"), "lost": lost}


def top(binary, _directory):
    """The live view as it is by default, in a terminal of its own, from a second before the workload on."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    shown = subprocess.Popen([binary, "top"], stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
    os.close(inside)
    reader = threading.Thread(target=drain, args=(terminal,), daemon=True)
    reader.start()
    try:
        time.sleep(1)
        return {"seconds": seconds(run(WORKLOAD)), "events": 0, "lost": 0}
    finally:
        os.write(terminal, b"q")
        assert shown.wait(timeout=30) == 0, "slablab top failed"
        os.close(terminal)


def drain(terminal):
    """Reads what is drawn, as a terminal does."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass


def find(value, key):
    """Returns the first number called `key` in a JSON value, the sum when it is a list."""
    if isinstance(value, dict):
        if key in value and isinstance(value[key], (int, list)):
            return value[key] if isinstance(value[key], int) else sum(value[key])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = find(item, key)
            if found is not None:
                return found
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loops", default="100")
    parser.add_argument("--recorders", default="untraced,tracefs,slablab,top,perf")
    parser.add_argument("--slablab", default="target/release/slablab")
    parser.add_argument("-o", "--output", default="bench/results/record")
    options = parser.parse_args()
    mount.need("bench/record/run.py", "perf")
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    WORKLOAD[-1] = options.loops
    recorders = [globals()[name] for name in options.recorders.split(",")]
    rows, order = [], random.Random(1)
    with tempfile.TemporaryDirectory() as directory, open(results / "raw.jsonl", "w") as raw:
        for turn in range(options.rounds):
            for recorder in order.sample(recorders, len(recorders)):
                # No run pays for what another left to be written.
                os.sync()
                row = {"round": turn, "recorder": recorder.__name__}
                row |= recorder(options.slablab, pathlib.Path(directory))
                rows.append(row)
                raw.write(json.dumps(row) + "\n")
                raw.flush()
    lines = [
        f"workload   {' '.join(WORKLOAD)}",
        f"machine    {platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end",
        f"rounds     {options.rounds}",
        "",
        f"{'recorder':10} {'median s':>9} {'min':>7} {'max':>7} {'ratio':>6} {'ratio per round':>16} {'events':>9} {'lost':>9}",
    ]
    of = lambda recorder: [row for row in rows if row["recorder"] == recorder.__name__]
    base = statistics.median(row["seconds"] for row in of(untraced))
    for recorder in recorders:
        times = [row["seconds"] for row in of(recorder)]
        ratios = [a["seconds"] / b["seconds"] for a, b in zip(of(recorder), of(untraced))]
        median = statistics.median(times)
        events = statistics.median(row["events"] for row in of(recorder))
        lost = sum(row["lost"] for row in of(recorder))
        lines.append(
            f"{recorder.__name__:10} {median:9.3f} {min(times):7.3f} {max(times):7.3f} {median / base:6.2f}"
            f" {min(ratios):7.2f}..{max(ratios):<7.2f} {events:9.0f} {lost:9}"
        )
    lines += ["", "events: median of a run; lost: all rounds together"]
    (results / "summary.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


main()
