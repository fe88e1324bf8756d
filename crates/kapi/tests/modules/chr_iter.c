/* A device with nothing but read_iter and write_iter, and numbers from a user's text. */
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

static char text[32];
static size_t used;
static int number;

static ssize_t iter_read(struct kiocb *iocb, struct iov_iter *to)
{
	size_t n;

	if (iocb->ki_pos >= used)
		return 0;
	n = copy_to_iter(text + iocb->ki_pos, min(used - (size_t)iocb->ki_pos, iov_iter_count(to)), to);
	iocb->ki_pos += n;
	return n;
}

static ssize_t iter_write(struct kiocb *iocb, struct iov_iter *from)
{
	size_t n = iov_iter_count(from);

	if (n > sizeof(text))
		return -ENOSPC;
	if (!copy_from_iter_full(text, n, from))
		return -EFAULT;
	used = n;
	return n;
}

static const struct file_operations iter_fops = {
	.owner = THIS_MODULE, .read_iter = iter_read, .write_iter = iter_write, .llseek = noop_llseek
};
static struct miscdevice iter_device = { .minor = MISC_DYNAMIC_MINOR, .name = "iter", .fops = &iter_fops };

static ssize_t number_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int error = kstrtoint_from_user(buf, count, 0, &number);

	return error ? error : count;
}

static ssize_t number_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	char line[16];

	return simple_read_from_buffer(buf, count, pos, line, scnprintf(line, sizeof(line), "%d\n", number));
}

static const struct proc_ops number_ops = { .proc_read = number_read, .proc_write = number_write };

static int __init iter_init(void)
{
	if (!proc_create("number", 0644, NULL, &number_ops))
		return -ENOMEM;
	return misc_register(&iter_device);
}

static void __exit iter_exit(void)
{
	misc_deregister(&iter_device);
	proc_remove(NULL);
	remove_proc_entry("number", NULL);
}
module_init(iter_init);
module_exit(iter_exit);
MODULE_LICENSE("GPL");
