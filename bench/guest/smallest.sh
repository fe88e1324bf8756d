# SPDX-License-Identifier: GPL-2.0-only
# Three times four groups of hackbench: did each complete, with nothing killed for want of memory?
echo -1000 > /proc/self/oom_score_adj
complete=1
for i in 1 2 3; do
	(echo 0 > /proc/self/oom_score_adj; exec hackbench -g 4 -l 100 -s 100) || complete=0
done
[ "$(awk '$1 == "oom_kill" { print $2 }' /proc/vmstat)" -eq 0 ] || complete=0
metric complete $complete
