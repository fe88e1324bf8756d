/* Every macro about heaps, sets of CPUs, private lists, byte order and encodings, with what it has to give. */
#include <asm/byteorder.h>
#include <linux/base64.h>
#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/linear_range.h>
#include <linux/list_private.h>
#include <linux/math64.h>
#include <linux/min_heap.h>
#include <linux/module.h>
#include <linux/seq_buf.h>
#include <linux/util_macros.h>
#include <linux/uuid.h>

#include "check.h"

static bool less(const void *lhs, const void *rhs, void *args) { return *(int *)lhs < *(int *)rhs; }
static const struct min_heap_callbacks by_value = { .less = less };
static DEFINE_MIN_HEAP(int, outside) heap;
static MIN_HEAP_PREALLOCATED(int, inside, 4) small;

static void heaps(void)
{
	int data[8], value, i;

	min_heap_init(&heap, data, 8);
	min_heap_init_inline(&small, NULL, 4);
	IS(__minheap_obj_size(&heap), sizeof(int));
	for (value = 8; value > 1; value--)
		min_heap_push(&heap, &value, &by_value, NULL);
	min_heap_push_inline(&heap, &value, &by_value, NULL);
	IS(min_heap_full(&heap), true);
	IS(min_heap_full_inline(&small), false);
	IS(*min_heap_peek(&heap), 1);
	IS(min_heap_peek_inline(&small) == NULL, true);
	min_heap_pop(&heap, &by_value, NULL);
	min_heap_pop_inline(&heap, &by_value, NULL);
	IS(data[0], 3);
	value = 9;
	min_heap_pop_push(&heap, &value, &by_value, NULL);
	min_heap_pop_push_inline(&heap, &value, &by_value, NULL);
	IS(data[0], 5);
	min_heap_del(&heap, 1, &by_value, NULL);
	min_heap_del_inline(&heap, 1, &by_value, NULL);
	IS(heap.nr, 4);
	for (i = 0; i < 4; i++)
		data[i] = 4 - i;
	min_heapify_all(&heap, &by_value, NULL);
	min_heapify_all_inline(&heap, &by_value, NULL);
	IS(data[0], 1);
	data[0] = 9;
	min_heap_sift_down(&heap, 0, &by_value, NULL);
	min_heap_sift_down_inline(&heap, 0, &by_value, NULL);
	IS(data[0], 2);
	data[3] = 0;
	min_heap_sift_up(&heap, 3, &by_value, NULL);
	min_heap_sift_up_inline(&heap, 3, &by_value, NULL);
	IS(data[0], 0);
}

static void cpus(void)
{
	struct cpumask some = { { 5 } }, more = { { 6 } };
	unsigned int cpu, sum = 0;

	for_each_cpu_not(cpu, &some)
		sum += 1;
	IS(sum, nr_cpu_ids - cpumask_weight(&some));
	sum = 0;
	for_each_cpu_and(cpu, &some, &more)
		sum += cpu;
	for_each_cpu_andnot(cpu, &some, &more)
		sum += 10;
	for_each_cpu_or(cpu, &some, &more)
		sum += 100;
	for_each_cpu_wrap(cpu, &some, 1)
		sum = sum * 10 + cpu;
	IS(sum, 31220);
	IS(cpumask_weight(cpu_online_mask), nr_cpu_ids);
	IS(cpumask_bits(&some)[0], 5);
	IS(cpumask_first(cpumask_of(2)), 2);
	printk(KERN_INFO "every: CPUs %*pbl\n", cpumask_pr_args(&some));
}

struct item {
	int value;
	struct list_head __private list;
};

static void lists(void)
{
	struct item items[3] = { { 1 }, { 2 }, { 3 } }, *pos, *next;
	LIST_HEAD(head);
	int i, sum = 0;

	for (i = 0; i < 3; i++)
		list_add_tail(&ACCESS_PRIVATE(&items[i], list), &head);
	IS(list_private_entry(head.next, struct item, list), &items[0]);
	IS(list_private_first_entry(&head, struct item, list), &items[0]);
	IS(list_private_last_entry(&head, struct item, list), &items[2]);
	IS(list_private_next_entry(&items[0], list), &items[1]);
	IS(list_private_prev_entry(&items[1], list), &items[0]);
	IS(list_private_next_entry_circular(&items[2], &head, list), &items[0]);
	IS(list_private_prev_entry_circular(&items[0], &head, list), &items[2]);
	list_private_for_each_entry(pos, &head, list)
		sum = sum * 10 + pos->value;
	IS(list_private_entry_is_head(pos, &head, list), true);
	IS(sum, 123);
	sum = 0;
	list_private_for_each_entry_reverse(pos, &head, list)
		sum = sum * 10 + pos->value;
	pos = &items[0];
	list_private_for_each_entry_continue(pos, &head, list)
		sum = sum * 10 + pos->value;
	pos = &items[2];
	list_private_for_each_entry_continue_reverse(pos, &head, list)
		sum = sum * 10 + pos->value;
	IS(sum, 3212321);
	sum = 0;
	pos = &items[1];
	list_private_for_each_entry_from(pos, &head, list)
		sum = sum * 10 + pos->value;
	pos = &items[1];
	list_private_for_each_entry_from_reverse(pos, &head, list)
		sum = sum * 10 + pos->value;
	IS(sum, 2321);
	sum = 0;
	list_private_for_each_entry_safe(pos, next, &head, list)
		sum = sum * 10 + pos->value;
	list_private_for_each_entry_safe_reverse(pos, next, &head, list)
		sum = sum * 10 + pos->value;
	IS(sum, 123321);
	sum = 0;
	pos = &items[0];
	list_private_for_each_entry_safe_continue(pos, next, &head, list) {
		list_private_safe_reset_next(pos, next, list);
		sum = sum * 10 + pos->value;
	}
	pos = &items[1];
	list_private_for_each_entry_safe_from(pos, next, &head, list)
		list_del(&ACCESS_PRIVATE(pos, list));
	IS(sum, 23);
	IS(list_is_singular(&head), true);
}

