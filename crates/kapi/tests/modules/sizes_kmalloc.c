/*
 * How much does kmalloc give? In the style of a course exercise for 2.6: the probe is all in init,
 * which then fails on purpose so that the module need not be removed.
 */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/init.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/mm.h>

static int mode = 0;
module_param(mode, int, S_IRUGO);
MODULE_PARM_DESC(mode, "0 kmalloc, 1 __get_free_pages, 2 vmalloc");

static void *get(unsigned long size)
{
	if (mode == 0)
		return kmalloc(size, GFP_KERNEL);
	if (mode == 1)
		return (void *)__get_free_pages(GFP_KERNEL, get_order(size));
	return vmalloc(size);
}

static void put(void *p, unsigned long size)
{
	if (mode == 0)
		kfree(p);
	else if (mode == 1)
		free_pages((unsigned long)p, get_order(size));
	else
		vfree(p);
}

static int __init probe_init(void)
{
	unsigned long size;
	void *p;

	for (size = PAGE_SIZE; ; size *= 2) {
		p = get(size);
		if (!p) {
			printk(KERN_INFO "%lu bytes: failed\n", size);
			break;
		}
		printk(KERN_INFO "%lu bytes: OK at %p\n", size, p);
		put(p, size);
	}
	return -EPERM;
}
module_init(probe_init);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("slablab");
