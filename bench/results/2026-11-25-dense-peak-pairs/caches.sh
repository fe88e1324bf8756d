# SPDX-License-Identifier: GPL-2.0-only
# On kernels with instrument.patch: what each cache held at the peak of each of five hackbenches.
g=4
hackbench -g $g -l 100 -s 100
sleep 1
grep Slab: /proc/meminfo
for i in 1 2 3 4 5; do
echo 1 > /proc/xpeak
hackbench -g $g -l 100 -s 100
echo "round $i"
awk '$1 == "xpeak"' /proc/xpeak
sleep 1
done
