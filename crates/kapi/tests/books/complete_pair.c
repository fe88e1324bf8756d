/* A reader sleeps until a writer completes it; the major number is the old interface's. */
#include <linux/completion.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/types.h>

MODULE_LICENSE("Dual BSD/GPL");

static int complete_major;
static DECLARE_COMPLETION(comp);

static ssize_t complete_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	pr_debug("process %i (%s) going to sleep\n", current->pid, current->comm);
	if (filp->f_flags & O_NONBLOCK)
		return try_wait_for_completion(&comp) ? 0 : -EAGAIN;
	if (wait_for_completion_interruptible(&comp))
		return -ERESTARTSYS;
	pr_debug("awoken %i (%s)\n", current->pid, current->comm);
	return 0;
}

static ssize_t complete_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	if (count > 3)
		complete_all(&comp);
	else
		complete(&comp);
	return count;
}

static const struct file_operations complete_fops = {
	.owner = THIS_MODULE,
	.read = complete_read,
	.write = complete_write,
};

static int complete_init(void)
{
	int result = register_chrdev(complete_major, "complete", &complete_fops);

	if (result < 0)
		return result;
	if (complete_major == 0)
		complete_major = result;
	return 0;
}

static void complete_cleanup(void)
{
	unregister_chrdev(complete_major, "complete");
}

module_init(complete_init);
module_exit(complete_cleanup);
