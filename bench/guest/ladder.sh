# SPDX-License-Identifier: MIT OR Apache-2.0
# What a tiny guest says after its boot: kB of slabs, kB that are free, and free blocks by order (pages of one zone).
sleep 1
awk '/^(MemFree|Slab):/ { print "RESULT", $1, $2 }' /proc/meminfo
awk '{ printf "RESULT buddy"; for (i = 5; i <= NF; i++) printf " %s", $i; print "" }' /proc/buddyinfo
