/* One of two sources: where the module begins. */
#include <linux/kernel.h>
#include <linux/module.h>

int shared_by_both = 1;

int init_module(void)
{
	pr_info("starts: this is the kernel speaking\n");
	shared_by_both++;
	return 0;
}

MODULE_LICENSE("GPL");
