# SPDX-License-Identifier: GPL-2.0-only
# What a job in a guest can use. Sourced by init and by the job (busybox sh, -eu).

# row FIELDS: sends one JSON object to the host. One write() a row, so that rows never mix; the port is one process's at a
# time, so that whoever comes second waits.
row() {
	until { echo "{$1}" > /dev/vport0p1; } 2> /dev/null; do
		sleep 0.01
	done
}

# observe FIELDS: sends an observation of the load that runs ($load is set by the host's job).
observe() {
	row "\"kind\":\"observation\",\"load\":$load,$1"
}

# send NAME FILE...: sends files to the host as one, which keeps it under NAME.
send() {
	send_name=$1
	shift
	{ echo "FILE $(stat -c %s "$@" | awk '{ n += $1 } END { printf "%.0f", n }') $send_name"; cat "$@"; } > /dev/vport0p2
}

# json TEXT: the text as a JSON string holds it: a quotation mark or a backslash in it does not end the row.
json() {
	printf '%s' "$1" | tr '\n\r\t' '   ' | tr -d '\000-\037' | sed 's/[\\"]/\\&/g'
}

# fail MESSAGE: ends the job; the host reports the message.
fail() {
	row "\"kind\":\"error\",\"message\":\"$(json "$1")\""
	exit 1
}

# parameters_taken: fails where a boot parameter of one of our patches is asked for in a kernel without it, which would be
# measured under a name that is not its own.
parameters_taken() {
	for parameter in $(cat /proc/cmdline); do
		case $parameter in
		kprobe_table=*) taken=$(sed -n 's/^table //p' /sys/kernel/debug/kprobes/table 2> /dev/null || true) ;;
		audit_cache=*) taken=$(sed 'y/NY/01/' /sys/module/kernel/parameters/audit_cache 2> /dev/null || true) ;;
		*) continue ;;
		esac
		if [ "${parameter#*=}" != "$taken" ]; then
			fail "this kernel did not take $parameter (it has '$taken'): build it with kernel/patches"
		fi
	done
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

# read_slab: sets slab_kb to Slab of /proc/meminfo, without another process.
read_slab() {
	while read -r field slab_kb _; do
		if [ "$field" = Slab: ]; then
			break
		fi
	done < /proc/meminfo
}

# idle SECONDS: waits, without another process: for a line that never comes.
idle() {
	read -r -t "$1" _ <> /tmp/never || true
}

# shrink_caches: gives back the slabs of which nothing is in use. SLAB has no file for that; the module slabinfo, if it is
# loaded, has one.
shrink_caches() {
	for cache in /sys/kernel/slab/*/shrink /proc/slabcaches; do
		{ [ ! -e "$cache" ] || echo 1 > "$cache"; } 2> /dev/null || true
	done
}

# read_settled_slab: sets slab_kb to what Slab falls to when all that can be given back was: KASAN keeps what was freed until
# its cache is shrunk, and SLUB and SLAB what each CPU freed last (100 to 200 kB of processes' objects with two CPUs). What
# is dropped is freed after a grace period, and so are slabs of caches that readers look into: both are waited for. From
# shrinking on no process starts, whose own slabs would be counted. Processes that ended a moment ago still hold slabs,
# so slabs are counted until the count no longer falls.
read_settled_slab() {
	settled_kb=
	for try in 1 2 3 4 5 6; do
		if [ -e /lib/modules/slabinfo.ko ]; then insmod /lib/modules/slabinfo.ko; fi
		echo 2 > /proc/sys/vm/drop_caches
		idle 0.5
		shrink_caches
		idle 0.5
		{ echo 1 > /proc/sys/vm/stat_refresh; } 2> /dev/null || true
		read_slab
		# It knows the caches that were there, and has to go before one of them does.
		if [ -e /lib/modules/slabinfo.ko ]; then rmmod slabinfo; fi
		if [ "$slab_kb" -ge "${settled_kb:-$((slab_kb + 1))}" ]; then break; fi
		settled_kb=$slab_kb
	done
	slab_kb=$settled_kb
}

# read_threads: sets threads to how many there are, without another process. A worker that the kernel starts meanwhile takes
# up to 104 kB: a slab each of task_struct and sighand_cache (32 kB), signal_cache and mm_struct (16 kB) and some of 4 kB.
read_threads() {
	read -r _ _ _ threads _ < /proc/loadavg
	threads=${threads#*/}
}

