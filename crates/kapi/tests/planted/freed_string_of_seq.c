// read of freed memory: `%s` of
// do: cat /proc/planted
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static char *name;

static int show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", name); // in
	return 0;
}

static int __init begin(void)
{
	name = kstrdup("planted", GFP_KERNEL); // allocated by
	kfree(name); // freed before by
	return proc_create_single("planted", 0444, NULL, show) ? 0 : -ENOMEM;
}

static void __exit end(void)
{
	remove_proc_entry("planted", NULL);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
