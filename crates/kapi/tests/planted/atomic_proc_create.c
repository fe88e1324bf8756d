// sleep in atomic context: proc_create() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static const struct proc_ops ops;

static int __init begin(void)
{
	spin_lock(&lock);
	proc_create("planted", 0444, NULL, &ops); // in
	spin_unlock(&lock);
	remove_proc_entry("planted", NULL);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
