// left behind: the open file `/proc/planted` is still there
#include <linux/module.h>
#include <linux/fs.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static struct proc_dir_entry *entry;
static struct file *file;

static int show(struct seq_file *m, void *v)
{
	return 0;
}

static int __init begin(void)
{
	entry = proc_create_single("planted", 0, NULL, show);
	file = filp_open("/proc/planted", O_RDONLY, 0); // in
	return PTR_ERR_OR_ZERO(file);
}

static void __exit end(void)
{
	proc_remove(entry);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