# watch_slab: keeps the largest Slab in /tmp/slab_peak, by five looks a second, until /tmp/slab_stop is there.
watch_slab() {
	peak=0
	while [ ! -e /tmp/slab_stop ]; do
		read_slab
		if [ "$slab_kb" -gt "$peak" ]; then
			peak=$slab_kb
			echo "$peak" > /tmp/slab_peak
		fi
		sleep 0.2
	done
}

# slabs_around COMMAND...: runs a command, with an observation of Slab before the first, at the peak and after it, of its time
# (its own if it gives a metric `seconds`), and of what $metrics names. Slab is read when the guest has been idle for a second;
# slabinfo is sent after it, where the kernel has that.
slabs_around() {
	rm -f /tmp/slab_stop /tmp/slab_peak /tmp/metrics
	sleep 1
	read_slab
	slab_boot_kb=${slab_boot_kb:-$slab_kb}
	watch_slab &
	around_watch=$!
	around_begin=$(uptime_s | tr -d .)
	"$@"
	around_took=$(($(uptime_s | tr -d .) - around_begin))
	: > /tmp/slab_stop
	wait $around_watch
	sleep 1
	read_slab
	slab_peak_kb=$(cat /tmp/slab_peak)
	if [ "$slab_kb" -gt "$slab_peak_kb" ]; then
		slab_peak_kb=$slab_kb
	fi
	# A failure in the middle of a word would go unnoticed.
	around_chosen=$(chosen_metrics)
	around_seconds=$(given_metric seconds)
	if [ -z "$around_seconds" ]; then
		around_seconds=$((around_took / 100)).$(printf %02d $((around_took % 100)))
	fi
	if cat /proc/slabinfo > /tmp/slabinfo 2> /dev/null; then send "slabinfo-$load" /tmp/slabinfo; fi
	observe "\"slab_boot_kb\":$slab_boot_kb,\"slab_peak_kb\":$slab_peak_kb,\"slab_kb\":$slab_kb,\"seconds\":$around_seconds$around_chosen"
}

# chosen_metrics: the values of $metrics, as further fields of a row.
chosen_metrics() {
	for name in ${metrics:-}; do
		value=$(given_metric "$name")
		if [ -z "$value" ]; then
			value=$(sed -n "s/^$name:\\{0,1\\}  *\\([0-9]*\\).*/\\1/p" /proc/meminfo /proc/vmstat | head -n 1)
		fi
		if [ -z "$value" ]; then
			fail "no metric $name: the script gave none, and /proc/meminfo and /proc/vmstat have none"
		fi
		printf ',"%s":%s' "$name" "$value"
	done
}

# given_metric NAME: the value that the script gave last; nothing where it gave none.
given_metric() {
	sed -n "s/^$1 \\(.*\\)/\\1/p" /tmp/metrics 2> /dev/null | tail -n 1
}

# metric NAME VALUE: gives a value of the script's own, which is a number.
metric() {
	if ! echo "${2-}" | grep -Eq '^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$'; then
		fail "metric $1: '${2-}' is not a number"
	fi
	echo "$1 $2" >> /tmp/metrics
}

# pass_messages GROUPS LOOPS: hackbench, whose own figure is the load's time: it leaves the forks out.
pass_messages() {
	hackbench -g "$1" -l "$2" -s 100 > /tmp/hackbench
	metric seconds "$(sed -n 's/^Time: //p' /tmp/hackbench)"
}

# run_script FILE: runs a user's script, which may use these functions; it must not fail.
run_script() {
	sh -u -c 'for lib in /lib/*.sh; do . "$lib"; done; . "$1"' sh "$1" || {
		status=$?
		fail "the script ended with status $status"
	}
}
