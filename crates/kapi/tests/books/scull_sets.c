/* Memory as a file: a list of quantum sets, sought beyond its end, trimmed by who opens it to write only, and asked by ioctl. */
#include <linux/cdev.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ioctl.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#define SETS_MAGIC 'k'
#define SETS_RESET _IO(SETS_MAGIC, 0)
#define SETS_SET_QUANTUM _IOW(SETS_MAGIC, 1, int)
#define SETS_TELL_QUANTUM _IO(SETS_MAGIC, 2)
#define SETS_GET_QUANTUM _IOR(SETS_MAGIC, 3, int)
#define SETS_QUERY_QUANTUM _IO(SETS_MAGIC, 4)
#define SETS_EXCHANGE_QUANTUM _IOWR(SETS_MAGIC, 5, int)
#define SETS_SHIFT_QUANTUM _IO(SETS_MAGIC, 6)
#define SETS_MAXNR 6

static int major, nr_devs = 3, quantum = 8, qset = 3;
module_param(major, int, S_IRUGO);
module_param(nr_devs, int, S_IRUGO);
module_param(quantum, int, S_IRUGO);
module_param(qset, int, S_IRUGO);

struct set {
	void **data;
	struct set *next;
};

struct store {
	struct set *sets;
	int quantum, qset;
	unsigned long size;
	unsigned int access_key;
	struct semaphore sem;
	struct cdev cdev;
};

static struct store *stores;

static int trim(struct store *dev)
{
	struct set *next, *at;
	int i;

	for (at = dev->sets; at; at = next) {
		if (at->data) {
			for (i = 0; i < dev->qset; i++)
				kfree(at->data[i]);
			kfree(at->data);
			at->data = NULL;
		}
		next = at->next;
		kfree(at);
	}
	dev->size = 0;
	dev->quantum = quantum;
	dev->qset = qset;
	dev->sets = NULL;
	return 0;
}

static int sets_open(struct inode *inode, struct file *filp)
{
	struct store *dev = container_of(inode->i_cdev, struct store, cdev);

	filp->private_data = dev;
	if ((filp->f_flags & O_ACCMODE) == O_WRONLY) {
		if (down_interruptible(&dev->sem))
			return -ERESTARTSYS;
		trim(dev);
		up(&dev->sem);
	}
	return 0;
}

static int sets_release(struct inode *inode, struct file *filp)
{
	return 0;
}

static struct set *follow(struct store *dev, int n)
{
	struct set **at = &dev->sets;

	for (;; at = &(*at)->next) {
		if (!*at) {
			*at = kmalloc(sizeof(struct set), GFP_KERNEL);
			if (!*at)
				return NULL;
			memset(*at, 0, sizeof(struct set));
		}
		if (!n--)
			return *at;
	}
}

static ssize_t sets_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	struct store *dev = filp->private_data;
	int set_size = dev->quantum * dev->qset, rest, s, q;
	ssize_t retval = 0;
	struct set *set;

	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	if (*f_pos >= dev->size)
		goto out;
	if (*f_pos + count > dev->size)
		count = dev->size - *f_pos;
	rest = (long)*f_pos % set_size;
	s = rest / dev->quantum;
	q = rest % dev->quantum;
	set = follow(dev, (long)*f_pos / set_size);
	if (set == NULL || !set->data || !set->data[s])
		goto out;
	count = min_t(size_t, count, dev->quantum - q);
	if (copy_to_user(buf, set->data[s] + q, count)) {
		retval = -EFAULT;
		goto out;
	}
	*f_pos += count;
	retval = count;
out:
	up(&dev->sem);
	return retval;
}

static ssize_t sets_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	struct store *dev = filp->private_data;
	int set_size = dev->quantum * dev->qset, rest, s, q;
	ssize_t retval = -ENOMEM;
	struct set *set;

	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	rest = (long)*f_pos % set_size;
	s = rest / dev->quantum;
	q = rest % dev->quantum;
	set = follow(dev, (long)*f_pos / set_size);
	if (set == NULL)
		goto out;
	if (!set->data) {
		set->data = kmalloc(dev->qset * sizeof(char *), GFP_KERNEL);
		if (!set->data)
			goto out;
		memset(set->data, 0, dev->qset * sizeof(char *));
	}
	if (!set->data[s]) {
		set->data[s] = kmalloc(dev->quantum, GFP_KERNEL);
		if (!set->data[s])
			goto out;
	}
	count = min_t(size_t, count, dev->quantum - q);
	if (copy_from_user(set->data[s] + q, buf, count)) {
		retval = -EFAULT;
		goto out;
	}
	*f_pos += count;
	retval = count;
	if (dev->size < *f_pos)
		dev->size = *f_pos;
out:
	up(&dev->sem);
	return retval;
}

