/* A queue of bytes and one of records behind files of /proc, as the kernel's own samples and books use them. */
#include <linux/init.h>
#include <linux/kfifo.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#define FIFO_SIZE 32
static DEFINE_MUTEX(read_access);
static DEFINE_MUTEX(write_access);
static DEFINE_KFIFO(test, unsigned char, FIFO_SIZE);
static struct kfifo_rec_ptr_1 records;
static DEFINE_SPINLOCK(ints_lock);
static DECLARE_KFIFO_PTR(ints, int);

static ssize_t fifo_write(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	unsigned int copied;
	int ret;

	if (mutex_lock_interruptible(&write_access))
		return -ERESTARTSYS;
	ret = kfifo_from_user(&test, buf, count, &copied);
	mutex_unlock(&write_access);
	return ret ? ret : copied;
}

static ssize_t fifo_read(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	unsigned int copied;
	int ret;

	if (mutex_lock_interruptible(&read_access))
		return -ERESTARTSYS;
	ret = kfifo_to_user(&test, buf, count, &copied);
	mutex_unlock(&read_access);
	return ret ? ret : copied;
}

static const struct proc_ops fifo_proc_ops = {
	.proc_read = fifo_read,
	.proc_write = fifo_write,
	.proc_lseek = noop_llseek,
};

static int __init test_bytes(void)
{
	unsigned char buf[6];
	unsigned int i;

	kfifo_in(&test, "hello", 5);
	for (i = 0; i != 9; i++)
		kfifo_put(&test, i);
	pr_info("length %u, avail %u, size %u\n", kfifo_len(&test), kfifo_avail(&test), kfifo_size(&test));
	i = kfifo_out(&test, buf, 5);
	pr_info("out %u: %.*s\n", i, i, buf);
	i = kfifo_out(&test, buf, 2);
	kfifo_in(&test, buf, i);
	kfifo_skip(&test);
	pr_info("peek %d %u, full %d\n", kfifo_peek(&test, buf), buf[0], kfifo_is_full(&test));
	kfifo_reset(&test);
	return 0;
}

static int __init test_others(void)
{
	char text[16];
	unsigned int n;
	int value;

	if (kfifo_alloc(&records, 64, GFP_KERNEL) || kfifo_alloc(&ints, 5, GFP_KERNEL))
		return -ENOMEM;
	kfifo_in(&records, "first", 5);
	kfifo_in(&records, "second one", 10);
	pr_info("record of %u\n", kfifo_peek_len(&records));
	while (!kfifo_is_empty(&records)) {
		n = kfifo_out(&records, text, sizeof(text));
		pr_info("record %.*s\n", n, text);
	}
	for (value = 1; kfifo_put(&ints, value * value); value++)
		;
	n = kfifo_out_spinlocked(&ints, &value, 1, &ints_lock);
	pr_info("ints: room for %u, first %d, got %d\n", kfifo_size(&ints), value, n);
	if (kfifo_get(&ints, &value))
		pr_info("then %d\n", value);
	kfifo_free(&ints);
	kfifo_free(&records);
	return 0;
}

static int __init fifo_init(void)
{
	if (test_bytes() || test_others())
		return -EIO;
	return proc_create("bytestream-fifo", 0, NULL, &fifo_proc_ops) ? 0 : -ENOMEM;
}

static void __exit fifo_exit(void)
{
	remove_proc_entry("bytestream-fifo", NULL);
}

module_init(fifo_init);
module_exit(fifo_exit);
MODULE_LICENSE("GPL");
