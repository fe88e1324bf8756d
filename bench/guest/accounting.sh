# SPDX-License-Identifier: GPL-2.0-only
# Two loads in a memory cgroup: 60,000 files in a tmpfs that stay, then 400 times three processes with two pipes that stay. With
# LOAD=files on the kernel's command line only the first. After each it prints what slabs hold, when RCU holds nothing back.
mkdir -p /cg
mount -t cgroup2 none /cg
echo +memory > /cg/cgroup.subtree_control
mkdir /cg/load
mkdir /files
mount -t tmpfs -o nr_inodes=100000 files /files
(
	echo 0 > /cg/load/cgroup.procs
	exec sh -c 'i=0; while [ $i -lt 60000 ]; do : > /files/a-file-with-a-name-$i; i=$((i + 1)); done'
)
sleep 2
echo "RESULT files $(meminfo Slab)"
if [ "${LOAD:-}" != files ]; then
	(
		echo 0 > /cg/load/cgroup.procs
		exec sh -c 'i=0; while [ $i -lt 400 ]; do sleep 1000 | sleep 1000 | sleep 1000 & i=$((i + 1)); done'
	)
	sleep 2
	echo "RESULT tasks $(meminfo Slab)"
fi
