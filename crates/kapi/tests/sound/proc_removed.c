// Nothing is wrong here: proc removed.
// do: cat /proc/sound/numbers
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

static int *numbers;

static void *start(struct seq_file *m, loff_t *at)
{
	return *at < 5 ? numbers + *at : NULL;
}

static void *next(struct seq_file *m, void *v, loff_t *at)
{
	++*at;
	return start(m, at);
}

static void stop(struct seq_file *m, void *v)
{
}

static int show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", *(int *)v);
	return 0;
}

static const struct seq_operations ops = { .start = start, .next = next, .stop = stop, .show = show };
static struct proc_dir_entry *folder;

static int __init begin(void)
{
	int i;

	numbers = kmalloc_array(5, sizeof(int), GFP_KERNEL);
	folder = proc_mkdir("sound", NULL);
	if (!numbers || !folder || !proc_create_seq("numbers", 0444, folder, &ops))
		return -ENOMEM;
	for (i = 0; i < 5; i++)
		numbers[i] = i * i;
	return 0;
}

static void __exit end(void)
{
	remove_proc_entry("numbers", folder);
	remove_proc_entry("sound", NULL);
	kfree(numbers);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