static void orders(void)
{
	u8 bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	u32 word = 0x01020304;

	IS(swab16(0x0102), 0x0201);
	IS(swab32(0x01020304), 0x04030201);
	IS(swab64(1), 1ULL << 56);
	IS(__constant_cpu_to_le16(1) + __constant_cpu_to_le32(1) + __constant_cpu_to_le64(1), 3);
	IS(__constant_cpu_to_be16(1), 256);
	IS(__constant_cpu_to_be32(1), 1U << 24);
	IS(__constant_cpu_to_be64(1), 1ULL << 56);
	IS(cpu_to_le16(1) + cpu_to_le32(1) + cpu_to_le64(1), 3);
	IS(le16_to_cpu(1) + le32_to_cpu(1) + le64_to_cpu(1), 3);
	IS(be16_to_cpu(cpu_to_be16(7)), 7);
	IS(be32_to_cpu(cpu_to_be32(7)), 7);
	IS(be64_to_cpu(cpu_to_be64(7)), 7);
	IS(le16_to_cpup(bytes), 0x0201);
	IS(le32_to_cpup(bytes), 0x04030201);
	IS(le64_to_cpup(bytes), 0x0807060504030201);
	IS(be16_to_cpup(bytes), 0x0102);
	IS(be32_to_cpup(bytes), 0x01020304);
	IS(be64_to_cpup(bytes), 0x0102030405060708);
	cpu_to_le32s(&word);
	le32_to_cpus(&word);
	cpu_to_be32s(&word);
	IS(word, 0x04030201);
	be32_to_cpus(&word);
	IS(word, 0x01020304);
	IS(ntohs(htons(7)), 7);
	IS(ntohl(htonl(7)), 7);
}

static void numbers(void)
{
	static const struct linear_range ranges[] = { LINEAR_RANGE(10, 0, 4, 5), LINEAR_RANGE_IDX(1, 40, 5, 6, 10) };
	static const int up[] = { 1, 4, 16 }, down[] = { 16, 4, 1 };
	unsigned int value = 0, word = 0xff00;

	IS(linear_range_get_value_array(ranges, 2, 6, &value), 0);
	IS(value, 50);
	IS(find_closest(10, up, 3), 1);
	IS(find_closest_descending(10, down, 3), 1);
	IS(is_insidevar(&up[1], up), true);
	IS(BIT_U8(7), 128);
	IS(BIT_U16(15), 32768);
	IS(BIT_U32(31), 1U << 31);
	IS(BIT_U64(63), 1ULL << 63);
	IS(GENMASK_TYPE(u8, 3, 1), 14);
	IS(GENMASK_U8(7, 4), 0xf0);
	IS(GENMASK_U16(15, 12), 0xf000);
	IS(GENMASK_U32(31, 31), 1U << 31);
	IS(GENMASK_U64(63, 63), 1ULL << 63);
	IS((u64)(GENMASK_U128(64, 64) >> 64), 1);
	IS(__GENMASK(1, 0), 3);
	IS(__GENMASK_ULL(1, 0), 3);
	FIELD_MODIFY(0xf0, &word, 5);
	IS(word, 0xff50);
	IS(BITS_PER_TYPE(u16), 16);
	IS(mul_u64_u64_div_u64(~0ULL, 10, 20), ~0ULL / 2);
	IS(mul_u64_u64_div_u64_roundup(7, 3, 2), 11);
	IS(secs_to_jiffies(3), 3 * HZ);
}

static void texts(void)
{
	static const guid_t guid = GUID_INIT(0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16);
	static const uuid_t uuid = UUID_INIT(0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16);
	DECLARE_SEQ_BUF(text, 32);
	char encoded[BASE64_CHARS(4) + 2];
	u8 decoded[4];

	seq_buf_printf(&text, "%pUl %d", &guid, 1);
	IS(seq_buf_has_overflowed(&text), true);
	IS(guid.b[0], 4);
	IS(uuid.b[0], 1);
	IS(base64_encode((const u8 *)"abcd", 4, encoded), 8);
	IS(base64_decode(encoded, 8, decoded, true, BASE64_STD), 4);
	IS(memcmp(decoded, "abcd", 4), 0);
}

static int __init every_init(void)
{
	heaps();
	cpus();
	lists();
	orders();
	numbers();
	texts();
	return result();
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
