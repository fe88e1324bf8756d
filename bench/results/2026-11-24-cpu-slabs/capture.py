# SPDX-License-Identifier: MIT OR Apache-2.0
"""Captures the events of some caches, with addresses, and what slabinfo and sysfs say of these caches meanwhile.

    capture.py CACHE,CACHE,... OUT.json COMMAND...
"""
import json
import os
import subprocess
import sys
import threading
import time

INSTANCE = "/sys/kernel/tracing/instances/slabs"
ATTRIBUTES = "partial objects_partial cpu_slabs slabs_cpu_partial objs_per_slab order slabs cpu_partial min_partial".split()


def write(name, text):
    with open(f"{INSTANCE}/{name}", "w") as file:
        file.write(text)


def attributes(caches):
    def read(cache, name):
        with open(f"/sys/kernel/slab/{cache}/{name}") as file:
            return file.read().strip()
    return {cache: {name: read(cache, name) for name in ATTRIBUTES} for cache in caches}


def sample(caches, samples, stop):
    slabinfo = os.open("/proc/slabinfo", os.O_RDONLY)
    while not stop.is_set():
        offset = 0
        while True:
            begin = time.monotonic_ns()
            part = os.pread(slabinfo, 65536, offset)
            end = time.monotonic_ns()
            if not part:
                break
            offset += len(part)
            for line in part.decode().splitlines():
                words = line.split()
                if words and words[0] in caches:
                    samples.append((begin, end, words[0], int(words[1]), int(words[14])))
        time.sleep(0.02)


def main(names, out, *command):
    caches = names.split(",")
    os.makedirs(INSTANCE, exist_ok=True)
    for name, text in [("tracing_on", "0"), ("buffer_size_kb", "131072"), ("trace_clock", "mono"), ("trace", ""),
                       ("options/hash-ptr", "0")]:
        write(name, text)
    for event in ["kmem_cache_alloc", "kmem_cache_free"]:
        write(f"events/kmem/{event}/filter", "||".join(f'name=="{cache}"' for cache in caches))
        write(f"events/kmem/{event}/enable", "1")
    start, samples, stop = attributes(caches), [], threading.Event()
    write("tracing_on", "1")
    sampler = threading.Thread(target=sample, args=(caches, samples, stop))
    sampler.start()
    time.sleep(0.1)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    stop.set()
    sampler.join()
    write("tracing_on", "0")
    with open(f"{INSTANCE}/trace") as file, open(out, "w") as to:
        json.dump({"start": start, "samples": samples, "events": file.read()}, to)
    os.rmdir(INSTANCE)


main(*sys.argv[1:])
