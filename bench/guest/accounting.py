#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What accounting costs in guests, and what `slablab whatif` says of it.

    bench/guest/accounting.py boot SLABLAB FOLDER KERNEL... [--rounds N]
    bench/guest/accounting.py record SLABLAB FOLDER KERNEL...
    bench/guest/accounting.py table SLABLAB FOLDER

`boot` boots the kernels in turn N times: as they are, with cgroup.memory=nokmem, and those of the flavour allocinfo also with
allocation profiling, with and without nokmem. bench/guest/accounting.sh is the load. It appends a row for each boot to
FOLDER/guests.jsonl. `record` records each kernel as it is, once for each load, into FOLDER. `table` asks whatif of the
recordings, and prints both sides.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

NEVER, PROFILED, NOKMEM = "sysctl.vm.mem_profiling=never", "sysctl.vm.mem_profiling=1", "cgroup.memory=nokmem"
LOADS = ["files", "tasks"]
TRIES = 3
# Of two CPUs with 48 MiB each, as `kernel boot --record` sets trace_buf_size.
BUFFER_PAGES = 2 * (48 << 20) // 4096
SCRIPT = pathlib.Path(__file__).parent / "accounting.sh"


def sides(kernel):
    """Returns what is appended to a kernel's command line, and what whatif is asked, by the name of a side."""
    if "allocinfo" not in kernel:
        return {"as it is": ([], []), "nokmem": ([NOKMEM], ["--no-memcg"])}
    return {
        "as it is": ([NEVER], []),
        "nokmem": ([NEVER, NOKMEM], ["--no-memcg"]),
        "profiling": ([PROFILED], ["--allocinfo"]),
        "both": ([PROFILED, NOKMEM], ["--no-memcg", "--allocinfo"]),
    }


def boot(slablab, kernel, appended, options=()):
    """Boots a kernel with the load; returns what slabs held after each part of it, in kB."""
    command = [slablab, "kernel", "boot", kernel, "--script", str(SCRIPT), "--memory", "1536", "--silence", "600",
               "--limit", "1500", *options]
    # Caches that share slabs would hide whose objects are charged.
    for argument in ["slab_nomerge", *appended]:
        command += ["--append", argument]
    # On a busy host a guest's clock may stand still for so long that the kernel warns.
    for _ in range(TRIES):
        run = subprocess.run(command, capture_output=True, text=True)
        found = dict(re.findall(r"RESULT (\w+) (\d+)", run.stdout + run.stderr))
        if not run.returncode and found:
            return {load: int(kb) for load, kb in found.items()}
    sys.exit(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout}{run.stderr}")


def boots(slablab, folder, kernels, rounds):
    rows = folder / "guests.jsonl"
    known = read(folder)
    with rows.open("a") as file:
        for number in range(rounds):
            for kernel in kernels:
                for side, (appended, _) in sides(kernel).items():
                    if (kernel, side, number) in ((r["kernel"], r["side"], r["round"]) for r in known):
                        continue
                    held = boot(slablab, kernel, appended)
                    print(json.dumps({"kernel": kernel, "side": side, "round": number, "slab_kb": held}), file=file, flush=True)


def read(folder):
    rows = folder / "guests.jsonl"
    return [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []


def trace_of(folder, kernel, load):
    return folder / f"{re.sub('[:/+]', '-', kernel)}-{load}.parquet"


def record(slablab, folder, kernels):
    for kernel in kernels:
        for load in LOADS:
            trace = trace_of(folder, kernel, load)
            if not trace.exists():
                appended = [*sides(kernel)["as it is"][0], f"LOAD={load}"]
                boot(slablab, kernel, appended, ["--record", str(trace)])


def predicted(slablab, trace, options):
    """Returns what the change adds to the bytes held at the end, in kB, and what vectors take before and after."""
    command = [slablab, "whatif", str(trace), *options, "--format", "json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    before, after = (answer[side]["allocators"][0] for side in ("before", "after"))
    vectors = [of["vectors"]["bytes"]["end"] // 1024 for of in (before, after)]
    more = after["held_bytes"]["end"] - before["held_bytes"]["end"] + answer["structures_bytes"]
    if "--allocinfo" in options:
        # Only the recorded guest has descriptions of the pages of a trace buffer, 64 in a slab of kmalloc-64, and their vectors.
        more -= BUFFER_PAGES // 64 * vector_of(after, "kmalloc-64")
    return more / 1024, vectors


def vector_of(allocator, cache):
    """Returns the bytes of the object that holds the vector of a slab of a cache."""
    bytes_of = next(of["vector_bytes"] for of in allocator["vectors"]["caches"] if of["cache"] == cache)
    return 1 << (bytes_of - 1).bit_length()


def table(slablab, folder):
    known = read(folder)
    print("kernel|load|side|Slab: in kB|mean|more|predicted|off|vectors before, after")
    for kernel in sorted({row["kernel"] for row in known}):
        for load in LOADS:
            means = {}
            for side, (_, options) in sides(kernel).items():
                kb = [r["slab_kb"][load] for r in known if (r["kernel"], r["side"]) == (kernel, side)]
                if not kb:
                    continue
                means[side] = statistics.mean(kb)
                line = [kernel, load, side, " ".join(map(str, kb)), f"{means[side]:.0f}"]
                if options:
                    more = means[side] - means["as it is"]
                    foretold, vectors = predicted(slablab, trace_of(folder, kernel, load), options)
                    off = (foretold / more - 1) * 100
                    line += [f"{more:+.0f}", f"{foretold:+.0f}", f"{off:+.1f} %", " ".join(map(str, vectors))]
                print("|".join(line), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["boot", "record", "table"])
    parser.add_argument("slablab")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.what == "boot":
        boots(args.slablab, args.folder, args.kernels, args.rounds)
    elif args.what == "record":
        record(args.slablab, args.folder, args.kernels)
    else:
        table(args.slablab, args.folder)


main()
