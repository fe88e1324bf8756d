#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What memory `slablab leaks` takes beside millions of events a second: in its process, and in its tables in the kernel.

usage: bench/record/hunt_memory.py [--minutes 30] [--ram 64M] [--slablab PATH] [-o DIR]

The load is a program on each CPU that makes and closes pipes, short connections with an epoll each, and processes that live for
a moment. A row a minute: resident memory, its maximum, memory of BPF maps, and the machine's load. At the end, what the hunt says
itself: allocations, call sites, how many objects it followed, and what it lost. Writes hunt-memory-raw.jsonl and
hunt-memory-summary.txt to DIR. Needs root and gcc.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PROCESSES = "while :; do /bin/true; done"
CONNECTIONS = "while :; do python3 '%s' 20000 || exit; done"


def maps_bytes(pid):
    """Returns the memory of the BPF maps that a process has open."""
    sizes = {}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = info.read_text()
        except OSError:
            continue
        words = dict(re.findall(r"^(\w+):\s*(\d+)$", text, re.M))
        if "map_id" in words:
            sizes[words["map_id"]] = int(words["memlock"])
    return sum(sizes.values())


def row_of(pid, started):
    """Returns what a process takes now."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    kib = lambda name: int(re.search(rf"{name}:\s*(\d+)", status).group(1))
    return {
        "seconds": round(time.monotonic() - started, 1),
        "rss_mib": round(kib("VmRSS") / 1024, 1),
        "rss_max_mib": round(kib("VmHWM") / 1024, 1),
        "maps_mib": round(maps_bytes(pid) / (1 << 20), 1),
        "load": os.getloadavg()[0],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--ram", default="64M")
    parser.add_argument("--slablab", default="target/release/slablab")
    parser.add_argument("-o", "--output", default="bench/results/record")
    options = parser.parse_args()
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        pipes, answer = f"{folder}/pipes", f"{folder}/answer.json"
        subprocess.run(["gcc", "-O2", "-o", pipes, HERE / "loads/pipes.c"], check=True)
        loads = [[pipes]] * os.cpu_count() + [["sh", "-c", CONNECTIONS % (HERE / "storm.py")], ["sh", "-c", PROCESSES]]
        running = [subprocess.Popen(load, stdout=subprocess.DEVNULL, start_new_session=True) for load in loads]
        rows, started = [], time.monotonic()
        try:
            command = [options.slablab, "leaks", "--once", "--for", f"{options.minutes * 60:.0f}s", "--ram", options.ram]
            hunt = subprocess.Popen([*command, "--format", "json", "-o", answer])
            while hunt.poll() is None:
                try:
                    hunt.wait(60 if rows and options.minutes > 2 else 2)
                except subprocess.TimeoutExpired:
                    rows.append(row_of(hunt.pid, started))
        finally:
            for load in running:
                os.killpg(load.pid, 9)
        if hunt.returncode == 2 or not rows:
            print("hunt_memory: NOT RUN: `slablab leaks` cannot hunt on this machine")
            return
        said = json.loads(pathlib.Path(answer).read_text())
    with open(results / "hunt-memory-raw.jsonl", "a") as raw:
        raw.writelines(json.dumps(row) + "\n" for row in rows)
    seen, unseen = said["seen"], {name: count for name, count in said["unseen"].items() if count}
    leaks = [owner for owner in said["owners"] if owner.get("verdict") == "leak"]
    rate = seen["allocations"] / seen["seconds"]
    lines = [
        f"leaks --ram {options.ram} for {seen['seconds']:.0f} s; {platform.release()}, {os.cpu_count()} CPUs",
        f"{seen['allocations']:,} allocations, {rate / 1e6:.2f} million a second, each with its free: twice as many events",
        f"{seen['sites']:,} call sites, {seen['tracked']:,} objects followed, {seen['alive_max']:,} at once at most; {len(leaks)} leaks",
        f"not seen: {unseen}",
        f"process: {rows[0]['rss_mib']} MiB after the first row, {max(row['rss_max_mib'] for row in rows)} MiB at most; "
        f"maps: {max(row['maps_mib'] for row in rows)} MiB",
    ]
    with open(results / "hunt-memory-summary.txt", "a") as summary:
        summary.write("\n".join(lines) + "\n\n")
    print("\n".join(lines))


main()
