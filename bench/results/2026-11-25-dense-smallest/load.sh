# SPDX-License-Identifier: GPL-2.0-only
# Does the load complete? Three times four groups of hackbench, and nothing may be killed for want of memory.
for i in 1 2 3; do
	timeout -s KILL 60 hackbench -g 4 -l 100 -s 100 || exit 1
done
grep -q '^oom_kill 0$' /proc/vmstat
