// Nothing is wrong here: an open file is closed.
#include <linux/module.h>
#include <linux/fs.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static struct proc_dir_entry *entry;

static int show(struct seq_file *m, void *v)
{
	seq_puts(m, "text\n");
	return 0;
}

static int __init begin(void)
{
	struct file *file;

	entry = proc_create_single("right", 0, NULL, show);
	file = filp_open("/proc/right", O_RDONLY, 0);
	if (IS_ERR(file)) {
		proc_remove(entry);
		return PTR_ERR(file);
	}
	filp_close(file, NULL);
	return 0;
}

static void __exit end(void)
{
	proc_remove(entry);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
