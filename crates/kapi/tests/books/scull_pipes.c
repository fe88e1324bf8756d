/* A circular buffer whose readers and writers block, poll, and get signals when data comes. */
#include <linux/cdev.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uaccess.h>

struct pipe {
	wait_queue_head_t inq, outq;
	char *buffer, *end;
	int buffersize;
	char *rp, *wp;
	int nreaders, nwriters;
	struct fasync_struct *async_queue;
	struct mutex lock;
	struct cdev cdev;
};

static int p_buffer = 8;
module_param(p_buffer, int, 0);
static struct pipe pipe_dev;
static dev_t devno;

static int pipe_fasync(int fd, struct file *filp, int mode)
{
	struct pipe *dev = filp->private_data;

	return fasync_helper(fd, filp, mode, &dev->async_queue);
}

static int pipe_open(struct inode *inode, struct file *filp)
{
	struct pipe *dev = container_of(inode->i_cdev, struct pipe, cdev);

	filp->private_data = dev;
	if (mutex_lock_interruptible(&dev->lock))
		return -ERESTARTSYS;
	if (!dev->buffer) {
		dev->buffer = kmalloc(p_buffer, GFP_KERNEL);
		if (!dev->buffer) {
			mutex_unlock(&dev->lock);
			return -ENOMEM;
		}
		dev->buffersize = p_buffer;
		dev->end = dev->buffer + dev->buffersize;
		dev->rp = dev->wp = dev->buffer;
	}
	if (filp->f_mode & FMODE_READ)
		dev->nreaders++;
	if (filp->f_mode & FMODE_WRITE)
		dev->nwriters++;
	mutex_unlock(&dev->lock);
	return nonseekable_open(inode, filp);
}

static int pipe_release(struct inode *inode, struct file *filp)
{
	struct pipe *dev = filp->private_data;

	pipe_fasync(-1, filp, 0);
	mutex_lock(&dev->lock);
	if (filp->f_mode & FMODE_READ)
		dev->nreaders--;
	if (filp->f_mode & FMODE_WRITE)
		dev->nwriters--;
	if (dev->nreaders + dev->nwriters == 0) {
		kfree(dev->buffer);
		dev->buffer = NULL;
	}
	mutex_unlock(&dev->lock);
	return 0;
}

static ssize_t pipe_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	struct pipe *dev = filp->private_data;

	if (mutex_lock_interruptible(&dev->lock))
		return -ERESTARTSYS;
	while (dev->rp == dev->wp) {
		mutex_unlock(&dev->lock);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(dev->inq, (dev->rp != dev->wp)))
			return -ERESTARTSYS;
		if (mutex_lock_interruptible(&dev->lock))
			return -ERESTARTSYS;
	}
	if (dev->wp > dev->rp)
		count = min(count, (size_t)(dev->wp - dev->rp));
	else
		count = min(count, (size_t)(dev->end - dev->rp));
	if (copy_to_user(buf, dev->rp, count)) {
		mutex_unlock(&dev->lock);
		return -EFAULT;
	}
	dev->rp += count;
	if (dev->rp == dev->end)
		dev->rp = dev->buffer;
	mutex_unlock(&dev->lock);
	wake_up_interruptible(&dev->outq);
	return count;
}

static int space_free(struct pipe *dev)
{
	if (dev->rp == dev->wp)
		return dev->buffersize - 1;
	return ((dev->rp + dev->buffersize - dev->wp) % dev->buffersize) - 1;
}

/* Waits for room with the lock held; without the lock if it fails. */
static int wait_for_space(struct pipe *dev, struct file *filp)
{
	while (space_free(dev) == 0) {
		DEFINE_WAIT(wait);

		mutex_unlock(&dev->lock);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		prepare_to_wait(&dev->outq, &wait, TASK_INTERRUPTIBLE);
		if (space_free(dev) == 0)
			schedule();
		finish_wait(&dev->outq, &wait);
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (mutex_lock_interruptible(&dev->lock))
			return -ERESTARTSYS;
	}
	return 0;
}

static ssize_t pipe_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	struct pipe *dev = filp->private_data;
	int result;

	if (mutex_lock_interruptible(&dev->lock))
		return -ERESTARTSYS;
	result = wait_for_space(dev, filp);
	if (result)
		return result;
	count = min(count, (size_t)space_free(dev));
	if (dev->wp >= dev->rp)
		count = min(count, (size_t)(dev->end - dev->wp));
	else
		count = min(count, (size_t)(dev->rp - dev->wp - 1));
	if (copy_from_user(dev->wp, buf, count)) {
		mutex_unlock(&dev->lock);
		return -EFAULT;
	}
	dev->wp += count;
	if (dev->wp == dev->end)
		dev->wp = dev->buffer;
	mutex_unlock(&dev->lock);
	wake_up_interruptible(&dev->inq);
	if (dev->async_queue)
		kill_fasync(&dev->async_queue, SIGIO, POLL_IN);
	return count;
}

static unsigned int pipe_poll(struct file *filp, poll_table *wait)
{
	struct pipe *dev = filp->private_data;
	unsigned int mask = 0;

	mutex_lock(&dev->lock);
	poll_wait(filp, &dev->inq, wait);
	poll_wait(filp, &dev->outq, wait);
	if (dev->rp != dev->wp)
		mask |= POLLIN | POLLRDNORM;
	if (space_free(dev))
		mask |= POLLOUT | POLLWRNORM;
	mutex_unlock(&dev->lock);
	return mask;
}

static struct file_operations pipe_fops = {
	.owner = THIS_MODULE,
	.read = pipe_read,
	.write = pipe_write,
	.poll = (void *)pipe_poll,
	.open = pipe_open,
	.release = pipe_release,
	.fasync = pipe_fasync,
};

static int __init pipe_init(void)
{
	int result = alloc_chrdev_region(&devno, 0, 1, "scullp");

	if (result < 0)
		return result;
	init_waitqueue_head(&pipe_dev.inq);
	init_waitqueue_head(&pipe_dev.outq);
	mutex_init(&pipe_dev.lock);
	cdev_init(&pipe_dev.cdev, &pipe_fops);
	pipe_dev.cdev.owner = THIS_MODULE;
	result = cdev_add(&pipe_dev.cdev, devno, 1);
	if (result)
		unregister_chrdev_region(devno, 1);
	return result;
}

static void __exit pipe_exit(void)
{
	cdev_del(&pipe_dev.cdev);
	kfree(pipe_dev.buffer);
	unregister_chrdev_region(devno, 1);
}

module_init(pipe_init);
module_exit(pipe_exit);
MODULE_LICENSE("Dual BSD/GPL");
