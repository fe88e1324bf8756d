/* Whoever reads sleeps until somebody writes; a flag lets one reader go, and another queue lets each in turn. */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/wait.h>

MODULE_LICENSE("Dual BSD/GPL");

static int sleepy_major;
static DECLARE_WAIT_QUEUE_HEAD(wq);
static wait_queue_head_t turns;
static int flag;
static int waiting;

static ssize_t sleepy_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	printk(KERN_DEBUG "process %i (%s) going to sleep\n", current->pid, current->comm);
	if (wait_event_interruptible(wq, flag != 0))
		return -ERESTARTSYS;
	flag = 0;
	return 0;
}

/* In the manner of a manual sleep, exclusively. */
static long sleepy_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	DEFINE_WAIT(wait);
	long left = HZ;

	waiting++;
	prepare_to_wait_exclusive(&turns, &wait, TASK_INTERRUPTIBLE);
	if (cmd)
		left = schedule_timeout(left);
	finish_wait(&turns, &wait);
	waiting--;
	if (signal_pending(current))
		return -ERESTARTSYS;
	return left > 0 ? 1 : -ETIME;
}

static ssize_t sleepy_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	printk(KERN_DEBUG "process %i (%s) awakening the readers...\n", current->pid, current->comm);
	if (count == 1 && waitqueue_active(&turns)) {
		wake_up_interruptible_nr(&turns, 1);
		return count;
	}
	flag = 1;
	wake_up_interruptible(&wq);
	return count;
}

static struct file_operations sleepy_fops = {
	.owner = THIS_MODULE,
	.read = sleepy_read,
	.write = sleepy_write,
	.unlocked_ioctl = sleepy_ioctl,
};

static int sleepy_init(void)
{
	int result = register_chrdev(sleepy_major, "sleepy", &sleepy_fops);

	if (result < 0)
		return result;
	if (sleepy_major == 0)
		sleepy_major = result;
	init_waitqueue_head(&turns);
	return 0;
}

static void sleepy_cleanup(void)
{
	unregister_chrdev(sleepy_major, "sleepy");
}

module_init(sleepy_init);
module_exit(sleepy_cleanup);
