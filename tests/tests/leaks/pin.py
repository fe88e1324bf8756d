#!/usr/bin/env python3
"""Opens files and closes all but one in each slab of their cache.

pin.py FOLDER FILES PLACES: FILES files, and one of PLACES, the places of a slab, stays open. Prints `ready` when the others are
closed; closes all at a line on standard input, prints `closed`, and ends at the next.
"""

import ctypes
import os
import resource
import sys

folder, files, places = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
limit = files + 100
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
# PR_SET_NAME
ctypes.CDLL(None).prctl(15, b"pin-slabs", 0, 0, 0)
path = os.path.join(folder, "pinned")
opened = [os.open(path, os.O_CREAT | os.O_RDONLY) for _ in range(files)]
for at, fd in enumerate(opened):
    if at % places:
        os.close(fd)
print("ready", flush=True)
sys.stdin.readline()
for fd in opened[::places]:
    os.close(fd)
print("closed", flush=True)
sys.stdin.readline()
