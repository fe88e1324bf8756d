"""caches.py CONSOLE...: what each cache held at the peak of each hackbench, from the lines that instrumented kernels print."""
import re, sys

for path in sys.argv[1:]:
    rounds, name = {}, None
    for line in open(path, errors="replace"):
        line = line.strip()
        if line.startswith("round "):
            name = line
            rounds[name] = []
        found = re.match(r"xpeak (\S+) (\d+) (\d+) (-?\d+) (\d+)$", line)
        if found:
            size, held, objects, parked = map(int, found.groups()[1:])
            rounds[name].append((held - size * objects, found.group(1), size, held, objects, parked))
    print(path)
    for name, caches in rounds.items():
        caches.sort(reverse=True)
        print("  %s: slabs %d kB, objects in use %d, in magazines %d, free in slabs %d" % (
            name, sum(c[3] for c in caches) // 1024, sum(c[2] * c[4] for c in caches) // 1024,
            sum(c[2] * c[5] for c in caches) // 1024,
            sum(c[3] - c[2] * (c[4] + c[5]) for c in caches) // 1024))
        for unused, cache, size, held, objects, parked in caches[:4]:
            print("     %-18s %5d bytes: slabs %6d kB, %6d in use, %4d in magazines, unused %5d kB" % (
                cache, size, held // 1024, objects, parked, unused // 1024))
