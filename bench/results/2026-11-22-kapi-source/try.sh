# SPDX-License-Identifier: MIT OR Apache-2.0
# Tries modules of a kernel source under insmod: try.sh SOURCE; prints file|status|first error|last line.
T=$1; L=slablab
cd $T
for m in samples/kobject/kobject-example.c samples/kobject/kset-example.c samples/kfifo/bytestream-example.c samples/kfifo/dma-example.c samples/kfifo/inttype-example.c samples/kfifo/record-example.c samples/kmemleak/kmemleak-test.c samples/trace_printk/trace-printk.c samples/kprobes/kprobe_example.c samples/watchdog/watchdog-simple.c samples/livepatch/livepatch-shadow-mod.c \
 lib/test_sort.c lib/test_list_sort.c lib/test_hash.c lib/test_hexdump.c lib/test_bitops.c lib/test_bits.c lib/test_uuid.c lib/test_min_heap.c lib/test_ida.c lib/test_xarray.c lib/test_rhashtable.c lib/test_vmalloc.c lib/test_meminit.c lib/test_free_pages.c lib/test_memcat_p.c lib/test-kstrtox.c lib/test_printf.c lib/test_scanf.c lib/test_bitmap.c lib/test_module.c lib/test_static_keys.c lib/test_ref_tracker.c lib/test_objpool.c lib/test_linear_ranges.c lib/test_parman.c lib/test_maple_tree.c lib/test_sysctl.c lib/test_kmod.c lib/test_lockup.c lib/test_ubsan.c lib/find_bit_benchmark.c lib/atomic64_test.c lib/interval_tree_test.c lib/rbtree_test.c lib/percpu_test.c lib/crc64-rocksoft.c mm/dmapool_test.c lib/glob.c lib/ts_kmp.c lib/ts_fsm.c lib/reed_solomon/test_rslib.c lib/tests/test_sort.c lib/tests/test_list_sort.c lib/tests/test_bits.c lib/tests/hashtable_test.c; do
 [ -f $m ] || continue
 out=$(timeout 60 "$L" insmod $m 2>&1); s=$?
 why=$(echo "$out" | grep -m1 -E "error|undefined|No such file|fatal" | sed "s#$T/##" | cut -c1-110)
 echo "$m|$s|$why|$(echo "$out" | tail -1 | cut -c1-90)"
done
