/* A module that others stand on: it exports a function, a value, and what only free modules may use. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

MODULE_LICENSE("Dual MIT/GPL");

int exp_int = 200;
EXPORT_SYMBOL_GPL(exp_int);
static int users;

u32 llkd_sysinfo2(char *buf, size_t room)
{
	users++;
	return scnprintf(buf, room, "page size %lu, %u CPUs, user %d", PAGE_SIZE, nr_cpu_ids, users);
}
EXPORT_SYMBOL(llkd_sysinfo2);

long get_skey(int p)
{
	if (p)
		return 0x123abc567def;
	return -1;
}
EXPORT_SYMBOL_GPL(get_skey);

static int __init core_lkm_init(void)
{
	pr_info("inserted\n");
	return 0;
}

static void __exit core_lkm_exit(void)
{
	pr_info("bids you adieu, %d users\n", users);
}

module_init(core_lkm_init);
module_exit(core_lkm_exit);