static long sets_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	int before = quantum, retval = 0;

	if (_IOC_TYPE(cmd) != SETS_MAGIC || _IOC_NR(cmd) > SETS_MAXNR)
		return -ENOTTY;
	if ((_IOC_DIR(cmd) & (_IOC_READ | _IOC_WRITE)) && !access_ok((void __user *)arg, _IOC_SIZE(cmd)))
		return -EFAULT;
	if (_IOC_NR(cmd) != 3 && _IOC_NR(cmd) != 4 && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	switch (cmd) {
	case SETS_RESET:
		quantum = 8;
		break;
	case SETS_SET_QUANTUM:
		retval = __get_user(quantum, (int __user *)arg);
		break;
	case SETS_TELL_QUANTUM:
		quantum = arg;
		break;
	case SETS_GET_QUANTUM:
		retval = __put_user(quantum, (int __user *)arg);
		break;
	case SETS_QUERY_QUANTUM:
		return quantum;
	case SETS_EXCHANGE_QUANTUM:
		retval = __get_user(quantum, (int __user *)arg);
		if (retval == 0)
			retval = __put_user(before, (int __user *)arg);
		break;
	case SETS_SHIFT_QUANTUM:
		quantum = arg;
		return before;
	default:
		return -ENOTTY;
	}
	return retval;
}

static loff_t sets_llseek(struct file *filp, loff_t off, int whence)
{
	struct store *dev = filp->private_data;
	loff_t newpos;

	switch (whence) {
	case SEEK_SET:
		newpos = off;
		break;
	case SEEK_CUR:
		newpos = filp->f_pos + off;
		break;
	case SEEK_END:
		newpos = dev->size + off;
		break;
	default:
		return -EINVAL;
	}
	if (newpos < 0)
		return -EINVAL;
	filp->f_pos = newpos;
	return newpos;
}

static struct file_operations sets_fops = {
	.owner = THIS_MODULE,
	.llseek = sets_llseek,
	.read = sets_read,
	.write = sets_write,
	.unlocked_ioctl = sets_ioctl,
	.open = sets_open,
	.release = sets_release,
};

static void *mem_start(struct seq_file *s, loff_t *pos)
{
	return *pos < nr_devs ? stores + *pos : NULL;
}

static void *mem_next(struct seq_file *s, void *v, loff_t *pos)
{
	++*pos;
	return mem_start(s, pos);
}

static void mem_stop(struct seq_file *s, void *v)
{
}

static int mem_show(struct seq_file *s, void *v)
{
	struct store *dev = v;
	struct set *at;
	int i;

	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	seq_printf(s, "Device %i: qset %i, q %i, sz %li\n", (int)(dev - stores), dev->qset, dev->quantum, dev->size);
	for (at = dev->sets; at; at = at->next) {
		seq_printf(s, "  item%s\n", at->data ? "" : " empty");
		if (at->data && !at->next)
			for (i = 0; i < dev->qset; i++)
				if (at->data[i])
					seq_printf(s, "    % 4i: %zu\n", i, ksize(at->data[i]));
	}
	up(&dev->sem);
	return 0;
}

static struct seq_operations mem_seq_ops = { .start = mem_start, .next = mem_next, .stop = mem_stop, .show = mem_show };

static int mem_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &mem_seq_ops);
}

static const struct proc_ops mem_ops = {
	.proc_open = mem_open, .proc_read = seq_read, .proc_lseek = seq_lseek, .proc_release = seq_release,
};

static void sets_cleanup(void)
{
	dev_t devno = MKDEV(major, 0);
	int i;

	if (stores) {
		for (i = 0; i < nr_devs; i++) {
			trim(stores + i);
			cdev_del(&stores[i].cdev);
		}
		kfree(stores);
	}
	remove_proc_entry("scullseq", NULL);
	unregister_chrdev_region(devno, nr_devs);
}

static int sets_init(void)
{
	dev_t dev = MKDEV(major, 0);
	int i, result;

	if (major) {
		result = register_chrdev_region(dev, nr_devs, "scull");
	} else {
		result = alloc_chrdev_region(&dev, 0, nr_devs, "scull");
		major = MAJOR(dev);
	}
	if (result < 0) {
		printk(KERN_WARNING "scull: can't get major %d\n", major);
		return result;
	}
	stores = kmalloc(nr_devs * sizeof(struct store), GFP_KERNEL);
	if (!stores) {
		result = -ENOMEM;
		goto fail;
	}
	memset(stores, 0, nr_devs * sizeof(struct store));
	for (i = 0; i < nr_devs; i++) {
		stores[i].quantum = quantum;
		stores[i].qset = qset;
		sema_init(&stores[i].sem, 1);
		cdev_init(&stores[i].cdev, &sets_fops);
		stores[i].cdev.owner = THIS_MODULE;
		stores[i].cdev.ops = &sets_fops;
		if (cdev_add(&stores[i].cdev, MKDEV(major, i), 1))
			printk(KERN_NOTICE "Error adding scull%d", i);
	}
	proc_create("scullseq", 0, NULL, &mem_ops);
	return 0;
fail:
	sets_cleanup();
	return result;
}

module_init(sets_init);
module_exit(sets_cleanup);
MODULE_LICENSE("Dual BSD/GPL");
