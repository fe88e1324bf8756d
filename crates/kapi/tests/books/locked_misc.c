/* A misc device whose statistics a mutex guards, those of interrupts a spinlock; debugfs shows them, and a refcount. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

MODULE_LICENSE("Dual MIT/GPL");
#define MAXBYTES 128

struct drv_ctx {
	struct device *dev;
	u32 tx, rx, config;
	u64 words;
	char oursecret[MAXBYTES];
	struct mutex mutex;
	spinlock_t spinlock;
};

static struct drv_ctx *ctx;
static DEFINE_MUTEX(lock1);
static refcount_t ga = REFCOUNT_INIT(1);
static struct dentry *gparent;
static struct debugfs_blob_wrapper blob;

static int display_stats(bool show_stats)
{
	int ret = 0;

	if (show_stats && mutex_lock_interruptible(&ctx->mutex))
		return -ERESTARTSYS;
	if (show_stats) {
		dev_info(ctx->dev, "stats: tx=%d, rx=%d\n", ctx->tx, ctx->rx);
		ret = ctx->tx + ctx->rx;
		mutex_unlock(&ctx->mutex);
	}
	return ret;
}

static int drv_open(struct inode *inode, struct file *filp)
{
	struct device *dev = ctx->dev;

	refcount_inc(&ga);
	mutex_lock(&lock1);
	dev_dbg(dev, "opening; f_flags 0x%x\n", filp->f_flags);
	mutex_unlock(&lock1);
	return 0;
}

static ssize_t drv_read(struct file *filp, char __user *ubuf, size_t count, loff_t *off)
{
	int ret = count, secret_len, err_path = 0;

	mutex_lock(&ctx->mutex);
	secret_len = strlen(ctx->oursecret);
	mutex_unlock(&ctx->mutex);
	if (secret_len <= 0) {
		dev_warn(ctx->dev, "whoops, something's wrong, the 'secret' isn't available..; aborting read\n");
		return -EINVAL;
	}
	mutex_lock(&ctx->mutex);
	if (copy_to_user(ubuf, ctx->oursecret, min_t(size_t, count, secret_len))) {
		ret = -EFAULT;
		err_path = 1;
	}
	if (!err_path) {
		ret = min_t(size_t, count, secret_len);
		ctx->tx += ret;
	}
	mutex_unlock(&ctx->mutex);
	display_stats(1);
	return ret;
}

static ssize_t drv_write(struct file *filp, const char __user *ubuf, size_t count, loff_t *off)
{
	void *kbuf;

	if (count > MAXBYTES)
		return -ENOSPC;
	kbuf = memdup_user_nul(ubuf, count);
	if (IS_ERR(kbuf))
		return PTR_ERR(kbuf);
	mutex_lock(&ctx->mutex);
	strscpy(ctx->oursecret, kbuf, sizeof(ctx->oursecret));
	ctx->rx += count;
	mutex_unlock(&ctx->mutex);
	spin_lock(&ctx->spinlock);
	ctx->words++;
	spin_unlock(&ctx->spinlock);
	kfree_sensitive(kbuf);
	return count;
}

static int drv_close(struct inode *inode, struct file *filp)
{
	refcount_dec(&ga);
	return 0;
}

static const struct file_operations drv_fops = {
	.owner = THIS_MODULE, .open = drv_open, .read = drv_read, .write = drv_write, .llseek = no_seek_end_llseek,
	.release = drv_close,
};

static struct miscdevice drv_dev = { .minor = MISC_DYNAMIC_MINOR, .name = "lkp_locked", .mode = 0666, .fops = &drv_fops };

static int stats_show(struct seq_file *m, void *unused)
{
	struct drv_ctx *data = m->private;

	seq_printf(m, "tx %u rx %u words %llu refs %u\n", data->tx, data->rx, data->words, refcount_read(&ga));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int __init drv_init(void)
{
	int ret = misc_register(&drv_dev);

	if (ret)
		return ret;
	ctx = devm_kzalloc(drv_dev.this_device, sizeof(struct drv_ctx), GFP_KERNEL);
	if (unlikely(!ctx)) {
		misc_deregister(&drv_dev);
		return -ENOMEM;
	}
	mutex_init(&ctx->mutex);
	spin_lock_init(&ctx->spinlock);
	ctx->dev = drv_dev.this_device;
	ctx->config = 7;
	gparent = debugfs_create_dir("lkp_locked", NULL);
	debugfs_create_file("stats", 0440, gparent, ctx, &stats_fops);
	debugfs_create_u32("config", 0644, gparent, &ctx->config);
	debugfs_create_x64("words", 0444, gparent, &ctx->words);
	blob.data = ctx->oursecret;
	blob.size = 4;
	debugfs_create_blob("secret", 0400, gparent, &blob);
	return 0;
}

static void __exit drv_exit(void)
{
	debugfs_remove_recursive(gparent);
	mutex_destroy(&ctx->mutex);
	mutex_destroy(&lock1);
	misc_deregister(&drv_dev);
	pr_info("refs %u\n", refcount_read(&ga));
}

module_init(drv_init);
module_exit(drv_exit);
