# SPDX-License-Identifier: GPL-2.0-only
# Three times four groups of hackbench, or one where there is no room for them: their time, Slab: one second after it, the
# order of the largest free block of pages and the MiB in blocks of 4 MiB. Then the peak, seen by slabpeak: of `fill`, whose
# peak is the same whoever runs first, and of hackbench again.
blocks() {
	metric order_$1 "$(awk '{ for (i = 5; i <= NF; i++) if ($i > 0 && i - 5 > last) last = i - 5 }
		END { print last }' /proc/buddyinfo)"
	metric huge_mib_$1 "$(awk '{ n += $15 } END { print 4 * n }' /proc/buddyinfo)"
}
three() {
	for i in 1 2 3; do
		"$@" || fail "$* ended with status $?"
	done
}
peak_of() {
	insmod /bin/slabpeak.ko
	shift
	three "$@"
	read -r base < /sys/module/slabpeak/parameters/base
	read -r peak < /sys/module/slabpeak/parameters/peak
	read -r in_use < /sys/module/slabpeak/parameters/in_use
	rmmod slabpeak
}
groups=4
[ "$(meminfo MemTotal)" -lt 40000 ] && groups=1
begin=$(uptime_s | tr -d .)
three hackbench -g $groups -l 100 -s 100
took=$(($(uptime_s | tr -d .) - begin))
metric load_seconds $((took / 100)).$(printf %02d $((took % 100)))
blocks end
sleep 1
read_slab
metric after_kb $slab_kb
sleep 1
blocks later
for load in "fill $groups" "hackbench -g $groups -l 100 -s 100"; do
	name=${load%% *}
	peak_of $name $load
	metric ${name}_peak_kb $((peak / 1024))
	metric ${name}_base_kb $((base / 1024))
	metric ${name}_in_use_kb $((in_use / 1024))
	sleep 1
done
