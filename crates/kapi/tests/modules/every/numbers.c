/* Every macro about numbers, bits, bytes and text, with the value that it has to give. */
#include <linux/align.h>
#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/cache.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/stringhash.h>

#include "check.h"

struct pair {
	u32 first;
	u64 second;
	char rest[];
};
struct grouped {
	struct_group(both, int a; int b;);
	int c;
};
static DECLARE_BITMAP(map, 100);

/* What may stand where C wants a constant. */
static_assert(sizeof_field(struct pair, second) == 8);
static_assert(FIELD_SIZEOF(struct pair, first) == 4, "with a message");
static const int at_compile_time = BIT(3) | GENMASK(1, 0);
static char sized[round_up(100, 64) + DIV_ROUND_UP(10, 3) + ALIGN(5, 8) + BITS_TO_LONGS(65)];
static int by_macro[ARRAY_SIZE(sized) + BUILD_BUG_ON_ZERO(0) + KERNEL_VERSION(0, 0, 1)];
static const unsigned long powers[] = { roundup_pow_of_two(100), rounddown_pow_of_two(100), ilog2(64) };
static const int in_an_initialiser = order_base_2(1000);

void math(void)
{
	int minus = -7, five = 5;
	long long wide = -9;
	u64 big = 1000000007ULL;
	u32 rest;
	int a = 1, b = 2, __x = 30, __y = 40;
	unsigned int __divisor = 3;
	static char chosen[max(4, 8) + min(2, 3)];

	IS(abs(minus), 7);
	IS(abs((signed char)-128), 128);
	IS(abs(wide), 9);
	IS(abs(five - 12), 7);
	IS(abs(abs(minus) - 10), 3);
	IS(abs(3U - 5U), 2);
	IS(abs64(wide), 9);
	IS(abs_diff(3U, 5U), 2);
	IS(DIV_ROUND_CLOSEST(7, 2), 4);
	IS(DIV_ROUND_CLOSEST(minus, 2), -4);
	IS(DIV_ROUND_CLOSEST(10U, __divisor), 3);
	IS(DIV_ROUND_UP(7, 2), 4);
	IS(DIV_ROUND_UP_ULL(big, 10), 100000001);
	IS(DIV_ROUND_DOWN_ULL(big, 10), 100000000);
	IS(mult_frac(100, 3, 7), 42);
	IS(round_up(five, 4), 8);
	IS(round_down(five, 4), 4);
	IS(roundup(five, 3), 6);
	IS(rounddown(five, 3), 3);
	IS(__round_mask(five, 8), 7);
	IS(div64_long(-9L, 2L), -4);
	IS(div64_ul(9UL, 2UL), 4);
	rest = do_div(big, 10);
	IS(rest, 7);
	IS(sector_div(big, 10), 0);
	IS(clamp(five, 1, 3), 3);
	IS(clamp_t(long, five, 1, 3), 3);
	IS(clamp_val(five, 1, 3), 3);
	IS(max(a, b), 2);
	IS(min(a, b), 1);
	IS(max(max(a, five), min(b, five)), 5);
	IS(min(__x, __y), 30);
	IS(max_t(int, __y, __x), 40);
	IS(min_t(u8, five + 300, 50), 49);
	IS(min_t(int, __y, __x), 30);
	IS(max3(a, b, five), 5);
	IS(min3(a, b, five), 1);
	IS(min_not_zero(0, five), 5);
	swap(a, b);
	IS(a * 10 + b, 21);
	IS(order_base_2(1000UL), 10);
	IS(bits_per(8UL), 4);
	IS(upper_32_bits(0x1234567890abcdefULL), 0x12345678);
	IS(lower_32_bits(0x1234567890abcdefULL), 0x90abcdef);
	IS(upper_16_bits(0x12345678U), 0x1234);
	IS(lower_16_bits(0x12345678U), 0x5678);
	IS(REPEAT_BYTE(0x5a), 0x5a5a5a5a5a5a5a5aUL);
	IS(typecheck(int, a), 1);
	IS(PTR_IF(a == 5, &a), NULL);
	IS(u64_to_user_ptr(16), (void *)16);
	IS(is_signed_type(int), 1);
	IS(__type_half_max(s8), 64);
	IS(type_max(s16), 32767);
	IS(type_min(s8), -128);
	IS(check_add_overflow(S32_MAX, 1, &a), true);
	IS(check_sub_overflow(5, 3, &a), false);
	IS(check_mul_overflow(1 << 20, 1 << 20, &a), true);
	IS(check_shl_overflow(1, 31, &a), true);
	IS(check_shl_overflow(1, 30, &a), false);
	IS(array_size(SIZE_MAX, 2), SIZE_MAX);
	IS(array3_size(2, 3, 4), 24);
	IS(flex_array_size((struct pair *)NULL, rest, 5), 5);
	IS(struct_size((struct pair *)NULL, rest, 5), 21);
	IS(at_compile_time, 11);
	IS(powers[0] + powers[1] + powers[2], 198);
	IS(sizeof(chosen) + in_an_initialiser, 20);
	IS(sizeof(by_macro) / sizeof(int), 143);
}

