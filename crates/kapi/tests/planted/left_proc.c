// left behind: the file of /proc `planted` is still there
#include <linux/module.h>
#include <linux/proc_fs.h>

static ssize_t nothing(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	return 0;
}

static const struct proc_ops ops = { .proc_read = nothing };

static int __init begin(void)
{
	return proc_create("planted", 0444, NULL, &ops) ? 0 : -ENOMEM; // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
