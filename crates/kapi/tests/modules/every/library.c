/* Every macro of libraries: searches, pieces of memory, sums, codes, addresses of sockets, maps of bits, resources of cases. */
#include <asm/checksum.h>
#include <asm/cpufeature.h>
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/crc32.h>
#include <linux/ctype.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/kfifo.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/objpool.h>
#include <linux/overflow.h>
#include <linux/parman.h>
#include <linux/ref_tracker.h>
#include <linux/rslib.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/textsearch.h>
#include <linux/textsearch_fsm.h>
#include <net/ip6_checksum.h>

#include "check.h"

static void searches(void)
{
	struct ts_config *conf = textsearch_prepare("bf", "Lab", 3, GFP_KERNEL, TS_AUTOLOAD | TS_IGNORECASE);
	struct ts_state state;

	IS(IS_ERR(conf), false);
	IS(textsearch_find_continuous(conf, &state, "a slab of labs", 14), 3);
	IS(textsearch_next(conf, &state), 10);
	IS(textsearch_next(conf, &state), UINT_MAX);
	IS(textsearch_get_pattern_len(conf), 3);
	IS(memcmp(textsearch_get_pattern(conf), "Lab", 3), 0);
	textsearch_destroy(conf);
	IS(PTR_ERR(textsearch_prepare("none", "x", 1, GFP_KERNEL, 0)), -ENOENT);
	IS(TS_PRIV_ALIGN(9), 2 * TS_PRIV_ALIGNTO);
	IS(TS_FSM_TYPE_MAX, TS_FSM_SPACE);
	IS(TS_FSM_RECUR_MAX, TS_FSM_HEAD_IGNORE);
}

static void pieces(void)
{
	char *a = kmalloc(16, GFP_KERNEL), *b = kmalloc(16, GFP_KERNEL), back[8];
	struct scatterlist sg[3], more[2], *at;
	struct sg_table table;
	unsigned int i, n = 0;

	sg_init_table(sg, 3);
	sg_init_table(more, 2);
	sg_set_buf(&sg[0], a, 3);
	sg_set_buf(&sg[1], b, 2);
	sg_set_buf(&more[0], a + 8, 2);
	sg_set_buf(&more[1], b + 8, 1);
	sg_chain(sg, 3, more);
	IS(!!sg_is_chain(&sg[2]), true);
	IS(sg_chain_ptr(&sg[2]), more);
	IS(sg_nents(sg), 4);
	IS(sg_copy_from_buffer(sg, 4, "slablab", 8), 8);
	IS(memcmp(a, "sla", 3) + memcmp(b, "bl", 2) + memcmp(a + 8, "ab", 2), 0);
	IS(sg_pcopy_to_buffer(sg, 4, back, 8, 4), 4);
	IS(strcmp(back, "lab"), 0);
	IS(!!sg_is_last(sg_last(sg, 4)), true);
	sg[0].dma_address = 4096;
	sg[0].dma_length = 3;
	IS(sg_dma_address(sg) + sg_dma_len(sg), 4099);
	for_each_sg(sg, at, 4, i)
		n += at->length;
	IS(n, 8);
	IS(sg_alloc_table(&table, 2, GFP_KERNEL), 0);
	for_each_sgtable_sg(&table, at, i)
		sg_set_page(at, virt_to_page(a), 1, 0);
	IS(sg_page(table.sgl), virt_to_page(a));
	IS(table.sgl[1].page_link & SG_PAGE_LINK_MASK, SG_END);
	IS(table.sgl[0].page_link & SG_CHAIN, 0);
	IS(SG_MAX_SINGLE_ALLOC, PAGE_SIZE / sizeof(struct scatterlist));
	sg_free_table(&table);
	kfree(a);
	kfree(b);
}

static void rings(void)
{
	struct scatterlist sg[2];
	struct kfifo fifo;

	IS(kfifo_alloc(&fifo, 16, GFP_KERNEL), 0);
	sg_init_table(sg, 2);
	IS(kfifo_dma_in_prepare(&fifo, sg, 2, 8), 1);
	memcpy(sg_virt(sg), "slablabs", 8);
	kfifo_dma_in_finish(&fifo, 7);
	IS(kfifo_len(&fifo), 7);
	IS(kfifo_dma_out_prepare(&fifo, sg, 2, 4), 1);
	IS(memcmp(sg_virt(sg), "slab", 4), 0);
	kfifo_dma_out_finish(&fifo, 4);
	IS(kfifo_len(&fifo), 3);
	kfifo_free(&fifo);
}

