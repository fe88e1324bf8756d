#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What waits for its trace, and what writing it costs: two versions of slablab record one load, interleaved with the load alone.

usage: bench/record/spool.py --old PATH [--new target/release/slablab] [--rounds 9] [--loops 1000] [-o DIR]

The load is `perf bench sched messaging`. Each round runs it alone and under both versions, in an order drawn anew. A row has the
processor time of the load, that of the recorder until the load has ended, the bytes of the files that hold the events, and the
events of the trace that `record --recover` makes of them. Writes spool-raw.jsonl (a row a run) and spool-summary.txt to DIR.
Needs root and perf.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import tracefs as mount

LOAD = ["perf", "bench", "sched", "messaging", "-g", "5", "-l"]
# What runs the load, and prints the processor time of it and of no recorder.
TIMES = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("CPU seconds:", used.ru_utime + used.ru_stime, flush=True)"""
TICKS = os.sysconf("SC_CLK_TCK")


def load_seconds(said):
    return float(re.search(r"CPU seconds: ([0-9.]+)", said).group(1))


def own_seconds(pid):
    """Returns the processor time of a process that still runs."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def recorded(binary, load, folder):
    """Records the load, ends the recorder behind it, and makes the trace of what it left."""
    trace, left = folder / "t.parquet", folder / "t.parquet.recording"
    with tempfile.TemporaryFile("w+") as said:
        recorder = subprocess.Popen([binary, "record", "-o", trace, "--", *load], stdout=said, stderr=subprocess.DEVNULL)
        while not (left / "tail.json").exists():
            assert recorder.poll() is None, "the recorder ended early"
            time.sleep(0.01)
        own = own_seconds(recorder.pid)
        recorder.send_signal(signal.SIGTERM)
        recorder.wait()
        said.seek(0)
        seconds = load_seconds(said.read())
    waiting = sum(path.stat().st_size for path in left.glob("cpu*"))
    subprocess.run([binary, "record", "--recover", "-o", trace], check=True, stderr=subprocess.DEVNULL)
    info = json.loads(subprocess.check_output([binary, "info", trace, "--format", "json"]))
    made = trace.stat().st_size
    trace.unlink()
    return {"cpu_s": seconds, "own_s": own, "bytes": waiting, "events": info["events"], "trace_bytes": made}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", default="target/release/slablab")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--loops", default="1000")
    parser.add_argument("-o", "--output", default="bench/results/spool")
    options = parser.parse_args()
    mount.need("bench/record/spool.py", "perf")
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    load = [sys.executable, "-c", TIMES, *LOAD, options.loops]
    versions = {"old": pathlib.Path(options.old).resolve(), "new": pathlib.Path(options.new).resolve()}
    rows, order = [], random.Random(1)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, open(results / "spool-raw.jsonl", "w") as raw:
        for turn in range(options.rounds):
            for name in order.sample(["alone", *versions], len(versions) + 1):
                if name == "alone":
                    row = {"cpu_s": load_seconds(subprocess.check_output(load, text=True)), "own_s": 0.0}
                else:
                    row = recorded(versions[name], load, pathlib.Path(folder))
                rows.append({"round": turn, "recorder": name} | row)
                raw.write(json.dumps(rows[-1]) + "\n")
                raw.flush()
    cpu = lambda name: [row["cpu_s"] + row["own_s"] for row in rows if row["recorder"] == name]
    lines = [f"load       {' '.join(LOAD)} {options.loops}",
             f"machine    {platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end",
             f"rounds     {options.rounds}",
             "",
             f"{'recorder':8} {'CPU s':>7} {'of which own':>12} {'bytes/event':>12} {'of the trace':>12}"]
    for name in ["alone", *versions]:
        of = [row for row in rows if row["recorder"] == name]
        line = f"{name:8} {statistics.median(cpu(name)):7.2f} {statistics.median(row['own_s'] for row in of):12.2f}"
        if name != "alone":
            each = lambda key: statistics.median(row[key] / row["events"] for row in of)
            line += f" {each('bytes'):12.1f} {each('trace_bytes'):12.1f}"
        lines.append(line)
    for over, under in [("old", "alone"), ("new", "alone"), ("new", "old")]:
        ratios = sorted(a / b for a, b in zip(cpu(over), cpu(under)))
        lines.append(f"processor time of load and recorder, {over} over {under}, of a round: {statistics.median(ratios):.3f}"
                     f" ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    (results / "spool-summary.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


main()
