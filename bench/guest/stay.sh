# SPDX-License-Identifier: MIT OR Apache-2.0
# hackbench, then 50 processes that stay; prints what slabs hold.
hackbench -g 10 -l 100 > /dev/null
i=0
while [ $i -lt 50 ]; do sleep 1000 & i=$((i + 1)); done
sleep 1
awk '/^Slab:/{print "RESULT", $0}' /proc/meminfo
