/* A character device that keeps what is written to it in pages, in the manner of the driver books. */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/fs.h>
#include <linux/cdev.h>
#include <linux/slab.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <asm/uaccess.h>

static int major;
static int pages = 4;
module_param(pages, int, 0444);
static char *store;
static size_t used;
static struct cdev cdev;

static int box_open(struct inode *inode, struct file *filp)
{
	filp->private_data = container_of(inode->i_cdev, typeof(cdev), owner) ? store : NULL;
	printk(KERN_INFO "box: open %u:%u\n", imajor(inode), iminor(inode));
	return 0;
}

static int box_release(struct inode *inode, struct file *filp)
{
	return 0;
}

static ssize_t box_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	if (*f_pos >= used)
		return 0;
	if (*f_pos + count > used)
		count = used - *f_pos;
	if (copy_to_user(buf, store + *f_pos, count))
		return -EFAULT;
	*f_pos += count;
	return count;
}

static ssize_t box_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	if (count > pages * PAGE_SIZE)
		return -ENOSPC;
	if (copy_from_user(store, buf, count))
		return -EFAULT;
	used = count;
	return count;
}

static struct file_operations box_fops = {
	.owner = THIS_MODULE,
	.open = box_open,
	.release = box_release,
	.read = box_read,
	.write = box_write,
};

static int __init box_init(void)
{
	dev_t dev;
	int result = alloc_chrdev_region(&dev, 0, 1, "box");

	if (result < 0)
		return result;
	major = MAJOR(dev);
	store = (char *)__get_free_pages(GFP_KERNEL, get_order(pages * PAGE_SIZE));
	if (!store) {
		unregister_chrdev_region(dev, 1);
		return -ENOMEM;
	}
	cdev_init(&cdev, &box_fops);
	cdev.owner = THIS_MODULE;
	return cdev_add(&cdev, dev, 1);
}

static void __exit box_exit(void)
{
	cdev_del(&cdev);
	free_pages((unsigned long)store, get_order(pages * PAGE_SIZE));
	unregister_chrdev_region(MKDEV(major, 0), 1);
}
module_init(box_init);
module_exit(box_exit);
MODULE_LICENSE("Dual BSD/GPL");
