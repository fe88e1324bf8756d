// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a spinlock
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static char *text;

static int __init begin(void)
{
	spin_lock(&lock);
	text = kstrdup("planted", GFP_KERNEL); // in
	spin_unlock(&lock);
	kfree(text);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
