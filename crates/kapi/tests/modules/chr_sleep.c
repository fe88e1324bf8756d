// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers that sleep until somebody writes: one device on a wait queue, one on a completion, both by their numbers.
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/wait.h>

static int queue_major, done_major;
static DECLARE_WAIT_QUEUE_HEAD(queue);
static DECLARE_COMPLETION(written);
static int flag;

static ssize_t queue_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	pr_info("%s sleeps\n", current->comm);
	if (wait_event_interruptible(queue, flag))
		return -ERESTARTSYS;
	flag = 0;
	return 0;
}

static ssize_t queue_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	flag = 1;
	wake_up_interruptible(&queue);
	return n;
}

static ssize_t done_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	wait_for_completion(&written);
	return 0;
}

static ssize_t done_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	complete(&written);
	return n;
}

static struct file_operations queue_fops = {
	.owner = THIS_MODULE,
	.read = queue_read,
	.write = queue_write,
};
static struct file_operations done_fops = {
	.owner = THIS_MODULE,
	.read = done_read,
	.write = done_write,
};

static int __init sleep_init(void)
{
	queue_major = register_chrdev(0, "sleepy", &queue_fops);
	if (queue_major < 0)
		return queue_major;
	done_major = register_chrdev(0, "done", &done_fops);
	if (done_major < 0)
		unregister_chrdev(queue_major, "sleepy");
	return done_major < 0 ? done_major : 0;
}

static void __exit sleep_exit(void)
{
	unregister_chrdev(done_major, "done");
	unregister_chrdev(queue_major, "sleepy");
}

module_init(sleep_init);
module_exit(sleep_exit);
MODULE_LICENSE("Dual MIT/GPL");