static void sums(void)
{
	static const u8 head[] __aligned(4) = { 0x45, 0, 0, 0x3c, 0x1c, 0x46, 0x40, 0, 0x40, 6, 0xb1, 0xe6, 0xac, 0x10, 10, 99,
						0xac, 0x10, 10, 12 };
	struct in6_addr nobody = { .s6_addr = { 0 } };
	u32 first = crc32_le(~0U, "slab", 4);

	/* The sum of a head that has its sum in it is none. */
	IS(ip_fast_csum(head, 5), 0);
	IS(csum_ipv6_magic(&nobody, &nobody, 0, 0, 0), 0xffff);
	IS(nobody.s6_addr32[3] + nobody.s6_addr16[7], 0);
	IS(AF_INET + AF_INET6 + AF_UNSPEC + AF_UNIX + AF_NETLINK, 29);
	IS(crc32_le_combine(first, crc32_le(0, "lab", 3), 3), crc32_le(~0U, "slablab", 7));
	IS(__crc32c_le_combine(crc32c(1, "s", 1), crc32c(0, "l", 1), 1), crc32c(1, "sl", 2));
	IS(crc32_le_shift(first, 1), crc32_le(first, "", 1));
	IS(__crc32c_le_shift(first, 1), crc32c(first, "", 1));
	IS(boot_cpu_has(X86_FEATURE_TSC) + cpu_has(0, X86_FEATURE_CX8) + static_cpu_has(X86_FEATURE_LM), 3);
	IS(boot_cpu_has(X86_FEATURE_XMM) + boot_cpu_has(X86_FEATURE_XMM2), 2);
}

static void codes(void)
{
	struct rs_control *rs = init_rs(8, 0x11d, 0, 1, 4);
	u8 data[6] = "slabl";
	u16 par[4] = { 0 };

	IS(encode_rs8(rs, data, 6, par, 0), 0);
	data[1] ^= 9;
	data[4] = 0;
	IS(decode_rs8(rs, data, par, 6, NULL, 0, NULL, 0, NULL), 2);
	IS(strcmp((char *)data, "slabl"), 0);
	free_rs(rs);
}

static void bits(void)
{
	DECLARE_BITMAP(map, 128);
	unsigned long clump, bit, end, n = 0;
	char text[64];

	IS(bitmap_parselist("0-3,8,64-71:1/2", map, 128), 0);
	IS(bitmap_weight(map, 128), 9);
	IS(bitmap_print_list_to_buf(text, map, 128, 0, sizeof(text)), 19);
	IS(strcmp(text, "0-3,8,64,66,68,70\n"), 0);
	IS(bitmap_parse("1,00000002", 10, map, 128), 0);
	IS(map[0], 0x100000002UL);
	bitmap_write(map, 0x5, 62, 3);
	IS(bitmap_read(map, 62, 3), 5);
	for_each_set_bit_wrap(bit, map, 128, 40)
		n = n * 100 + bit;
	IS(n, 62640132);
	n = 0;
	for_each_set_bitrange(bit, end, map, 128)
		n += end - bit;
	IS(n, 4);
	bit = 60;
	for_each_set_bitrange_from(bit, end, map, 128)
		n += end - bit;
	IS(n, 6);
	for_each_clear_bitrange(bit, end, map, 128)
		n += end - bit;
	IS(n, 6 + 124);
	bit = 120;
	for_each_clear_bitrange_from(bit, end, map, 128)
		n += end - bit;
	bit = 126;
	for_each_clear_bit_from(bit, map, 128)
		n++;
	IS(n, 6 + 124 + 8 + 2);
	n = 0;
	for_each_set_clump8(bit, clump, map, 128)
		n += clump;
	IS(n, 2 + 1 + 64 + 1);
	IS(find_first_clump8(&clump, map, 128), 0);
	IS(BITMAP_FIRST_WORD_MASK(60) ^ BITMAP_LAST_WORD_MASK(60), ~0UL);
	IS(bitmap_size(65), 16);
	IS(BITMAP_FROM_U64(7), 7);
	IS(small_const_nbits(64) && !small_const_nbits(65), true);
}

