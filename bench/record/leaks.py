#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What `slablab leaks` costs a load: CPU time and time with a hunt and without, interleaved.

    bench/record/leaks.py SLABLAB ROUNDS [COMMAND...]

Each round runs COMMAND (hackbench unless one is given) once beside a hunt and once alone, in random order. Printed are the
medians, their ratio, and the least and greatest ratio of a round; for the hunt its own CPU time in a second, and its memory.
CPU time is that of the command: on a machine that has other work it is steadier than the clock. Needs root.
"""
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import time

HACKBENCH = ["perf", "bench", "sched", "messaging", "-g", "5", "-l", "1000"]
# What a hunt does once: types, symbols, programs.
START_SECONDS = 5
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def run(command):
    """Returns the CPU time and the time of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = cpu_seconds(resource.getrusage(resource.RUSAGE_CHILDREN)) - cpu_seconds(before)
    return used, time.monotonic() - start


def own(process):
    """Returns the CPU seconds of a process, and its memory in MiB."""
    folder = pathlib.Path(f"/proc/{process.pid}")
    stat = (folder / "stat").read_text().rsplit(") ", 1)[1].split()
    status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())
    return (int(stat[11]) + int(stat[12])) / TICKS, int(status["VmHWM"].split()[0]) / 1024


def beside_a_hunt(slablab, command):
    """Runs the command beside a hunt; returns its times, and the hunt's CPU share and memory."""
    hunt = subprocess.Popen([slablab, "leaks", "--once", "--for", "1d"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(START_SECONDS)
        before, _ = own(hunt)
        times = run(command)
        after, memory = own(hunt)
        return times, (after - before) / times[1], memory
    finally:
        hunt.terminate()
        hunt.wait()


def main():
    slablab, rounds = sys.argv[1], int(sys.argv[2])
    command = sys.argv[3:] or HACKBENCH
    alone, hunted, shares, memories = [], [], [], []
    for _ in range(rounds):
        for is_hunted in random.sample([False, True], 2):
            if is_hunted:
                times, share, memory = beside_a_hunt(slablab, command)
                hunted.append(times)
                shares.append(share)
                memories.append(memory)
            else:
                alone.append(run(command))
    print(f"{' '.join(command)}: {rounds} rounds")
    for at, what in enumerate(["CPU time", "time"]):
        without, beside = ([times[at] for times in all] for all in (alone, hunted))
        ratios = [b / a for a, b in zip(without, beside)]
        print(
            f"{what}: {statistics.median(without):.2f} s alone, {statistics.median(beside):.2f} s beside a hunt, ratio "
            f"{statistics.median(beside) / statistics.median(without):.3f}; of a round {min(ratios):.2f} to {max(ratios):.2f}"
        )
    print(f"the hunt: {statistics.median(shares):.1%} of a CPU, {max(memories):.0f} MiB of memory of its own")


main()
