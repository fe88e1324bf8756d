# SPDX-License-Identifier: GPL-2.0-only
# Three times four groups of hackbench; then the order of the largest free block of pages.
for i in 1 2 3; do
	hackbench -g 4 -l 100 -s 100
done
metric largest_order "$(awk '{ for (i = 5; i <= NF; i++) if ($i > 0) last = i - 5 } END { print last }' /proc/buddyinfo)"
