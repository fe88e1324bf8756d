# SPDX-License-Identifier: GPL-2.0-only
# What a job in a guest can use. Sourced by init and by the job (busybox sh, -eu).

# row FIELDS: sends one JSON object to the host. One write() a row, so that rows never mix.
row() {
	echo "{$1}" > /dev/vport0p1
}

# send NAME FILE: sends a file to the host, which keeps it under NAME.
send() {
	{ echo "FILE $(stat -c %s "$2") $1"; cat "$2"; } > /dev/vport0p2
}

# uptime_s: seconds since the boot, hundredths.
uptime_s() {
	read -r up _ < /proc/uptime
	echo "$up"
}

# meminfo FIELD: a field of /proc/meminfo, in kB.
meminfo() {
	sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo
}

# fail MESSAGE: ends the job; the host reports the message.
fail() {
	row "\"kind\":\"error\",\"message\":\"$1\""
	exit 1
}
