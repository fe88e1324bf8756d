/* Every macro of probes, live patches, values under /proc/sys, packed fields, rates, calls by other threads, and cases that
 * have more than expectations. */
#include <kunit/test.h>
#include <kunit/visibility.h>
#include <linux/async.h>
#include <linux/bitmap.h>
#include <linux/dim.h>
#include <linux/kprobes.h>
#include <linux/livepatch.h>
#include <linux/packing.h>
#include <linux/platform_device.h>
#include <linux/sysctl.h>

static int value = 5, calls;
static struct ctl_table table[] = {
	{ .procname = "value", .data = &value, .maxlen = sizeof(value), .mode = 0644, .proc_handler = proc_dointvec_minmax,
	  .extra1 = SYSCTL_ONE, .extra2 = SYSCTL_ONE_HUNDRED },
	{}
};
static struct ctl_table stays[] = {
	{ .procname = "stays", .data = &value, .maxlen = sizeof(value), .mode = 0444, .proc_handler = proc_dointvec },
	{}
};

VISIBLE_IF_KUNIT int seen(void) { return 3; }
EXPORT_SYMBOL_IF_KUNIT(seen);
NOKPROBE_SYMBOL(seen);

static ASYNC_DOMAIN(domain);
static ASYNC_DOMAIN_EXCLUSIVE(own_domain);
static void called(void *data, async_cookie_t cookie) { __sync_fetch_and_add((int *)data, 1); }

struct fields {
	u8 low;
	u16 high;
};
static const struct packed_field_u8 packed[] = {
	PACKED_FIELD(15, 4, struct fields, high),
	PACKED_FIELD(3, 0, struct fields, low),
};

static int nothing(void) { return 0; }
static struct klp_func functions[] = { { .old_name = "a", .new_func = nothing }, {} };
static struct klp_object objects[] = { { .funcs = functions }, {} };
static struct klp_patch patch = { .objs = objects };

static void the_rest(struct kunit *test)
{
	struct fields from = { .low = 0x5, .high = 0x123 }, to = {};
	unsigned long one[] = { 0xc }, other[] = { 0x4 };
	struct ctl_table_header *header = register_sysctl("kapi", table);
	struct platform_driver driver = {};
	struct device dev = {};
	struct klp_object *obj;
	struct klp_func *func;
	u8 buffer[2] = {};
	int count = 0;

	KUNIT_EXPECT_NOT_NULL(test, header);
	unregister_sysctl_table(header);
	register_sysctl_init("kapi_stays", stays);
	async_schedule_domain(called, &calls, &domain);
	async_schedule_domain(called, &calls, &own_domain);
	async_schedule(called, &calls);
	async_synchronize_full();
	KUNIT_EXPECT_EQ(test, calls, 3);
	pack_fields(buffer, sizeof(buffer), &from, packed, 0);
	KUNIT_EXPECT_EQ(test, buffer[0] << 8 | buffer[1], 0x1235);
	unpack_fields(buffer, sizeof(buffer), &to, packed, 0);
	KUNIT_EXPECT_EQ(test, to.high, 0x123);
	KUNIT_EXPECT_EQ(test, find_first_andnot_bit(one, other, 8), 3);
	KUNIT_EXPECT_TRUE(test, IS_SIGNIFICANT_DIFF(120, 100));
	KUNIT_EXPECT_EQ(test, BIT_GAP(8, 2ULL, 255ULL), 3);
	klp_for_each_object_static(&patch, obj)
		klp_for_each_func_static(obj, func)
			count++;
	KUNIT_EXPECT_EQ(test, count, 1);
	KUNIT_EXPECT_PTR_EQ(test, to_platform_driver(&driver.driver), &driver);
	KUNIT_EXPECT_FALSE(test, dev_is_platform(&dev));
	kunit_warning_suppress(test) {
		WARN(1, "not told");
		KUNIT_EXPECT_SUPPRESSED_WARNING_COUNT(test, 1);
		KUNIT_EXPECT_EQ(test, KUNIT_SUPPRESSED_WARNING_COUNT(), 1);
	}
}

static int ended;
KUNIT_DEFINE_ACTION_WRAPPER(end, kfree, const void *)

static const int values[] = { 1, 2 };
static const void *next_value(KAPI_KUNIT_CASE const void *prev, char *desc)
{
	const int *at = prev ? (const int *)prev + 1 : values;

	return at < values + ARRAY_SIZE(values) ? at : NULL;
}

static int before(struct kunit *test)
{
	kunit_register_params_array(test, values, ARRAY_SIZE(values), NULL);
	return kunit_add_action(test, end, kmalloc(8, GFP_KERNEL));
}

static void behind(struct kunit *test) { ended++; }
static void each_value(struct kunit *test) { KUNIT_EXPECT_GT(test, *(const int *)test->param_value, 0); }

static struct kunit_case cases[] = {
	KUNIT_CASE(the_rest),
	KUNIT_CASE_PARAM_WITH_INIT(each_value, next_value, before, behind),
	{}
};
static struct kunit_suite suite = { .name = "every_probe", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
