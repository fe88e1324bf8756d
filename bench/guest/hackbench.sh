# SPDX-License-Identifier: GPL-2.0-only
# Three times four groups of hackbench, or one where there is no room for them: their time, and the order of the largest
# free block of pages and the MiB in blocks of 4 MiB, at the end of it and two seconds later.
blocks() {
	metric order_$1 "$(awk '{ for (i = 5; i <= NF; i++) if ($i > 0 && i - 5 > last) last = i - 5 } END { print last }' /proc/buddyinfo)"
	metric huge_mib_$1 "$(awk '{ n += $15 } END { print 4 * n }' /proc/buddyinfo)"
}
groups=4
[ "$(meminfo MemTotal)" -lt 40000 ] && groups=1
begin=$(uptime_s | tr -d .)
for i in 1 2 3; do
	hackbench -g $groups -l 100 -s 100
done
took=$(($(uptime_s | tr -d .) - begin))
metric load_seconds $((took / 100)).$(printf %02d $((took % 100)))
blocks end
sleep 2
blocks later
