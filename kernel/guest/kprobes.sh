# SPDX-License-Identifier: GPL-2.0-only
# The load of the experiment kprobes.

tracing=/sys/kernel/tracing

# kprobe_functions: every function that can be probed, once, in an order that is the same in every guest.
# rand() of busybox's awk is random() of the C library it is linked with, so that the seed fixes the order.
kprobe_functions() {
	sed 's/.*\t//;s/ .*//' /sys/kernel/debug/kprobes/blacklist | sort -u > /tmp/blacklist
	sed -n 's/^[0-9a-f]* [tT] \([A-Za-z_][A-Za-z0-9_]*\)$/\1/p' /proc/kallsyms | sort |
		awk 'NR == FNR { no[$1]; next }
		     $1 != last && !($1 in no) { print $1 }
		     { last = $1 }' /tmp/blacklist - |
		awk 'BEGIN { srand(20260101) } { printf "%.9f %s\n", rand(), $1 }' | sort | cut -d' ' -f2
}

# kprobe_hits: nanoseconds for 20,000 system calls through whatever probes there are.
kprobe_hits() {
	hits_begin=$(now_ns)
	dd if=/dev/zero of=/dev/null bs=1 count=10000 2> /dev/null
	echo $(($(now_ns) - hits_begin))
}

# kprobes MOST STEP: adds and enables up to MOST probes, with an observation at every STEP.
kprobes() {
	most=$1
	step=$2
	grep -q 'kprobe_table=' /proc/cmdline || fail "no kprobe_table= on the command line"
	# An optimised probe jumps and does not look its address up.
	echo 0 > /proc/sys/debug/kprobes-optimization
	# Probes are hit, but nothing is written: it is the table that is measured, not the ring buffer.
	echo 0 > $tracing/tracing_on
	kprobe_functions > /tmp/functions
	row "\"kind\":\"note\",\"functions\":$(wc -l < /tmp/functions)"
	# When the functions are used up, their second instructions follow: most are behind one or four bytes.
	for offset in 1 4; do
		if [ "$(wc -l < /tmp/functions)" -lt $((2 * most)) ]; then
			awk -v offset=$offset '!/\+/ { print $1 "+" offset }' /tmp/functions > /tmp/further
			cat /tmp/further >> /tmp/functions
		fi
	done
	probes=0
	refused=0
	begin=$(now_ns)
	spent=0
	while read -r function; do
		if [ "$probes" -ge "$most" ]; then
			break
		fi
		if ! echo "p:lab/p$probes $function" >> $tracing/kprobe_events 2> /dev/null; then
			refused=$((refused + 1))
			continue
		fi
		echo 1 > $tracing/events/lab/p$probes/enable
		probes=$((probes + 1))
		if [ $((probes % step)) -eq 0 ]; then
			now=$(now_ns)
			spent=$((spent + now - begin))
			hits=$(kprobe_hits)
			observe "\"probes\":$probes,\"seconds\":$(seconds $spent),\"hit_seconds\":$(seconds "$hits"),\"mem_free_kb\":$(meminfo MemFree),\"refused\":$refused"
			begin=$(now_ns)
		fi
	done < /tmp/functions
	if [ "$probes" -lt "$most" ]; then
		fail "only $probes probes were taken, $refused refused"
	fi
	echo 0 > $tracing/events/lab/enable
}
