# SPDX-License-Identifier: MIT OR Apache-2.0
hackbench -g 2 -l 50 -s 100 > /dev/null
hackbench -g 2 -l 50 -s 100 > /dev/null
sleep 1
awk '/^Slab:/{print "RESULT", $0}' /proc/meminfo
