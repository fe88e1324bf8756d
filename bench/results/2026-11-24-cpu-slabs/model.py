# SPDX-License-Identifier: MIT OR Apache-2.0
"""Replays a capture in a small model of SLUB with per-CPU partial lists, once with half of the objects free in the slabs
that CPUs kept at the start, and once with as many as their addresses tell; prints slabs beside those of slabinfo.

    model.py CAPTURE.json...
"""
import json
import random
import re
import sys

EVENT = re.compile(r"\[(\d+)\] \S+\s+([\d.]+): kmem_cache_(alloc|free): call_site=\S+ ptr=([0-9a-f]+) name=(\S+)")
CPUS = 2


class Slab:
    def __init__(self, free=()):
        self.free = list(free)
        self.on = None


class Slub:
    def __init__(self, objects, cpu_partial_slabs, min_partial):
        self.objects, self.cpu_partial_slabs, self.min_partial = objects, cpu_partial_slabs, min_partial
        self.slab, self.free_here = [None] * CPUS, [[] for _ in range(CPUS)]
        self.partial, self.node, self.slabs = [[] for _ in range(CPUS)], [], 0

    def take(self, cpu, slab):
        slab.on, self.slab[cpu] = "cpu", slab
        self.free_here[cpu], slab.free = slab.free, []

    def alloc(self, cpu):
        slab = self.slab[cpu]
        if not self.free_here[cpu]:
            if slab and slab.free:
                self.take(cpu, slab)
            else:
                if slab:
                    slab.on = None
                self.take(cpu, self.next_slab(cpu))
        return self.slab[cpu], self.free_here[cpu].pop()

    def next_slab(self, cpu):
        if self.partial[cpu]:
            return self.partial[cpu].pop()
        if not self.node:
            self.slabs += 1
            return Slab(range(self.objects))
        slab, moved = self.node.pop(0), 0
        while self.node and moved < self.cpu_partial_slabs / 2:
            other = self.node.pop(0)
            other.on = "partial"
            self.partial[cpu].append(other)
            moved += 1
        return slab

    def free(self, cpu, slab, object):
        if self.slab[cpu] is slab:
            self.free_here[cpu].append(object)
            return
        was_full = not slab.free
        slab.free.append(object)
        if slab.on in ("cpu", "partial"):
            return
        if was_full:
            if len(self.partial[cpu]) >= self.cpu_partial_slabs:
                for other in reversed(self.partial[cpu]):
                    self.put(other)
                self.partial[cpu] = []
            slab.on = "partial"
            self.partial[cpu].append(slab)
        elif len(slab.free) == self.objects and len(self.node) >= self.min_partial:
            self.node.remove(slab)
            self.slabs -= 1

    def put(self, slab):
        if len(slab.free) == self.objects and len(self.node) >= self.min_partial:
            self.slabs -= 1
        else:
            slab.on = "node"
            self.node.append(slab)


def known_free(events, order, kept):
    """Free objects of the slabs that each CPU kept, in the order in which it took objects from them."""
    seen, slabs = set(), {}
    for _, cpu, is_alloc, address in events:
        if address not in seen and is_alloc:
            slabs.setdefault(address >> 12 + order, [cpu, 0])[1] += 1
        seen.add(address)
    return [[free for of, free in slabs.values() if of == cpu][:kept[cpu] + 1] for cpu in range(CPUS)]


def replay(start, events, samples, is_known):
    def number(name):
        return int(re.match(r"\d+", start[name])[0])
    each = number("objs_per_slab")
    slub = Slub(each, -(-2 * number("cpu_partial") // each), number("min_partial"))
    kept = [0] * CPUS
    for cpu, slabs in re.findall(r"C(\d)=\d+\((\d+)\)", start["slabs_cpu_partial"]):
        kept[int(cpu)] = int(slabs)
    current = max(0, number("cpu_slabs") - sum(kept))
    slub.slabs = samples[0][4]
    left, older = slub.slabs, []

    def slab(free, on):
        nonlocal left
        left -= 1
        slab = Slab(range(free))
        slab.on = on
        older.extend((slab, object) for object in range(free, each))
        return slab

    known = known_free(events, number("order"), kept) if is_known else [[]] * CPUS
    # The last one of each CPU may not be used up.
    used_up = [free for of_cpu in known for free in of_cpu[:-1]]
    unknown = max(each // 2, sum(used_up) // max(1, len(used_up)))
    for cpu in range(CPUS):
        free = known[cpu][:-1] + [max(last, unknown) for last in known[cpu][-1:]]
        free += [unknown] * (kept[cpu] + 1 - len(free))
        if cpu < current:
            slub.take(cpu, slab(min(each, free[0]), "cpu"))
        slub.partial[cpu] = [slab(min(each, count), "partial") for count in reversed(free[1:])]
    partial = min(number("partial"), left)
    spare = each * number("partial") - number("objects_partial")
    for place in range(partial):
        count = spare * (place + 1) // partial - spare * place // partial
        slub.node.append(slab(min(each, count), "node"))
    while left > 0:
        slab(0, None)
    draw, live, found = random.Random(1), {}, []
    for time_ns, cpu, is_alloc, address in events + [(float("inf"), 0, None, 0)]:
        while len(found) < len(samples) and samples[len(found)][1] <= time_ns:
            found.append(slub.slabs)
        if is_alloc:
            live[address] = slub.alloc(cpu)
        elif address in live:
            slub.free(cpu, *live.pop(address))
        elif older and is_alloc is not None:
            slub.free(cpu, *older.pop(draw.randrange(len(older))))
    return found


for path in sys.argv[1:]:
    with open(path) as file:
        capture = json.load(file)
    events = {}
    for cpu, seconds, kind, address, cache in EVENT.findall(capture["events"]):
        event = (float(seconds) * 1e9, int(cpu), kind == "alloc", int(address, 16))
        events.setdefault(cache, []).append(event)
    print(path)
    for cache, start in capture["start"].items():
        samples = [sample for sample in capture["samples"] if sample[2] == cache]
        if not samples:
            continue
        real = [sample[4] for sample in samples]
        print(f"  {cache:18} recorded: peak {max(real):4}, end {real[-1]:4}", end="")
        for name, is_known in [("half", False), ("known", True)]:
            found = replay(start, events.get(cache, []), samples, is_known)
            off = max(abs(a - b) for a, b in zip(found, real))
            print(f"   {name}: peak {max(found):4}, end {found[-1]:4}, off by {off:2}", end="")
        print()
