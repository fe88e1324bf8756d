# SPDX-License-Identifier: GPL-2.0-only
grep Slab: /proc/meminfo
for i in 1 2 3; do hackbench -g 4 -l 100 -s 100; done
sleep 1
grep Slab: /proc/meminfo
sleep 1
grep -E "Slab:|MemFree" /proc/meminfo
