// sleep in atomic context: filp_open() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static struct file *file;

static int __init begin(void)
{
	spin_lock(&lock);
	file = filp_open("/proc/no_such_file", O_RDONLY, 0); // in
	spin_unlock(&lock);
	if (!IS_ERR(file))
		filp_close(file, NULL);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
