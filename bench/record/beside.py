#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tools that watch slab memory cost a load that runs beside them, interleaved with the load alone.

usage: bench/record/beside.py [--rounds 5] [--tools leaks,stacks] [--load hackbench|build] [--slablab PATH] [-o DIR] [COMMAND...]

The load is COMMAND if one is given, else `hackbench` (perf bench sched messaging) or `build` (Linux's mm/ and lib/, of
Debian's source package, compiled anew each time). The tools, each started before the load and stopped after it:

  leaks      slablab leaks
  stacks     slablab record --stacks
  record     slablab record: all events
  pages      slablab record --pages: those of the page allocator, too
  perf       perf record -g of the four kmem events, of the whole machine
  memleak    memleak of bcc, which follows each object with its stack

Each round runs the load alone and beside every tool, in an order drawn anew. Processor time is that of the load: on a machine
that has other work it is steadier than the clock. Of the tool: its own processor time in a second, the most memory it had, and
what it says to have lost. Writes rows and a summary (beside-raw.jsonl, beside-summary.txt) to DIR. Needs root.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

HACKBENCH = ["perf", "bench", "sched", "messaging", "-g", "5", "-l", "1000"]
EVENTS = "kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free"
SOURCES = [f"/usr/src/linux-source-{release}.tar.xz" for release in ("6.12", "6.1")]
# What a tool does once: types, symbols, programs.
START_SECONDS = 5
TICKS = os.sysconf("SC_CLK_TCK")


def run(command):
    """Returns the processor time and the time of a command."""
    cpu = lambda usage: usage.ru_utime + usage.ru_stime
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return cpu(resource.getrusage(resource.RUSAGE_CHILDREN)) - cpu(before), time.monotonic() - start


def own(pid):
    """Returns the processor time of a process and its threads, and the most memory it had, in MiB."""
    folder = pathlib.Path(f"/proc/{pid}")
    stat = (folder / "stat").read_text().rsplit(") ", 1)[1].split()
    status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())
    return (int(stat[11]) + int(stat[12])) / TICKS, int(status["VmHWM"].split()[0]) / 1024


def tool_of(name, slablab, folder):
    """Returns the command of a tool, or why it is not here."""
    trace, data = folder / "t.parquet", folder / "perf.data"
    if name == "memleak":
        program = next(filter(shutil.which, ["memleak-bpfcc", "memleak"]), None)
        if program is None:
            raise SystemExit("memleak: not found; install Debian's bpfcc-tools")
        return [program, "--top", "10", "3600"]
    return {
        "leaks": [slablab, "leaks", "--once", "--for", "1d"],
        "stacks": [slablab, "record", "--stacks", "-o", trace],
        "record": [slablab, "record", "-o", trace],
        "pages": [slablab, "record", "--pages", "-o", trace],
        "perf": ["perf", "record", "-a", "-g", "-c", "1", "-m", "64M", "-e", EVENTS, "-o", data],
    }[name]


def lost_of(name, said):
    """Returns what a tool says to have lost, as it says it."""
    found = re.search(r"lost ([0-9]+) (?:chunks|samples)", said) if name == "perf" else re.search(r"([\d,]+) (?:events )?lost", said)
    return int(found.group(1).replace(",", "")) if found else 0


def beside(name, command, slablab, load):
    """Runs the load beside a tool."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, tempfile.TemporaryFile("w+") as said:
        tool = subprocess.Popen(command(pathlib.Path(folder)), stdout=said, stderr=subprocess.STDOUT)
        try:
            time.sleep(START_SECONDS)
            if tool.poll() is not None:
                said.seek(0)
                raise SystemExit(f"{name} ended before the load: {said.read()[-500:]}")
            before, _ = own(tool.pid)
            cpu, seconds = run(load)
            after, memory = own(tool.pid)
        finally:
            tool.send_signal(signal.SIGINT)
            tool.wait()
        said.seek(0)
        row = {"cpu": cpu, "seconds": seconds, "own_share": (after - before) / seconds, "own_mib": memory}
        return row | {"lost": lost_of(name, said.read())}


def build_load(folder):
    """Returns a command that compiles two folders of Linux, and prepares it."""
    source = next((path for path in SOURCES if os.path.exists(path)), None)
    if source is None:
        raise SystemExit("build: no source; install Debian's linux-source-6.12")
    subprocess.run(["tar", "-C", folder, "-xf", source], check=True)
    tree = next(pathlib.Path(folder).iterdir())
    jobs = f"-j{os.cpu_count()}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run(["make", "-C", tree, "defconfig"], **quiet)
    subprocess.run(["make", "-C", tree, jobs, "prepare"], **quiet)
    clean = "find mm lib -name '*.[oa]' -delete"
    return ["sh", "-c", f"cd '{tree}' && {clean} && make {jobs} mm/ lib/"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tools", default="leaks,stacks")
    parser.add_argument("--load", choices=["hackbench", "build"], default="hackbench")
    parser.add_argument("--slablab", default="target/release/slablab")
    parser.add_argument("-o", "--output", default="bench/results/record")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    tools = options.tools.split(",")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, open(results / "beside-raw.jsonl", "a") as raw:
        load = options.command or (build_load(folder) if options.load == "build" else HACKBENCH)
        what = " ".join(options.command) or options.load
        run(load)  # Its files are in memory from here on.
        rows = []
        for turn in range(options.rounds):
            for name in random.sample(["alone", *tools], len(tools) + 1):
                if name == "alone":
                    cpu, seconds = run(load)
                    row = {"cpu": cpu, "seconds": seconds}
                else:
                    row = beside(name, lambda place: tool_of(name, options.slablab, place), options.slablab, load)
                rows.append({"load": what, "round": turn, "tool": name} | row)
                raw.write(json.dumps(rows[-1]) + "\n")
                raw.flush()
    of = lambda tool, key: [row[key] for row in rows if row["tool"] == tool]
    lines = [f"{what}, {options.rounds} rounds; {platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end"]
    lines.append(f"{'tool':8} {'CPU s':>8} {'ratio':>6} {'per round':>13} {'s':>8} {'ratio':>6} {'own CPU':>8} {'MiB':>6} {'lost':>8}")
    for name in ["alone", *tools]:
        words = [f"{name:8}"]
        for key in ["cpu", "seconds"]:
            ratios = [a / b for a, b in zip(of(name, key), of("alone", key))]
            median = statistics.median(of(name, key))
            words.append(f"{median:8.2f} {median / statistics.median(of('alone', key)):6.3f}")
            if key == "cpu":
                words.append(f"{min(ratios):5.2f} to {max(ratios):4.2f}")
        if name != "alone":
            share, memory = statistics.median(of(name, "own_share")), max(of(name, "own_mib"))
            words.append(f"{share:8.1%} {memory:6.0f} {sum(of(name, 'lost')):8}")
        lines.append(" ".join(words))
    with open(results / "beside-summary.txt", "a") as summary:
        summary.write("\n".join(lines) + "\n\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
