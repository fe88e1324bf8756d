# SPDX-License-Identifier: GPL-2.0-only
(for i in 1 2 3 4 5 6; do hackbench -g 3 -l 150 -s 100 >/dev/null; done; echo done > /tmp/hb) &
n=0
while [ ! -e /tmp/hb ]; do
 for c in 1 2 3; do echo 0 > /sys/devices/system/cpu/cpu$c/online; done
 for c in 1 2 3; do echo 1 > /sys/devices/system/cpu/cpu$c/online; done
 echo 2 > /proc/sys/vm/drop_caches
 n=$((n+1))
done
sleep 1; echo rounds $n; grep Slab: /proc/meminfo; dmesg | grep -ciE "warn|bug|splat|stall|oops" ; dmesg | tail -3
