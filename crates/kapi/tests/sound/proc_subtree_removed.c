// Nothing is wrong here: proc subtree removed.
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static int show(struct seq_file *m, void *v)
{
	seq_puts(m, "x\n");
	return 0;
}

static int __init begin(void)
{
	struct proc_dir_entry *folder = proc_mkdir("sound", NULL);

	proc_create_single("a", 0444, folder, show);
	proc_create_single("b", 0444, folder, show);
	return folder ? 0 : -ENOMEM;
}

static void __exit end(void)
{
	remove_proc_subtree("sound", NULL);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
