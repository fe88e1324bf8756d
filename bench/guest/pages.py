#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How well `slablab replay --pages` foretells what stays free in guests.

    bench/guest/pages.py record SLABLAB FOLDER KERNEL... [--memory MIB] [--rounds N] [--append WORD]
    bench/guest/pages.py table SLABLAB FOLDER
    bench/guest/pages.py change SLABLAB FOLDER FOLDER

`record` boots each kernel N times with bench/guest/pages.sh, which records itself with SLABLAB, and puts the traces into FOLDER.
`table` replays them, and prints for 32 readings of /proc/buddyinfo by how much free blocks differ, and how often blocks of
another migrate type were taken. `change` compares guests of the second folder, booted with slub_max_order=0, with what
`slablab whatif --max-order 0` foretells of those of the first.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

MOMENTS = 32
SCRIPT = pathlib.Path(__file__).parent / "pages.sh"


def record(slablab, folder, kernels, memory, rounds, append):
    for number in range(rounds):
        for kernel in kernels:
            trace = folder / f"{re.sub('[:/+]', '-', kernel)}-{memory}-{number}.parquet"
            if trace.exists():
                continue
            guest = folder / "guest"
            shutil.rmtree(guest, ignore_errors=True)
            command = [slablab, "kernel", "boot", kernel, "--script", str(SCRIPT), "--memory", str(memory), "--silence", "900",
                       "--limit", "1800", "--with", str(pathlib.Path(slablab).resolve()), "-o", str(guest)]
            # On a busy host a guest's clock may stand still for so long that the kernel warns.
            for argument in ["rcupdate.rcu_cpu_stall_suppress=1", "nowatchdog", *append]:
                command += ["--append", argument]
            run = subprocess.run(command, capture_output=True, text=True)
            sent = list(guest.rglob("pages.parquet"))
            if run.returncode or not sent:
                sys.exit(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
            shutil.move(sent[0], trace)


def bytes_of(blocks):
    return [count << order for order, count in enumerate(blocks)]


def off(moment):
    """Returns the share of free memory by which the orders of a moment differ."""
    recorded = bytes_of(moment["recorded_blocks"])
    model = bytes_of(moment["free_blocks"])
    return sum(abs(a - b) for a, b in zip(recorded, model)) / max(1, sum(recorded))


def largest(blocks):
    return max((order for order, count in enumerate(blocks) if count), default=None)


def by_order(moments):
    """Returns the median over moments and orders of the share by which blocks of one order differ."""
    shares = [abs(a - b) / a for moment in moments
              for a, b in zip(moment["recorded_blocks"], moment["free_blocks"]) if a]
    return statistics.median(shares)


def table(slablab, folder):
    print("trace|readings|off, all orders (median)|off, one order (median)|largest right|fallbacks model, recorded")
    for trace in sorted(folder.glob("*.parquet")):
        command = [slablab, "replay", str(trace), "--pages", "--format", "json"]
        answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        known = [moment for moment in answer["moments"] if "recorded_blocks" in moment]
        step = max(1, len(known) / MOMENTS)
        moments = [known[int((place + 1) * step) - 1] for place in range(min(MOMENTS, len(known)))]
        right = sum(largest(m["free_blocks"]) == largest(m["recorded_blocks"]) for m in moments)
        fallbacks = [sum(one[side] for one in answer["fallbacks"]) for side in ("simulated", "recorded")]
        print("|".join([trace.stem, str(len(known)), f"{100 * statistics.median(map(off, moments)):.1f} %",
                        f"{100 * by_order(moments):.1f} %", f"{right} of {len(moments)}",
                        f"{fallbacks[0]}, {fallbacks[1]}"]), flush=True)


def answer_of(*command):
    return json.loads(subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True).stdout)


def grown(replay):
    """Returns by how many pages slabs grew, and free memory by order, in a recorded kernel."""
    known = [moment["recorded_blocks"] for moment in replay["moments"] if "recorded_blocks" in moment]
    free = [last - first for first, last in zip(bytes_of(known[0]), bytes_of(known[-1]))]
    return replay["moments"][-1]["slab_pages"], free


def mean(numbers):
    return sum(numbers) / max(1, len(numbers))


def change(slablab, before, after):
    """Compares what a setting was foretold to do with what it did."""
    foretold, recorded, changed = [], [], []
    for trace in sorted(before.glob("*.parquet")):
        rest = answer_of(slablab, "whatif", str(trace), "--max-order", "0")["rest"]
        ends = [rest[side]["moments"][-1] for side in ("before", "after")]
        free = [b - a for a, b in zip(*(bytes_of(end["free_blocks"]) for end in ends))]
        foretold.append((ends[1]["slab_pages"] - ends[0]["slab_pages"], free))
        recorded.append(grown(rest["recorded"]))
        apart = rest["apart"]
        print(f"{trace.stem}: slabs of the replay {apart['replayed_pages_end']} pages, recorded "
              f"{apart['recorded_pages_end']}, apart {100 * apart['off_share_median']:.1f} % (median)")
    for trace in sorted(after.glob("*.parquet")):
        changed.append(grown(answer_of(slablab, "replay", str(trace), "--pages")))
    print("pages|foretold|measured|guests as they are|guests with the setting")
    rows = [("slabs", lambda one: one[0])]
    orders = range(len(foretold[0][1]))
    rows += [(f"free, order {order}", lambda one, order=order: one[1][order]) for order in orders]
    rows += [("free, all orders", lambda one: sum(one[1]))]
    for name, of in rows:
        of_each = [[of(one) for one in side] for side in (recorded, changed)]
        measured = mean(of_each[1]) - mean(of_each[0])
        print("|".join([name, f"{mean([of(one) for one in foretold]):.0f}", f"{measured:.0f}",
                        *(" ".join(map(str, side)) for side in of_each)]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["record", "table", "change"])
    parser.add_argument("slablab")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--memory", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--append", action="append", default=[])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.what == "record":
        record(args.slablab, args.folder, args.kernels, args.memory, args.rounds, args.append)
    elif args.what == "change":
        change(args.slablab, args.folder, pathlib.Path(args.kernels[0]))
    else:
        table(args.slablab, args.folder)


main()
