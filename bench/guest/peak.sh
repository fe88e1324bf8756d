# SPDX-License-Identifier: GPL-2.0-only
# One hackbench, timed and not looked at, then the peaks of `fill` once and of hackbench four times, each seen by slabpeak.
peak_of() {
	name=$1
	shift
	insmod /bin/slabpeak.ko
	"$@" || fail "$* ended with status $?"
	read -r base < /sys/module/slabpeak/parameters/base
	read -r peak < /sys/module/slabpeak/parameters/peak
	read -r in_use < /sys/module/slabpeak/parameters/in_use
	rmmod slabpeak
	metric ${name}_peak_kb $((peak / 1024))
	metric ${name}_base_kb $((base / 1024))
	metric ${name}_in_use_kb $((in_use / 1024))
	sleep 1
}
groups=4
[ "$(meminfo MemTotal)" -lt 40000 ] && groups=1
begin=$(uptime_s | tr -d .)
hackbench -g $groups -l 100 -s 100 || fail "hackbench ended with status $?"
took=$(($(uptime_s | tr -d .) - begin))
metric load_seconds $((took / 100)).$(printf %02d $((took % 100)))
sleep 1
read_slab
metric after_kb $slab_kb
peak_of fill fill $groups
for i in 1 2 3 4; do
	peak_of hackbench$i hackbench -g $groups -l 100 -s 100
done
