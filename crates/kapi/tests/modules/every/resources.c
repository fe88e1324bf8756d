/* Ranges of addresses in a tree, and dates of clocks. */
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/rtc.h>
#include <linux/slab.h>
#include "check.h"

#define BASE 0x100000

static void regions(void)
{
	struct resource *outer = request_mem_region(BASE, 0x1000, "outer");
	struct resource *port = request_region(0x60, 1, "port"), *free;
	struct resource window = { .start = BASE - 0x1000, .end = BASE + 0x1fff, .flags = IORESOURCE_MEM, .name = "window" };
	struct resource inner = { .start = BASE + 0x10, .end = BASE + 0x1f, .name = "inner" };

	IS(outer && resource_size(outer) == 0x1000, true);
	IS(request_mem_region(BASE + 0xfff, 2, "over the end"), NULL);
	IS(request_mem_region(BASE, 0x10, "in one that is busy"), NULL);
	IS(request_resource(&iomem_resource, &window), -EBUSY);
	IS(insert_resource(&iomem_resource, &window), 0);
	IS(outer->parent, &window);
	IS(insert_resource(&iomem_resource, &inner), 0);
	IS(inner.parent, outer);
	IS(region_intersects(BASE, 0x1000, IORESOURCE_BUSY, IORES_DESC_NONE), REGION_INTERSECTS);
	IS(region_intersects(BASE - 0x10, 0x20, IORESOURCE_BUSY, IORES_DESC_NONE), REGION_MIXED);
	IS(region_intersects(BASE - 0x20, 0x10, IORESOURCE_BUSY, IORES_DESC_NONE), REGION_DISJOINT);
	IS(release_resource(&inner), 0);
	IS(release_resource(&inner), -EINVAL);
	IS(remove_resource(&window), 0);
	IS(outer->parent, &iomem_resource);
	free = alloc_free_mem_region(&iomem_resource, 0x2000, 0x1000, "free");
	IS(!IS_ERR(free) && free->end == iomem_resource.end && !(free->start & 0xfff), true);
	IS(remove_resource(free), 0);
	kfree(free);
	release_mem_region(BASE, 0x1000);
	IS(port && port->flags & IORESOURCE_IO, true);
	release_region(0x60, 1);
	IS(iomem_resource.child || ioport_resource.child, false);
}

static void dates(void)
{
	/* 2000-02-29 23:59:58 was a Tuesday. */
	struct rtc_time tm = { .tm_year = 100, .tm_mon = 1, .tm_mday = 29, .tm_hour = 23, .tm_min = 59, .tm_sec = 58 }, back;

	IS(rtc_valid_tm(&tm), 0);
	IS(rtc_tm_to_time64(&tm), 951868798);
	rtc_time64_to_tm(951868798, &back);
	IS(back.tm_year == 100 && back.tm_mon == 1 && back.tm_mday == 29 && back.tm_wday == 2 && back.tm_yday == 60, true);
	back = rtc_ktime_to_tm(rtc_tm_to_ktime(tm) + 1);
	IS(back.tm_sec, 59);
	IS(rtc_tm_sub(&back, &tm), 1);
	tm.tm_year = 101;
	IS(rtc_valid_tm(&tm), -EINVAL);
	IS(rtc_month_days(6, 2001) + rtc_month_days(8, 2001) + rtc_month_days(11, 2001), 92);
	IS(rtc_year_days(31, 11, 2000), 365);
	IS(mktime64(1969, 12, 31, 23, 59, 59), -1);
}

static int __init resources_init(void)
{
	regions();
	dates();
	return result();
}
module_init(resources_init);
MODULE_LICENSE("GPL");
