// SPDX-License-Identifier: GPL-2.0-only
/*
 * xademo: an XArray filled from parameters, shown in /proc/xademo
 *
 * insmod xademo.ko index=7,1000,0 value=70,99,1 stores 70 at 7 and so on. A
 * second value for an index replaces the first. /proc/xademo has a line for each
 * entry, in ascending order of the index.
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#define ENTRIES_MAX	64

static unsigned long index[ENTRIES_MAX];
static unsigned int nr_index;
module_param_array(index, ulong, &nr_index, 0444);
MODULE_PARM_DESC(index, "where to store, up to 64");
static unsigned long value[ENTRIES_MAX];
static unsigned int nr_value;
module_param_array(value, ulong, &nr_value, 0444);
MODULE_PARM_DESC(value, "what to store, as many");

static DEFINE_XARRAY(array);

static int xademo_show(struct seq_file *m, void *unused)
{
	unsigned long at;
	void *entry;

	xa_for_each(&array, at, entry)
		seq_printf(m, "index=%lu value=%lu\n", at, xa_to_value(entry));
	return 0;
}

static int xademo_open(struct inode *inode, struct file *file)
{
	return single_open(file, xademo_show, NULL);
}

static const struct proc_ops xademo_ops = {
	.proc_open = xademo_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int fill(void)
{
	unsigned int i;

	for (i = 0; i < nr_index; i++) {
		void *old;

		if (value[i] > LONG_MAX) {
			pr_err("xademo: value=%lu is more than %ld\n", value[i],
			       LONG_MAX);
			return -EINVAL;
		}
		old = xa_store(&array, index[i], xa_mk_value(value[i]), GFP_KERNEL);
		if (xa_is_err(old))
			return xa_err(old);
		pr_info("xademo: index=%lu value=%lu %s\n", index[i], value[i],
			old ? "replaced" : "stored");
	}
	return 0;
}

static int __init xademo_init(void)
{
	int ret;

	if (nr_index != nr_value) {
		pr_err("xademo: %u of index, %u of value: give as many of both\n",
		       nr_index, nr_value);
		return -EINVAL;
	}
	ret = fill();
	if (!ret && !proc_create("xademo", 0444, NULL, &xademo_ops))
		ret = -ENOMEM;
	if (ret)
		xa_destroy(&array);
	return ret;
}

static void __exit xademo_exit(void)
{
	unsigned long at, entries = 0;
	void *entry;

	remove_proc_entry("xademo", NULL);
	xa_for_each(&array, at, entry)
		entries++;
	xa_destroy(&array);
	pr_info("xademo: entries=%lu destroyed\n", entries);
}

module_init(xademo_init);
module_exit(xademo_exit);
MODULE_DESCRIPTION("An XArray filled from parameters, shown in /proc");
MODULE_LICENSE("GPL");
