// sleep in atomic context: debugfs_create_dir() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/debugfs.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static struct dentry *folder;

static int __init begin(void)
{
	spin_lock(&lock);
	folder = debugfs_create_dir("planted", NULL); // in
	spin_unlock(&lock);
	debugfs_remove(folder);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
