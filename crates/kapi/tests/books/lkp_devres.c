/* Memory that a device's driver does not free: all that probe asked for goes when the device does. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

MODULE_LICENSE("Dual MIT/GPL");
#define MAXBYTES 32

struct drv_ctx {
	struct device *dev;
	int tx, rx, err, myword;
	char oursecret[MAXBYTES];
	char *label;
};

static struct drv_ctx *ctx;

static int open_miscdrv(struct inode *inode, struct file *filp)
{
	char *buf = kzalloc(PATH_MAX, GFP_KERNEL);

	if (unlikely(!buf))
		return -ENOMEM;
	dev_info(ctx->dev, "opening \"%s\" now; wrt open file: f_flags = 0x%x\n", file_path(filp, buf, PATH_MAX),
		 filp->f_flags & O_ACCMODE);
	kfree(buf);
	return nonseekable_open(inode, filp);
}

static ssize_t read_miscdrv(struct file *filp, char __user *ubuf, size_t count, loff_t *off)
{
	int secret_len = strnlen(ctx->oursecret, MAXBYTES), ret = -EINVAL;

	if (count < MAXBYTES) {
		dev_warn(ctx->dev, "request # of bytes (%zu) is < required size (%d)\n", count, MAXBYTES);
		goto out;
	}
	ret = -EFAULT;
	if (copy_to_user(ubuf, ctx->oursecret, secret_len))
		goto out;
	ret = secret_len;
	ctx->tx += secret_len;
out:
	return ret;
}

static ssize_t write_miscdrv(struct file *filp, const char __user *ubuf, size_t count, loff_t *off)
{
	void *kbuf;
	int ret = count;

	if (unlikely(count > MAXBYTES)) {
		dev_warn(ctx->dev, "count %zu exceeds max # of bytes allowed, aborting write\n", count);
		return -ENOSPC;
	}
	kbuf = kvmalloc(count, GFP_KERNEL);
	if (unlikely(!kbuf))
		return -ENOMEM;
	memset(kbuf, 0, count);
	if (copy_from_user(kbuf, ubuf, count)) {
		ret = -EFAULT;
		goto out;
	}
	strscpy(ctx->oursecret, kbuf, min_t(size_t, count + 1, MAXBYTES));
	ctx->rx += count;
	dev_info(ctx->dev, "%zu bytes written (stats: tx=%d, rx=%d)\n", count, ctx->tx, ctx->rx);
out:
	kvfree(kbuf);
	return ret;
}

static int close_miscdrv(struct inode *inode, struct file *filp)
{
	pr_debug("closing\n");
	return 0;
}

static const struct file_operations llkd_misc_fops = {
	.open = open_miscdrv,
	.read = read_miscdrv,
	.write = write_miscdrv,
	.release = close_miscdrv,
};

static struct miscdevice llkd_miscdev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "llkd_rdwr",
	.mode = 0666,
	.fops = &llkd_misc_fops,
};

static void told_last(void *data)
{
	pr_info("action of %s\n", (const char *)data);
}

static int __init miscdrv_init(void)
{
	int ret = misc_register(&llkd_miscdev);
	struct device *dev;
	void *page;

	if (ret) {
		pr_notice("misc device registration failed, aborting\n");
		return ret;
	}
	dev = llkd_miscdev.this_device;
	ctx = devm_kzalloc(dev, sizeof(struct drv_ctx), GFP_KERNEL);
	if (unlikely(!ctx))
		return -ENOMEM;
	ctx->dev = dev;
	ctx->label = devm_kasprintf(dev, GFP_KERNEL, "%s-%d", "label", 7);
	page = (void *)devm_get_free_pages(dev, GFP_KERNEL, 1);
	ret = devm_add_action_or_reset(dev, told_last, "the device");
	if (!ctx->label || !page || ret)
		return -ENOMEM;
	strscpy(ctx->oursecret, "initmsg", 8);
	devm_kfree(dev, devm_kmalloc_array(dev, 4, 4, GFP_KERNEL));
	dev_dbg(ctx->dev, "a debug message\n");
	pr_info("registered (major 10), %s, minor dynamic %d\n", ctx->label, llkd_miscdev.minor != MISC_DYNAMIC_MINOR);
	return 0;
}

static void __exit miscdrv_exit(void)
{
	misc_deregister(&llkd_miscdev);
	pr_info("deregistered\n");
}

module_init(miscdrv_init);
module_exit(miscdrv_exit);
