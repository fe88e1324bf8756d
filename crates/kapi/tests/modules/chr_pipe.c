/* A ring between readers and writers who wait for each other, ask whether it is time, or want a signal. */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/sched.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/cdev.h>
#include <linux/uaccess.h>

static int bytes = 8;
module_param(bytes, int, 0);

static struct ring {
	wait_queue_head_t inq, outq;
	char *buffer, *end, *rp, *wp;
	int readers, writers;
	struct fasync_struct *async_queue;
	struct mutex mutex;
	struct cdev cdev;
} ring;
static dev_t first;

static int ring_fasync(int fd, struct file *filp, int mode)
{
	return fasync_helper(fd, filp, mode, &ring.async_queue);
}

static int ring_open(struct inode *inode, struct file *filp)
{
	if (mutex_lock_interruptible(&ring.mutex))
		return -ERESTARTSYS;
	if (!ring.buffer) {
		ring.buffer = kmalloc(bytes, GFP_KERNEL);
		if (!ring.buffer) {
			mutex_unlock(&ring.mutex);
			return -ENOMEM;
		}
		ring.end = ring.buffer + bytes;
		ring.rp = ring.wp = ring.buffer;
	}
	if (filp->f_mode & FMODE_READ)
		ring.readers++;
	if (filp->f_mode & FMODE_WRITE)
		ring.writers++;
	mutex_unlock(&ring.mutex);
	return nonseekable_open(inode, filp);
}

static int ring_release(struct inode *inode, struct file *filp)
{
	ring_fasync(-1, filp, 0);
	mutex_lock(&ring.mutex);
	if (filp->f_mode & FMODE_READ)
		ring.readers--;
	if (filp->f_mode & FMODE_WRITE)
		ring.writers--;
	if (!(ring.readers + ring.writers)) {
		kfree(ring.buffer);
		ring.buffer = NULL;
	}
	mutex_unlock(&ring.mutex);
	return 0;
}

static ssize_t ring_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	if (mutex_lock_interruptible(&ring.mutex))
		return -ERESTARTSYS;
	while (ring.rp == ring.wp) {
		mutex_unlock(&ring.mutex);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(ring.inq, (ring.rp != ring.wp)))
			return -ERESTARTSYS;
		if (mutex_lock_interruptible(&ring.mutex))
			return -ERESTARTSYS;
	}
	if (ring.wp > ring.rp)
		count = min(count, (size_t)(ring.wp - ring.rp));
	else
		count = min(count, (size_t)(ring.end - ring.rp));
	if (copy_to_user(buf, ring.rp, count)) {
		mutex_unlock(&ring.mutex);
		return -EFAULT;
	}
	ring.rp += count;
	if (ring.rp == ring.end)
		ring.rp = ring.buffer;
	mutex_unlock(&ring.mutex);
	wake_up_interruptible(&ring.outq);
	return count;
}

static int spacefree(void)
{
	if (ring.rp == ring.wp)
		return bytes - 1;
	return ((ring.rp + bytes - ring.wp) % bytes) - 1;
}

static int getwritespace(struct file *filp)
{
	while (spacefree() == 0) {
		DEFINE_WAIT(wait);

		mutex_unlock(&ring.mutex);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		prepare_to_wait(&ring.outq, &wait, TASK_INTERRUPTIBLE);
		if (spacefree() == 0)
			schedule();
		finish_wait(&ring.outq, &wait);
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (mutex_lock_interruptible(&ring.mutex))
			return -ERESTARTSYS;
	}
	return 0;
}

static ssize_t ring_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	int result;

	if (mutex_lock_interruptible(&ring.mutex))
		return -ERESTARTSYS;
	result = getwritespace(filp);
	if (result)
		return result;
	count = min(count, (size_t)spacefree());
	if (ring.wp >= ring.rp)
		count = min(count, (size_t)(ring.end - ring.wp));
	else
		count = min(count, (size_t)(ring.rp - ring.wp - 1));
	if (copy_from_user(ring.wp, buf, count)) {
		mutex_unlock(&ring.mutex);
		return -EFAULT;
	}
	ring.wp += count;
	if (ring.wp == ring.end)
		ring.wp = ring.buffer;
	mutex_unlock(&ring.mutex);
	wake_up_interruptible(&ring.inq);
	if (ring.async_queue)
		kill_fasync(&ring.async_queue, SIGIO, POLL_IN);
	return count;
}

static __poll_t ring_poll(struct file *filp, poll_table *wait)
{
	__poll_t mask = 0;

	mutex_lock(&ring.mutex);
	poll_wait(filp, &ring.inq, wait);
	poll_wait(filp, &ring.outq, wait);
	if (ring.rp != ring.wp)
		mask |= POLLIN | POLLRDNORM;
	if (spacefree())
		mask |= POLLOUT | POLLWRNORM;
	mutex_unlock(&ring.mutex);
	return mask;
}

static const struct file_operations ring_fops = {
	.owner = THIS_MODULE,
	.llseek = no_llseek,
	.read = ring_read,
	.write = ring_write,
	.poll = ring_poll,
	.open = ring_open,
	.release = ring_release,
	.fasync = ring_fasync,
};

static int __init ring_init(void)
{
	int result = alloc_chrdev_region(&first, 0, 1, "ring");

	if (result)
		return result;
	init_waitqueue_head(&ring.inq);
	init_waitqueue_head(&ring.outq);
	mutex_init(&ring.mutex);
	cdev_init(&ring.cdev, &ring_fops);
	ring.cdev.owner = THIS_MODULE;
	return cdev_add(&ring.cdev, first, 1);
}

static void __exit ring_exit(void)
{
	cdev_del(&ring.cdev);
	kfree(ring.buffer);
	unregister_chrdev_region(first, 1);
}
module_init(ring_init);
module_exit(ring_exit);
MODULE_LICENSE("GPL");
