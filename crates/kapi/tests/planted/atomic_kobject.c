// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a spinlock
#include <linux/module.h>
#include <linux/kobject.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static struct kobject *folder;

static int __init begin(void)
{
	spin_lock(&lock);
	folder = kobject_create_and_add("planted", NULL); // in
	spin_unlock(&lock);
	kobject_put(folder);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
