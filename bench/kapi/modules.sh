#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tries modules of a kernel source under insmod: modules.sh SOURCE VERSION; prints file|status|first error|last line.
T=$1; V=$2; L=${SLABLAB:-slablab}
cd $T
for m in $(ls samples/kobject/*.c samples/kfifo/*.c samples/kmemleak/*.c samples/trace_printk/*.c samples/kprobes/*.c \
 samples/livepatch/*.c samples/hung_task/*.c samples/configfs/*.c \
 lib/*_kunit.c lib/*-test.c lib/*_test.c lib/*test.c lib/test_*.c lib/test-*.c lib/find_bit_benchmark.c lib/tests/*.c \
 lib/crc/tests/*.c lib/crypto/tests/*.c kernel/time/time_test.c kernel/resource_kunit.c kernel/sysctl-test.c \
 drivers/rtc/lib_test.c drivers/rtc/test_rtc_lib.c \
 lib/math/*test*.c lib/math/tests/*.c lib/reed_solomon/test_rslib.c lib/kunit/*test.c lib/dim/dim_kunit.c \
 mm/dmapool_test.c mm/tests/*.c lib/glob.c lib/ts_kmp.c lib/ts_fsm.c lib/crc64-rocksoft.c 2>/dev/null | sort -u); do
 out=$(timeout ${SECONDS_MAX:-60} "$L" insmod --kernel-version $V $m 2>&1); s=$?
 why=$(echo "$out" | grep -m1 -E "error:|undefined reference|No such file|not provided|not ok" | sed "s#$T/##" | cut -c1-110)
 [ "${why#*not provided}" = "$why" ] || why="not provided: $(echo "$out" | sed -n 's/^  \([a-zA-Z0-9_]*\)\( (.*)\)*$/\1/p' | tr '\n' ' ' | cut -c1-90)"
 echo "$m|$s|$why|$(echo "$out" | tail -1 | sed "s#$T/##" | cut -c1-90)"
done
