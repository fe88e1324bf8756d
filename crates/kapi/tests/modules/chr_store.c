/* Devices that keep what is written to them in pieces of a few bytes, in the manner of the driver books. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/fs.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <linux/proc_fs.h>
#include <linux/fcntl.h>
#include <linux/seq_file.h>
#include <linux/cdev.h>
#include <asm/uaccess.h>

#define STORE_MAGIC 'k'
#define STORE_RESET _IO(STORE_MAGIC, 0)
#define STORE_SET _IOW(STORE_MAGIC, 1, int)
#define STORE_TELL _IO(STORE_MAGIC, 2)
#define STORE_GET _IOR(STORE_MAGIC, 3, int)
#define STORE_QUERY _IO(STORE_MAGIC, 4)
#define STORE_EXCHANGE _IOWR(STORE_MAGIC, 5, int)

static int store_major;
static int store_devs = 3;
static int store_piece = 8;
module_param(store_major, int, S_IRUGO);
module_param(store_devs, int, S_IRUGO);
module_param(store_piece, int, S_IRUGO);
MODULE_LICENSE("Dual BSD/GPL");

struct piece {
	struct piece *next;
	char bytes[];
};

struct store {
	struct piece *first;
	int piece;
	unsigned long size;
	struct mutex mutex;
	struct cdev cdev;
};

static struct store *stores;

static void store_trim(struct store *store)
{
	struct piece *piece = store->first, *next;

	for (; piece; piece = next) {
		next = piece->next;
		kfree(piece);
	}
	store->first = NULL;
	store->size = 0;
	store->piece = store_piece;
}

static struct piece *store_follow(struct store *store, int n)
{
	struct piece **at = &store->first;

	for (;; at = &(*at)->next) {
		if (!*at)
			*at = kzalloc(sizeof(**at) + store->piece, GFP_KERNEL);
		if (!*at || !n--)
			return *at;
	}
}

static int store_open(struct inode *inode, struct file *filp)
{
	struct store *store = container_of(inode->i_cdev, struct store, cdev);

	filp->private_data = store;
	if ((filp->f_flags & O_ACCMODE) == O_WRONLY) {
		if (mutex_lock_interruptible(&store->mutex))
			return -ERESTARTSYS;
		store_trim(store);
		mutex_unlock(&store->mutex);
	}
	return 0;
}

static int store_release(struct inode *inode, struct file *filp)
{
	return 0;
}

static ssize_t store_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	struct store *store = filp->private_data;
	ssize_t result = 0;
	struct piece *piece;
	int rest;

	if (mutex_lock_interruptible(&store->mutex))
		return -ERESTARTSYS;
	if (*f_pos >= store->size)
		goto out;
	if (*f_pos + count > store->size)
		count = store->size - *f_pos;
	rest = (long)*f_pos % store->piece;
	piece = store_follow(store, (long)*f_pos / store->piece);
	if (!piece)
		goto out;
	if (count > store->piece - rest)
		count = store->piece - rest;
	if (copy_to_user(buf, piece->bytes + rest, count)) {
		result = -EFAULT;
		goto out;
	}
	*f_pos += count;
	result = count;
out:
	mutex_unlock(&store->mutex);
	return result;
}

static ssize_t store_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	struct store *store = filp->private_data;
	ssize_t result = -ENOMEM;
	struct piece *piece;
	int rest;

	if (mutex_lock_interruptible(&store->mutex))
		return -ERESTARTSYS;
	rest = (long)*f_pos % store->piece;
	piece = store_follow(store, (long)*f_pos / store->piece);
	if (!piece)
		goto out;
	if (count > store->piece - rest)
		count = store->piece - rest;
	if (copy_from_user(piece->bytes + rest, buf, count)) {
		result = -EFAULT;
		goto out;
	}
	*f_pos += count;
	result = count;
	if (store->size < *f_pos)
		store->size = *f_pos;
out:
	mutex_unlock(&store->mutex);
	return result;
}

static long store_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	int error = 0, result = 0, before;

	if (_IOC_TYPE(cmd) != STORE_MAGIC)
		return -ENOTTY;
	if (_IOC_DIR(cmd) & _IOC_READ)
		error = !access_ok((void __user *)arg, _IOC_SIZE(cmd));
	else if (_IOC_DIR(cmd) & _IOC_WRITE)
		error = !access_ok((void __user *)arg, _IOC_SIZE(cmd));
	if (error)
		return -EFAULT;
	switch (cmd) {
	case STORE_RESET:
		store_piece = 8;
		break;
	case STORE_SET:
		if (!capable(CAP_SYS_ADMIN))
			return -EPERM;
		result = __get_user(store_piece, (int __user *)arg);
		break;
	case STORE_TELL:
		store_piece = arg;
		break;
	case STORE_GET:
		result = __put_user(store_piece, (int __user *)arg);
		break;
	case STORE_QUERY:
		return store_piece;
	case STORE_EXCHANGE:
		before = store_piece;
		result = __get_user(store_piece, (int __user *)arg);
		if (result == 0)
			result = __put_user(before, (int __user *)arg);
		break;
	default:
		return -ENOTTY;
	}
	return result;
}

static loff_t store_llseek(struct file *filp, loff_t off, int whence)
{
	struct store *store = filp->private_data;
	loff_t newpos;

	switch (whence) {
	case 0:
		newpos = off;
		break;
	case 1:
		newpos = filp->f_pos + off;
		break;
	case 2:
		newpos = store->size + off;
		break;
	default:
		return -EINVAL;
	}
	if (newpos < 0)
		return -EINVAL;
	filp->f_pos = newpos;
	return newpos;
}

static struct file_operations store_fops = {
	.owner = THIS_MODULE,
	.llseek = store_llseek,
	.read = store_read,
	.write = store_write,
	.unlocked_ioctl = store_ioctl,
	.open = store_open,
	.release = store_release,
};

static void *store_seq_start(struct seq_file *s, loff_t *pos)
{
	return *pos >= store_devs ? NULL : stores + *pos;
}

static void *store_seq_next(struct seq_file *s, void *v, loff_t *pos)
{
	(*pos)++;
	return *pos >= store_devs ? NULL : stores + *pos;
}

static void store_seq_stop(struct seq_file *s, void *v)
{
}

static int store_seq_show(struct seq_file *s, void *v)
{
	struct store *store = v;

	if (mutex_lock_interruptible(&store->mutex))
		return -ERESTARTSYS;
	seq_printf(s, "Device %i: piece %i, sz %li\n", (int)(store - stores), store->piece, store->size);
	mutex_unlock(&store->mutex);
	return 0;
}

static struct seq_operations store_seq_ops = {
	.start = store_seq_start,
	.next = store_seq_next,
	.stop = store_seq_stop,
	.show = store_seq_show
};

static int store_proc_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &store_seq_ops);
}

static struct file_operations store_proc_ops = {
	.owner = THIS_MODULE,
	.open = store_proc_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release
};

static void store_cleanup_module(void)
{
	dev_t devno = MKDEV(store_major, 0);
	int i;

	if (stores) {
		for (i = 0; i < store_devs; i++) {
			store_trim(stores + i);
			cdev_del(&stores[i].cdev);
		}
		kfree(stores);
	}
	remove_proc_entry("storeseq", NULL);
	unregister_chrdev_region(devno, store_devs);
}

static int store_init_module(void)
{
	int result, i;
	dev_t dev = 0;

	result = alloc_chrdev_region(&dev, 0, store_devs, "store");
	store_major = MAJOR(dev);
	if (result < 0) {
		printk(KERN_WARNING "store: can't get major %d\n", store_major);
		return result;
	}
	stores = kmalloc(store_devs * sizeof(struct store), GFP_KERNEL);
	if (!stores) {
		result = -ENOMEM;
		goto fail;
	}
	memset(stores, 0, store_devs * sizeof(struct store));
	for (i = 0; i < store_devs; i++) {
		stores[i].piece = store_piece;
		mutex_init(&stores[i].mutex);
		cdev_init(&stores[i].cdev, &store_fops);
		stores[i].cdev.owner = THIS_MODULE;
		result = cdev_add(&stores[i].cdev, MKDEV(store_major, i), 1);
		if (result)
			printk(KERN_NOTICE "Error %d adding store%d", result, i);
	}
	proc_create("storeseq", 0, NULL, &store_proc_ops);
	return 0;
fail:
	store_cleanup_module();
	return result;
}

module_init(store_init_module);
module_exit(store_cleanup_module);
