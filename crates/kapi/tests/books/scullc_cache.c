/* Quanta from a cache of their own, read and written by pieces too: what goes asynchronously is completed by a delayed work. */
#include <linux/aio.h>
#include <linux/cdev.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#define QSET 4
static int scullc_quantum = 40;
module_param(scullc_quantum, int, 0);

static struct {
	struct mutex lock;
	struct cdev cdev;
	void *data[QSET];
	size_t size;
} dev;
static dev_t devno;
static struct kmem_cache *quanta;

static void trim(void)
{
	int i;

	for (i = 0; i < QSET; i++) {
		if (dev.data[i])
			kmem_cache_free(quanta, dev.data[i]);
		dev.data[i] = NULL;
	}
	dev.size = 0;
}

static int scullc_open(struct inode *inode, struct file *filp)
{
	if ((filp->f_flags & O_ACCMODE) == O_WRONLY) {
		if (mutex_lock_interruptible(&dev.lock))
			return -ERESTARTSYS;
		trim();
		mutex_unlock(&dev.lock);
	}
	return 0;
}

/* Where an offset lies: the quantum, and how much of it follows. */
static void *quantum_at(loff_t pos, size_t *count, bool make)
{
	long item = (long)pos / scullc_quantum, offset = (long)pos % scullc_quantum;

	if (item >= QSET)
		return ERR_PTR(-ENOSPC);
	if (!dev.data[item] && make)
		dev.data[item] = kmem_cache_zalloc(quanta, GFP_KERNEL);
	if (!dev.data[item])
		return make ? ERR_PTR(-ENOMEM) : NULL;
	*count = min_t(size_t, *count, scullc_quantum - offset);
	return (char *)dev.data[item] + offset;
}

static ssize_t scullc_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	ssize_t done = 0;

	mutex_lock(&dev.lock);
	while (iov_iter_count(to) && iocb->ki_pos < dev.size) {
		size_t n = min_t(size_t, iov_iter_count(to), dev.size - iocb->ki_pos);
		void *from = quantum_at(iocb->ki_pos, &n, false);

		if (IS_ERR_OR_NULL(from))
			break;
		if (copy_to_iter(from, n, to) != n) {
			done = -EFAULT;
			break;
		}
		iocb->ki_pos += n;
		done += n;
	}
	mutex_unlock(&dev.lock);
	return done;
}

struct async_work {
	struct kiocb *iocb;
	long result;
	struct delayed_work work;
};

static void complete_later(struct work_struct *work)
{
	struct async_work *stuff = container_of(work, struct async_work, work.work);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 16, 0)
	stuff->iocb->ki_complete(stuff->iocb, stuff->result);
#else
	stuff->iocb->ki_complete(stuff->iocb, stuff->result, 0);
#endif
	kfree(stuff);
}

static ssize_t scullc_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct async_work *stuff;
	ssize_t done = 0;

	mutex_lock(&dev.lock);
	while (iov_iter_count(from)) {
		size_t n = iov_iter_count(from);
		void *to = quantum_at(iocb->ki_pos, &n, true);

		if (IS_ERR(to)) {
			done = done ? done : PTR_ERR(to);
			break;
		}
		n = copy_from_iter(to, n, from);
		iocb->ki_pos += n;
		done += n;
	}
	dev.size = max_t(size_t, dev.size, iocb->ki_pos);
	mutex_unlock(&dev.lock);
	if (is_sync_kiocb(iocb))
		return done;
	stuff = kmalloc(sizeof(*stuff), GFP_KERNEL);
	if (!stuff)
		return done;
	stuff->iocb = iocb;
	stuff->result = done;
	INIT_DELAYED_WORK(&stuff->work, complete_later);
	schedule_delayed_work(&stuff->work, HZ / 100);
	return -EIOCBQUEUED;
}

static struct file_operations scullc_fops = {
	.owner = THIS_MODULE,
	.llseek = default_llseek,
	.open = scullc_open,
	.read_iter = scullc_read_iter,
	.write_iter = scullc_write_iter,
};

static int scullc_show(struct seq_file *m, void *v)
{
	int i;

	for (i = 0; i < QSET; i++)
		if (dev.data[i])
			seq_printf(m, "% 4i: %zu of %u\n", i, ksize(dev.data[i]), kmem_cache_size(quanta));
	return 0;
}

static int __init scullc_init(void)
{
	int result = alloc_chrdev_region(&devno, 0, 1, "scullc");

	if (result < 0)
		return result;
	quanta = kmem_cache_create("scullc", scullc_quantum, 0, SLAB_HWCACHE_ALIGN, NULL);
	if (!quanta) {
		unregister_chrdev_region(devno, 1);
		return -ENOMEM;
	}
	mutex_init(&dev.lock);
	cdev_init(&dev.cdev, &scullc_fops);
	result = cdev_add(&dev.cdev, devno, 1);
	if (result) {
		kmem_cache_destroy(quanta);
		unregister_chrdev_region(devno, 1);
		return result;
	}
	proc_create_single("scullcmem", 0, NULL, scullc_show);
	return 0;
}

static void __exit scullc_exit(void)
{
	remove_proc_entry("scullcmem", NULL);
	cdev_del(&dev.cdev);
	trim();
	if (quanta)
		kmem_cache_destroy(quanta);
	unregister_chrdev_region(devno, 1);
}

module_init(scullc_init);
module_exit(scullc_exit);
MODULE_LICENSE("Dual BSD/GPL");
