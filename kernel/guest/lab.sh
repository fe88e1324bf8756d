# SPDX-License-Identifier: GPL-2.0-only
# What a job in a guest can use. Sourced by init and by the job (busybox sh, -eu).

# row FIELDS: sends one JSON object to the host. One write() a row, so that rows never mix.
row() {
	echo "{$1}" > /dev/vport0p1
}

# observe FIELDS: sends an observation of the load that runs ($load is set by the host's job).
observe() {
	row "\"kind\":\"observation\",\"load\":$load,$1"
}

# send NAME FILE: sends a file to the host, which keeps it under NAME.
send() {
	{ echo "FILE $(stat -c %s "$2") $1"; cat "$2"; } > /dev/vport0p2
}

# fail MESSAGE: ends the job; the host reports the message.
fail() {
	row "\"kind\":\"error\",\"message\":\"$1\""
	exit 1
}

# uptime_s: seconds since the boot, hundredths.
uptime_s() {
	read -r up _ < /proc/uptime
	echo "$up"
}

# now_ns: nanoseconds since the boot.
now_ns() {
	sed -n 's/^now at \([0-9]*\) nsecs/\1/p;3q' /proc/timer_list
}

# seconds NS: nanoseconds as seconds.
seconds() {
	printf '%d.%09d\n' $(($1 / 1000000000)) $(($1 % 1000000000))
}

# meminfo FIELD: a field of /proc/meminfo, in kB.
meminfo() {
	sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo
}
