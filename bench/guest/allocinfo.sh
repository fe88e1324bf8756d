# SPDX-License-Identifier: GPL-2.0-only
# hackbench and processes that stay; then the recording ends, and the kernel says what each call site holds.
hackbench -g 2 -l 50 -s 100 > /tmp/hackbench
i=0
while [ $i -lt 50 ]; do sleep 1000 & i=$((i + 1)); done
sleep 1
echo 0 > /sys/kernel/tracing/tracing_on
# Without a process of its own, which would be counted.
while IFS= read -r line; do echo "$line"; done < /proc/allocinfo > /tmp/allocinfo
send allocinfo.txt /tmp/allocinfo
