/* What stands on it: init runs behind the other's, exit before it. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>

MODULE_LICENSE("Dual MIT/GPL");
MODULE_SOFTDEP("pre: core_lkm");

extern u32 llkd_sysinfo2(char *buf, size_t room);
extern long get_skey(int);
extern int exp_int;
static int users = 77;

static int __init user_lkm_init(void)
{
	char text[64];
	u32 len = llkd_sysinfo2(text, sizeof(text));

	pr_info("%s (%u), own users %d\n", text, len, users);
	pr_info("key 0x%lx, exp_int %d\n", get_skey(1), exp_int);
	exp_int += 10;
	return 0;
}

static void __exit user_lkm_exit(void)
{
	pr_info("exp_int %d\n", exp_int);
}

module_init(user_lkm_init);
module_exit(user_lkm_exit);
