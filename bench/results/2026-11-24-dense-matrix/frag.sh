# SPDX-License-Identifier: GPL-2.0-only
# Free blocks of pages by order, free pages on CPUs' lists and Slab: after the boot, at the end of the load and later.
say() {
	echo "frag: $1 slab=$(awk '/^Slab:/ { print $2 }' /proc/meminfo) pcp=$(awk '/ count:/ { n += $2 } END { print n }' /proc/zoneinfo) $(grep DMA32 /proc/buddyinfo | tr -s ' ')"
}
say boot
for i in 1 2 3; do
	hackbench -g 4 -l 100 -s 100 > /dev/null
done
say end
sleep 1
say 1s
sleep 2
say 3s
echo 2 > /proc/sys/vm/drop_caches
say dropped
grep -A9 DMA32 /proc/pagetypeinfo 2>/dev/null | head -30
