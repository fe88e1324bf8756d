/* What a store holds. */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "sculld.h"

ssize_t sculld_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	struct sculld_dev *dev = filp->private_data;
	ssize_t n;

	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	n = dev->data ? simple_read_from_buffer(buf, count, f_pos, dev->data, dev->size) : 0;
	up(&dev->sem);
	return n;
}

ssize_t sculld_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	struct sculld_dev *dev = filp->private_data;
	ssize_t n = -ENOMEM;

	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	if (!dev->data)
		dev->data = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, dev->order);
	if (dev->data)
		n = simple_write_to_buffer(dev->data, PAGE_SIZE << dev->order, f_pos, buf, count);
	if (n > 0 && dev->size < *f_pos)
		dev->size = *f_pos;
	up(&dev->sem);
	return n;
}

void sculld_trim(struct sculld_dev *dev)
{
	if (dev->data)
		free_pages((unsigned long)dev->data, dev->order);
	dev->data = NULL;
	dev->size = 0;
	dev->order = sculld_order;
}
