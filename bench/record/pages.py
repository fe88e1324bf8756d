#!/usr/bin/env python3
"""What each call site allocates in each page, of a whole recording: what portions of it are drawn from, to see how often
the intervals of `stat` hold.

usage: bench/record/pages.py COMMAND... | zstd -19 > crates/trace/tests/portions/NAME.zst

Needs root, and perf (Debian: linux-perf). Prints a line for each call site, with its number of allocations, and below it
one for each page: the page's number and the bytes, in hex. Call sites of fewer than 300 allocations are left out.
"""
import collections
import re
import subprocess
import sys
import tempfile

import tracefs

EVENT = re.compile(r"call_site=(\S+) ptr=0x([0-9a-f]+) .*?bytes_alloc=(\d+)")
HITS_MIN = 300

tracefs.need("bench/record/pages.py", "perf")

with tempfile.NamedTemporaryFile() as data:
    events = "kmem:kmalloc,kmem:kmem_cache_alloc"
    subprocess.run(["perf", "record", "-q", "-a", "-R", "-c", "1", "-m", "64M", "-e", events, "-o", data.name, "--", *sys.argv[1:]],
                   check=True, stdout=sys.stderr)
    script = subprocess.Popen(["perf", "script", "-i", data.name, "-F", "event,trace"], stdout=subprocess.PIPE, text=True)
    pages, hits = collections.defaultdict(collections.Counter), collections.Counter()
    for line in script.stdout:
        if event := EVENT.search(line):
            site, ptr, size = event[1], int(event[2], 16), int(event[3])
            pages[site][ptr >> 12] += size
            hits[site] += 1
    assert script.wait() == 0
for site, count in hits.most_common():
    if count >= HITS_MIN:
        print("site", site, count)
        for page, size in sorted(pages[site].items()):
            print(f"{page:x} {size:x}")
