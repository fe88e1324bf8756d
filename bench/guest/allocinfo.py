#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares a replayed trace with /proc/allocinfo of the guest that recorded it: bytes alive at the end, by line.

    slablab kernel boot build:6.12/slub+allocinfo+dwarf --append slab_nomerge --record t.parquet --script bench/guest/allocinfo.sh -o guest
    slablab replay t.parquet --allocators slub --format json > t.json
    bench/guest/allocinfo.py guest/files/recording.txt guest/files/allocinfo.txt t.json VMLINUX

How it works: the recording's text gives bytes by call site (allocations less the frees that it has); the replay gives the
objects that are alive when frees without an event are taken in, by which the bytes are scaled. A call site becomes a
line by the debug information: of the functions inlined there, the innermost that is no *_noprof is where the kernel
counts. A function that allocates for its caller (kmemdup, kstrdup, kvmalloc) is one site in the trace and many
lines in the kernel: it is named, and so is what only one of both has.
"""
import collections
import json
import re
import subprocess
import sys

WITHIN = 0.02
# What the recording and the count need themselves, and begin before the recording does.
OWN = {"kernel/trace/ring_buffer.c", "mm/slub.c"}
FIRST = re.compile(r"(\S+): (kmalloc|kmem_cache_alloc|kfree|kmem_cache_free): call_site=(\S+?)/\S+ ptr=(\S+)(.*)")


def live_by_site(path):
    """Returns bytes and objects alive at the end of a recording's text, by call site."""
    live, bytes_of, objects = {}, collections.Counter(), collections.Counter()
    for line in open(path, errors="replace"):
        found = FIRST.search(line)
        if not found:
            continue
        _, kind, site, pointer, rest = found.groups()
        gone = live.pop(pointer, None)
        if gone:
            bytes_of[gone[0]] -= gone[1]
            objects[gone[0]] -= 1
        if "alloc" in kind:
            size = int(re.search(r"bytes_alloc=(\d+)", rest)[1])
            live[pointer] = (site, size)
            bytes_of[site] += size
            objects[site] += 1
    return bytes_of, objects


def lines_of(sites, vmlinux):
    """Returns the line that the kernel counts each call site by, and the function of the site itself."""
    symbols = {}
    for line in subprocess.run(["nm", vmlinux], capture_output=True, text=True, check=True).stdout.splitlines():
        address, kind, name = line.split()[-3:]
        if kind in "tTwW":
            symbols.setdefault(name, int(address, 16))
    asked = [site for site in sites if site.split("+")[0] in symbols]
    # Before the address of the return is the call.
    addresses = [f"{symbols[site.split('+')[0]] + int(site.split('+')[1], 16) - 1:x}" for site in asked]
    command = ["addr2line", "-a", "-i", "-f", "-e", vmlinux]
    text = subprocess.run(command, input="\n".join(addresses), capture_output=True, text=True, check=True).stdout
    lines = {}
    for site, part in zip(asked, re.split(r"^0x[0-9a-f]+\n", text, flags=re.M)[1:]):
        words = part.splitlines()
        frames = [(words[i], words[i + 1]) for i in range(0, len(words) - 1, 2)]
        counted = [frame for frame in frames if not frame[0].split(".")[0].endswith("_noprof")]
        if counted:
            file, number = counted[0][1].split(" ")[0].rsplit(":", 1)
            lines[site] = (re.sub(r"^.*?/(?=(arch|block|crypto|drivers|fs|include|init|io_uring|ipc|kernel|lib|mm|net|security|"
                                  r"sound|virt)/)", "", file).removeprefix("./"), number)
            if "/" not in lines[site][0]:
                lines[site] = (file, number)
    return lines


def near(line, kernel, taken):
    """Returns the line by which the kernel counts: of a call of several lines, it takes the last, or the first."""
    file, number = line
    if line in kernel:
        return line
    around = [(file, str(int(number) + by)) for by in (1, -1, 2, -2, 3, -3, 4, -4)] if number.isdigit() else []
    return next((other for other in around if other in kernel and other not in taken), line)


def compare(title, bytes_of, lines, kernel):
    """Prints what agrees, and what does not; returns the rows that do not, and what no line was found for."""
    trace, unplaced = collections.Counter(), collections.Counter()
    for site, held in bytes_of.items():
        if held and site in lines:
            trace[lines[site]] += held
        elif held:
            unplaced[site] += held
    own = sum(trace.pop(where) for where in [where for where in trace if where[0] in OWN])
    total = sum(trace.values()) + sum(unplaced.values())
    good = sum(held for where, held in trace.items() if abs(held - kernel.get(where, 0)) <= WITHIN * held)
    # One call site for many callers: the kernel counts each by itself.
    rest = collections.Counter({where: held for where, held in kernel.items() if where not in trace})
    passed_on = 0
    for site, held in list(unplaced.items()):
        same = next((where for where, count in rest.items() if count == held), None)
        if same and "_noprof" in site:
            print(f"{site}: {held:,} bytes, which the kernel counts at {':'.join(same)}")
            passed_on += held
            del unplaced[site]
    print(f"{title}: {total:,} bytes alive at the end, and {own:,} of the recording's and the count's own")
    print(f"    within 2 % of the kernel's count: {good + passed_on:,} bytes, {(good + passed_on) / total:.1%}")
    rows = [(held, kernel.get(where, 0), where) for where, held in trace.items()]
    return [row for row in rows if abs(row[0] - row[1]) > WITHIN * row[0]], unplaced


def main():
    recording, allocinfo, replay, vmlinux = sys.argv[1:]
    bytes_of, objects = live_by_site(recording)
    kernel, function = {}, {}
    for line in open(allocinfo):
        found = re.match(r"\s*(\d+)\s+(\d+) (\S+):(\d+) (?:\[\S+\] )?func:(\S+)", line)
        if found and int(found[1]):
            where = (found[3].removeprefix("./"), found[4])
            kernel[where] = kernel.get(where, 0) + int(found[1])
            function[where] = found[5]
    lines = lines_of(list(bytes_of), vmlinux)
    taken = {line for line in lines.values() if line in kernel}
    lines = {site: near(line, kernel, taken) for site, line in lines.items()}
    rows, unplaced = compare("events alone", bytes_of, lines, kernel)
    for site in json.load(open(replay))["sites"]:
        name = site["site"]
        if objects[name]:
            bytes_of[name] = bytes_of[name] * site["live_end"] // objects[name]
    compare("with ends estimated, as replayed", bytes_of, lines, kernel)
    print("\nlines that differ by more in the events:")
    print(f"{'trace':>12} {'kernel':>12}  line")
    names = collections.defaultdict(set)
    for site, line in lines.items():
        names[line].add(site.split("+")[0])
    for held, count, where in sorted(rows, key=lambda row: -row[0])[:30]:
        print(f"{held:12,} {count:12,}  {':'.join(where)} {function.get(where) or ', '.join(sorted(names[where]))}")
    for site, held in unplaced.most_common(10):
        print(f"{held:12,} {'-':>12}  {site}")


main()
