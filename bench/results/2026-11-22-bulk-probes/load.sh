# SPDX-License-Identifier: GPL-2.0-only
# Processes that come and go, with or without kprobe events for what is freed in bulk (PROBES=1 in front).
t=/sys/kernel/tracing
if [ "${PROBES:-0}" = 1 ]; then
	echo 'p:bulk/few kmem_cache_free_bulk cache=%di:x64 size=%si:u64 objects=+0(%dx):x64[8]' > $t/kprobe_events
	echo 'p:bulk/many kmem_cache_free_bulk cache=%di:x64 size=%si:u64 objects=+0(%dx):x64[64]' >> $t/kprobe_events
	echo 'p:bulk/later kvfree_call_rcu object=%si:x64' >> $t/kprobe_events
	# Without a cache, it is what kvfree_call_rcu was given before.
	echo 'cache != 0 && size <= 8' > $t/events/bulk/few/filter
	echo 'cache != 0 && size > 8' > $t/events/bulk/many/filter
	echo 1 > $t/events/bulk/enable
fi
begin=$(uptime_s)
for i in $(seq 150); do busybox true; (busybox ls /proc > /dev/null | cat); done
hackbench -g 2 -l 50 -s 100
for i in $(seq 150); do (echo $i | sed s/1/2/ > /tmp/x); done
row "\"kind\":\"took\",\"from\":$begin,\"to\":$(uptime_s)"