struct flexible {
	u8 count;
	u16 more[];
};

static void sizes(void)
{
	DEFINE_FLEX(struct flexible, counted, more, count, 3);
	DEFINE_RAW_FLEX(struct flexible, raw, more, 2);
	_DEFINE_FLEX(struct flexible, plain, more, 1, = {});
	u8 small = 250;

	IS(counted->count, 3);
	IS(raw->count + plain->count, 0);
	IS(__struct_size(counted) >= struct_size_t(struct flexible, more, 3), true);
	IS(__member_size(&counted->count) >= sizeof(u8), true);
	IS(STACK_FLEX_ARRAY_SIZE(raw, more) >= 2, true);
	IS(sizeof(char[struct_size_t(struct flexible, more, 4)]), 10);
	IS(wrapping_add(u8, 250, 10) + wrapping_sub(u8, 1, 2) + wrapping_mul(u8, 16, 16), 4 + 255);
	IS(wrapping_assign_add(small, 7), 1);
	IS(wrapping_assign_sub(small, 2), 255);
	IS(overflows_type(256, u8) + __overflows_type(small, s8) + __overflows_type_constexpr(255, u8), 2);
	IS(castable_to_type(small, u8) + castable_to_type(300, u8), 1);
	IS(_U | _L | _D | _C | _P | _S | _X | _SP, 0xff);
	IS(TAINT_TEST, 18);
	trace_puts("traced\n");
}

static int refs_and_pools(void)
{
	struct ref_tracker_dir dir;
	struct ref_tracker *tracker;
	struct objpool_head pool;
	void *object;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	ref_tracker_dir_init(&dir, 2, "every");
#else
	ref_tracker_dir_init(&dir, 2);
#endif
	IS(ref_tracker_alloc(&dir, &tracker, GFP_KERNEL), 0);
	IS(ref_tracker_free(&dir, &tracker), 0);
	ref_tracker_dir_exit(&dir);
	IS(objpool_init(&pool, 2, 24, GFP_KERNEL, NULL, NULL, NULL), 0);
	object = objpool_pop(&pool);
	IS(objpool_pop(&pool) != object, true);
	IS(objpool_pop(&pool), NULL);
	IS(objpool_push(object, &pool), 0);
	IS(objpool_pop(&pool), object);
	objpool_fini(&pool);
	IS(objpool_drop(object, &pool), -EAGAIN);
	IS(objpool_drop(object, &pool), 0);
	IS(PROT_NONE | PROT_READ | PROT_WRITE | PROT_EXEC, 7);
	IS(MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, 51);
	return result();
}

static void compares(struct kunit *test)
{
	static int number = 7;
	static struct kunit_resource res;
	struct kunit_resource *found;

	KUNIT_EXPECT_MEMNEQ(test, "slab", "slob", 4);
	KUNIT_EXPECT_MEMNEQ_MSG(test, "slab", "slob", 4, "they differ");
	KUNIT_ASSERT_MEMNEQ(test, "slab", "slob", 4);
	KUNIT_ASSERT_MEMNEQ_MSG(test, "slab", "slob", 4, "they differ");
	KUNIT_ASSERT_EQ(test, kunit_add_named_resource(test, NULL, NULL, &res, "number", &number), 0);
	found = kunit_find_named_resource(test, "number");
	KUNIT_ASSERT_PTR_EQ(test, found, &res);
	kunit_put_resource(found);
	KUNIT_EXPECT_NE(test, kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ, MAP_ANONYMOUS, 0), 0);
	if (number != 7)
		KUNIT_FAIL_AND_ABORT(test, "it is %d", number);
}

static struct kunit_case cases[] = { KUNIT_CASE(compares), {} };
static struct kunit_suite suite = { .name = "compares", .test_cases = cases };
static struct kunit_suite second = { .name = "again", .test_cases = cases };
static struct kunit_suite third = { .name = "once more", .test_cases = cases };
kunit_test_suites(&suite);
kunit_test_init_section_suites(&second);
kunit_test_init_section_suite(third);

static int __init start(void)
{
	searches();
	pieces();
	rings();
	sums();
	codes();
	bits();
	sizes();
	return refs_and_pools();
}

static void __exit stop(void)
{
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
