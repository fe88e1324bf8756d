# SPDX-License-Identifier: GPL-2.0-only
# A recording of page events from the guest's first command on, and what happens meanwhile: files in a tmpfs of which every other
# one is removed (movable), many small files (reclaimable and unmovable), processes with sockets, blocks of several pages.
mkdir -p /files /small /out
mount -t tmpfs -o size=60% files /files
mount -t tmpfs -o size=10%,nr_inodes=100000 small /small
cat > /load.sh <<'LOAD'
round=0
while [ $round -lt 3 ]; do
	i=0
	while [ $i -lt 40 ]; do
		dd if=/dev/zero of=/files/$round-$i bs=64k count=$((1 + i % 24)) 2>/dev/null
		i=$((i + 1))
	done
	i=0
	while [ $i -lt 400 ]; do
		: > /small/$round-$i
		i=$((i + 1))
	done
	hackbench -g 1 -l 20 > /dev/null
	i=$((round % 2))
	while [ $i -lt 40 ]; do
		rm -f /files/$round-$i
		i=$((i + 2))
	done
	sleep 1
	round=$((round + 1))
done
LOAD
slablab record --pages -o /out/pages.parquet -- sh /load.sh || exit 1
send pages.parquet /out/pages.parquet
cat /proc/buddyinfo
