/* Files of /proc by seq_file: an iterator with a header, one over a list, a single one, and one of a few records. */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

struct word {
	const char *text;
	struct list_head list;
};

static unsigned int limit = 6;
module_param(limit, uint, 0444);
static LIST_HEAD(words);
static DEFINE_MUTEX(words_lock);
static struct proc_dir_entry *folder;

static void *square_start(struct seq_file *s, loff_t *pos)
{
	if (*pos == 0)
		return SEQ_START_TOKEN;
	return *pos <= limit ? pos : NULL;
}

static void *square_next(struct seq_file *s, void *v, loff_t *pos)
{
	++*pos;
	return square_start(s, pos);
}

static void square_stop(struct seq_file *s, void *v)
{
}

static int square_show(struct seq_file *s, void *v)
{
	loff_t n;

	if (v == SEQ_START_TOKEN) {
		seq_printf(s, "%4s%8s\n", "n", "n*n");
		return 0;
	}
	n = *(loff_t *)v;
	if (n == 3)
		return SEQ_SKIP;
	seq_printf(s, "%4lld%8lld\n", n, n * n);
	return 0;
}

static const struct seq_operations square_seq_ops = {
	.start = square_start,
	.next = square_next,
	.stop = square_stop,
	.show = square_show,
};

static int square_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &square_seq_ops);
}

static const struct proc_ops square_proc_ops = {
	.proc_open = square_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = seq_release,
};

static void *word_start(struct seq_file *s, loff_t *pos)
{
	mutex_lock(&words_lock);
	return seq_list_start(&words, *pos);
}

static void *word_next(struct seq_file *s, void *v, loff_t *pos)
{
	return seq_list_next(v, &words, pos);
}

static void word_stop(struct seq_file *s, void *v)
{
	mutex_unlock(&words_lock);
}

static int word_show(struct seq_file *s, void *v)
{
	struct word *word = list_entry(v, struct word, list);

	seq_puts(s, word->text);
	seq_putc(s, list_is_last(&word->list, &words) ? '.' : ',');
	seq_pad(s, '\n');
	return 0;
}

static const struct seq_operations word_seq_ops = { word_start, word_stop, word_next, word_show };

static int sum_show(struct seq_file *s, void *v)
{
	unsigned int *upto = s->private, n, sum = 0;

	for (n = 1; n <= *upto; n++)
		sum += n * n;
	seq_setwidth(s, 20);
	seq_printf(s, "sum %u", sum);
	seq_pad(s, '|');
	seq_put_decimal_ull(s, " ", sum);
	seq_putc(s, '\n');
	seq_escape(s, "a\tb\n", "\t\n");
	seq_hex_dump(s, "\n", DUMP_PREFIX_OFFSET, 16, 1, "squares", 7, true);
	return 0;
}

static int sum_open(struct inode *inode, struct file *file)
{
	return single_open(file, sum_show, pde_data(inode));
}

static const struct proc_ops sum_proc_ops = {
	.proc_open = sum_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int count_show(struct seq_file *s, void *v)
{
	struct list_head *at;
	int count = 0;

	list_for_each(at, &words)
		count++;
	seq_printf(s, "%d\n", count);
	return 0;
}

static int __init squares_init(void)
{
	static const char *const texts[] = { "one", "two", "three" };
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		struct word *word = kmalloc(sizeof(*word), GFP_KERNEL);

		if (!word)
			return -ENOMEM;
		word->text = texts[i];
		list_add_tail(&word->list, &words);
	}
	folder = proc_mkdir("squares", NULL);
	if (!folder)
		return -ENOMEM;
	proc_create("table", 0, folder, &square_proc_ops);
	proc_create_seq("words", 0444, folder, &word_seq_ops);
	proc_create_data("sum", 0444, folder, &sum_proc_ops, &limit);
	proc_create_single("count", 0, folder, count_show);
	return 0;
}

static void __exit squares_exit(void)
{
	struct word *word, *next;

	remove_proc_subtree("squares", NULL);
	list_for_each_entry_safe(word, next, &words, list) {
		list_del(&word->list);
		kfree(word);
	}
}

module_init(squares_init);
module_exit(squares_exit);
MODULE_LICENSE("Dual BSD/GPL");
