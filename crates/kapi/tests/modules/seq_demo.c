/* A seq_file over more records than fit a page, with file_operations or proc_ops. */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/version.h>

static int records = 500;
module_param(records, int, 0);
static int *numbers;

static void *demo_start(struct seq_file *s, loff_t *pos)
{
	if (*pos >= records)
		return NULL;
	return numbers + *pos;
}

static void *demo_next(struct seq_file *s, void *v, loff_t *pos)
{
	(*pos)++;
	if (*pos >= records)
		return NULL;
	return numbers + *pos;
}

static void demo_stop(struct seq_file *s, void *v)
{
}

static int demo_show(struct seq_file *s, void *v)
{
	seq_printf(s, "record %d\n", *(int *)v);
	return 0;
}

static struct seq_operations demo_ops = {
	.start = demo_start,
	.next = demo_next,
	.stop = demo_stop,
	.show = demo_show
};

static int demo_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &demo_ops);
}

static int once_show(struct seq_file *m, void *v)
{
	seq_puts(m, "only once\n");
	return 0;
}

static int once_open(struct inode *inode, struct file *file)
{
	return single_open(file, once_show, NULL);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 6, 0)
static const struct file_operations demo_fops = {
	.owner = THIS_MODULE, .open = demo_open, .read = seq_read, .llseek = seq_lseek,
	.release = seq_release
};
static const struct file_operations once_fops = {
	.open = once_open, .read = seq_read, .llseek = seq_lseek, .release = single_release
};
#else
static const struct proc_ops demo_fops = {
	.proc_open = demo_open, .proc_read = seq_read, .proc_lseek = seq_lseek,
	.proc_release = seq_release
};
static const struct proc_ops once_fops = {
	.proc_open = once_open, .proc_read = seq_read, .proc_release = single_release
};
#endif

static struct proc_dir_entry *dir;

static int __init seq_demo_init(void)
{
	int i;

	numbers = kmalloc(records * sizeof(int), GFP_KERNEL);
	if (!numbers)
		return -ENOMEM;
	for (i = 0; i < records; i++)
		numbers[i] = i * i;
	dir = proc_mkdir("demo", NULL);
	proc_create("squares", 0444, dir, &demo_fops);
	proc_create("once", 0, NULL, &once_fops);
	return 0;
}

static void __exit seq_demo_exit(void)
{
	remove_proc_entry("squares", dir);
	remove_proc_entry("demo", NULL);
	remove_proc_entry("once", NULL);
	kfree(numbers);
}
module_init(seq_demo_init);
module_exit(seq_demo_exit);
MODULE_LICENSE("GPL");