void bits(void)
{
	unsigned long bit, sum = 0, word = 0xf0;

	IS(BIT(4) + BIT_ULL(5), 48);
	IS(BIT_MASK(65), 2);
	IS(BIT_WORD(65), 1);
	IS(GENMASK(7, 4), 0xf0);
	IS(GENMASK_ULL(35, 32), 0xf00000000ULL);
	IS(GENMASK_INPUT_CHECK(7, 4), 0);
	IS(__bf_shf(0xf0), 4);
	IS(FIELD_GET(GENMASK(7, 4), 0xab), 0xa);
	IS(FIELD_PREP(GENMASK(7, 4), 0xa), 0xa0);
	IS(FIELD_FIT(GENMASK(7, 4), 16), 0);
	IS(FIELD_MAX(GENMASK(7, 4)), 15);
	IS(ffz(word), 0);
	IS(fls_long(word), 8);
	IS(hweight8(0x1ff) + hweight16(0x1ffff) + hweight32(~0ULL) + hweight_long(word), 60);
	bitmap_set(map, 10, 3);
	IS(find_first_bit(map, 100), 10);
	IS(find_first_zero_bit(map, 100), 0);
	IS(find_first_and_bit(map, map, 100), 10);
	for_each_set_bit(bit, map, 100)
		sum += bit;
	bit = 11;
	for_each_set_bit_from(bit, map, 100)
		sum += bit;
	IS(sum, 33 + 23);
	sum = 0;
	for_each_clear_bit(bit, map, 100)
		sum++;
	IS(sum, 97);
	smp_mb__before_clear_bit();
	IS(test_and_set_bit_lock(10, map), true);
	smp_mb__after_clear_bit();
	IS(ALIGN(13, 8) + ALIGN_DOWN(13, 8), 24);
	IS(IS_ALIGNED(16, 8), true);
	IS(PTR_ALIGN((char *)13, 8) - PTR_ALIGN_DOWN((char *)13, 8), 8);
	IS(__ALIGN_KERNEL_MASK(13, 7), 16);
	IS(L1_CACHE_ALIGN(65), 128);
	IS(MAJOR(MKDEV(5, 6)) * 10 + MINOR(MKDEV(5, 6)), 56);
	IS(hash_long(1UL, 8), hash_64(1, 8));
	IS(jhash_1word(1, 2), jhash_3words(1, 0, 0, 2));
	IS(jhash_2words(1, 2, 3), jhash_3words(1, 2, 0, 3));
	IS(hashlen_hash(hashlen_create(7, 3)) + hashlen_len(hashlen_create(7, 3)), 10);
	IS(S_ISREG(S_IFREG) && S_ISDIR(S_IFDIR) && S_ISCHR(S_IFCHR), 1);
}

