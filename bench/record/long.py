#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How soon the trace of a long recording is there, and whether it is the one that is made of what waited for it.

usage: bench/record/long.py [--slablab target/release/slablab] [--load hackbench|build] [--minutes 10] [--again]
                            [--folder /var/tmp] [-o DIR]

The load is `perf bench sched messaging` for as many minutes, or Linux's mm/ and lib/ of Debian's source package, compiled anew
until as many have passed. A row has when the recording was whole on the disk and when its trace was there, both counted from
the end of the load; events, those that were lost, bytes an event that waited, processor time of the load and of the recorder
until the load ended and until the trace was there. With --again the trace is made once more of a copy of what waited
(`record --recover`), and both must be the same bytes. Appends the row to DIR/long-raw.jsonl. Needs root and perf.
"""
import argparse
import filecmp
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import time

import tracefs as mount
from beside import build_load

TICKS = os.sysconf("SC_CLK_TCK")
# What runs the load until its time is over, and prints its processor time, and when it ended.
REPEAT = """import resource, subprocess, sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("load:", used.ru_utime + used.ru_stime, time.time(), flush=True)"""


def own_seconds(pid):
    """Returns the processor time of a process that still runs."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slablab", default="target/release/slablab")
    parser.add_argument("--load", choices=["hackbench", "build"], default="hackbench")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("-o", "--output", default="bench/results/long")
    options = parser.parse_args()
    mount.need("bench/record/long.py", "perf")
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    slablab = pathlib.Path(options.slablab).resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as directory, tempfile.TemporaryFile("w+") as said:
        folder = pathlib.Path(directory)
        (folder / "tree").mkdir()
        hackbench = ["perf", "bench", "sched", "messaging", "-g", "5", "-l", "4000"]
        load = hackbench if options.load == "hackbench" else build_load(folder / "tree")
        trace, left, copy = folder / "t.parquet", folder / "t.parquet.recording", folder / "again.parquet.recording"
        seconds = str(options.minutes * 60)
        command = [slablab, "record", "-o", trace, "--", "python3", "-c", REPEAT, seconds, *load]
        begin, load_before = time.time(), os.getloadavg()[0]
        recorder = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        while not (left / "tail.json").exists():
            assert recorder.poll() is None, "the recorder ended early"
            time.sleep(0.01)
        whole, own = time.time(), own_seconds(recorder.pid)
        waiting = sum(path.stat().st_size for path in left.glob("cpu*"))
        if options.again:
            shutil.copytree(left, copy, copy_function=os.link)
        _, status, usage = os.wait4(recorder.pid, 0)
        made = time.time()
        said.seek(0)
        text = said.read()
        assert status == 0, text
        _, load_cpu, ended = re.search(r"(load:) ([0-9.]+) ([0-9.]+)", text).groups()
        info = json.loads(subprocess.run([slablab, "info", trace, "--format", "json"], capture_output=True, check=True).stdout)
        events, ended = info["events"], float(ended)
        row = {"load": options.load, "minutes": options.minutes, "recorded_s": round(ended - begin, 1),
               "whole_s": round(whole - ended, 2), "trace_s": round(made - ended, 2), "events": events,
               "lost": sum(info["quality"]["lost"]) if "quality" in info else None,
               "waiting_bytes_per_event": round(waiting / events, 2), "trace_bytes": trace.stat().st_size,
               "load_cpu_s": float(load_cpu), "own_cpu_s": round(own, 2),
               "all_cpu_s": round(usage.ru_utime + usage.ru_stime - float(load_cpu), 2),
               "peak_mib": round(usage.ru_maxrss / 1024), "load_before": load_before, "kernel": platform.release()}
        if options.again:
            begin = time.time()
            subprocess.run([slablab, "record", "--recover", "-o", folder / "again.parquet"], check=True, capture_output=True)
            row["again_s"] = round(time.time() - begin, 2)
            row["is_same"] = filecmp.cmp(trace, folder / "again.parquet", shallow=False)
        with open(results / "long-raw.jsonl", "a") as raw:
            raw.write(json.dumps(row) + "\n")
        print(json.dumps(row, indent=1))
        assert row.get("is_same", True), "the trace of what waited is another"


main()
