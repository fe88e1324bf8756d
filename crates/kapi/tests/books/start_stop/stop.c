/* The other: where it ends. */
#include <linux/kernel.h>
#include <linux/module.h>

extern int shared_by_both;

void cleanup_module(void)
{
	pr_info("stops: shared %d\n", shared_by_both);
}

MODULE_LICENSE("GPL");