void texts(void)
{
	struct pair pair = { 1, 2 };
	struct grouped grouped = { .a = 1, .b = 2, .c = 3 };
	char text[16] = "  Kernel  ", c = 'k';
	unsigned long longs[2];
	void *pointers[2];

	IS(isalnum(c) && isalpha(c) && isascii(c) && isgraph(c) && islower(c) && isprint(c), 1);
	IS(iscntrl(c) || isdigit(c) || ispunct(c) || isspace(c) || isupper(c) || isxdigit(c), 0);
	IS(hex_asc_hi(0xab) + hex_asc_lo(0xab), 'a' + 'b');
	IS(strcmp(strstrip(text), "Kernel"), 0);
	IS(strnicmp("ABC", "abd", 2), 0);
	IS(str_has_prefix("kernel", "ker"), 3);
	IS(memset_l(longs, 5, 2) == longs && longs[1] == 5, 1);
	IS(memset_p(pointers, &pair, 2) == pointers && pointers[1] == &pair, 1);
	memset_after(&pair, 0, first);
	memset_startat(&grouped, 0, b);
	IS(pair.first + pair.second + grouped.both.a + grouped.b, 2);
	memzero(text, 4);
	memzero_explicit(text, sizeof(text));
	unsafe_memcpy(text, "ab", 3, "it fits");
	IS(text[1], 'b');
	IS(strcmp(str_true_false(true), "true"), 0);
	IS(strcmp(str_yes_no(true), "yes") || strcmp(str_on_off(false), "off"), 0);
	IS(strcmp(str_enabled_disabled(true), "enabled"), 0);
	IS(strcmp(__stringify(MAX_ERRNO), "4095"), 0);
	IS(strcmp(__stringify_1(a b), "a b"), 0);
	IS(offsetof(struct pair, second) + offsetofend(struct pair, first), 12);
	IS(container_of(&pair.second, struct pair, second), &pair);
	IS(container_of_const(&pair.second, struct pair, second)->first, 1);
	IS(IS_ERR_VALUE(-12L), true);
	IS(PTR_RET(NULL), 0);
}

#define counted_2(a, b) ((a) + (b))
void language(void)
{
	typeof_member(struct pair, second) second = 3;
	int value = 4, __UNIQUE_ID(name) __maybe_unused = 5;
	int ___PASTE(pas, ted) = 6, __PASTE(pasted, 2) = 7;

	IS(READ_ONCE(value) + __READ_ONCE(value) + ACCESS_ONCE(value) + data_race(value), 16);
	WRITE_ONCE(value, 5);
	OPTIMIZER_HIDE_VAR(value);
	barrier();
	barrier_data(&value);
	IS(RELOC_HIDE(&value, 0) == &value && likely(value) && likely_notrace(value), true);
	IS(unlikely(value == 6), false);
	IS(__same_type(value, pasted), 1);
	IS(__must_be_array(map) + __is_constexpr(3), 1);
	compiletime_assert(sizeof(value) == 4, "an int");
	BUILD_BUG_ON(sizeof(second) != 8);
	BUILD_BUG_ON_MSG(sizeof(second) != 8, "a u64");
	BUILD_BUG_ON_NOT_POWER_OF_2(8);
	BUILD_BUG_ON_INVALID(value);
	IS(BUILD_BUG_ON_NULL(0), NULL);
	IS(IS_ENABLED(CONFIG_SMP) + IS_BUILTIN(CONFIG_SMP) + IS_REACHABLE(CONFIG_SMP), 3);
	IS(IS_MODULE(CONFIG_SMP) + IS_ENABLED(CONFIG_NEVER_HEARD_OF), 0);
	IS(KAPI_ARGS(a, b, c) + KAPI_JOIN(1, 2), 15);
	IS(KAPI_BY_COUNT(counted_, 1, 2), 3);
	IS(_THIS_IP_ != 0 && _RET_IP_ != 0, true);
	switch (pasted + pasted2) {
	case 13:
		value++;
		fallthrough;
	case 14:
		break;
	default:
		unreachable();
	}
	if (value < 0)
		BUILD_BUG_ON(0);
}

static int __init every_init(void)
{
	math();
	bits();
	texts();
	language();
	return result();
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
