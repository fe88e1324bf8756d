# SPDX-License-Identifier: GPL-2.0-only
# The peak alone, seen by slabpeak: of `fill`, whose peak is the same whoever runs first, and of hackbench.
peak_of() {
	insmod /bin/slabpeak.ko
	shift
	"$@" || fail "$* ended with status $?"
	read -r base < /sys/module/slabpeak/parameters/base
	read -r peak < /sys/module/slabpeak/parameters/peak
	read -r in_use < /sys/module/slabpeak/parameters/in_use
	rmmod slabpeak
}
groups=4
[ "$(meminfo MemTotal)" -lt 40000 ] && groups=1
for load in "fill $groups" "hackbench -g $groups -l 100 -s 100"; do
	name=${load%% *}
	peak_of $name $load
	metric ${name}_peak_kb $((peak / 1024))
	metric ${name}_base_kb $((base / 1024))
	metric ${name}_in_use_kb $((in_use / 1024))
done
