# SPDX-License-Identifier: GPL-2.0-only
# Three CPUs of four go off and on under hackbench; then slabtorture and stranding run, and lockdep must still be on.
(for i in 1 2 3 4 5 6; do hackbench -g 3 -l 150 -s 100 > /dev/null; done; echo done > /tmp/ended) &
rounds=0
while [ ! -e /tmp/ended ]; do
	for cpu in 1 2 3; do echo 0 > /sys/devices/system/cpu/cpu$cpu/online; done
	for cpu in 1 2 3; do echo 1 > /sys/devices/system/cpu/cpu$cpu/online; done
	echo 2 > /proc/sys/vm/drop_caches
	rounds=$((rounds + 1))
done
insmod /lib/modules/slabtorture.ko seconds=15 threads=2
insmod /lib/modules/stranding.ko percent=50
grep 'debug_locks: *1' /proc/lockdep_stats
dmesg | grep slabtorture: | tail -1
echo "rounds=$rounds warnings=$(dmesg | grep -c WARNING)"
