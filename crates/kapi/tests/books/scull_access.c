/* Four ways to say who may open: one process, one user at once, one user after the other, and each terminal its own. */
#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tty.h>
#include <linux/types.h>
#include <linux/uaccess.h>

struct note {
	char text[16];
	size_t len;
	struct cdev cdev;
};

static dev_t first;
static struct note notes[4];

static ssize_t note_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct note *note = filp->private_data;

	return simple_read_from_buffer(buf, count, pos, note->text, note->len);
}

static ssize_t note_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	struct note *note = filp->private_data;
	ssize_t n = simple_write_to_buffer(note->text, sizeof(note->text), pos, buf, count);

	if (n > 0)
		note->len = max_t(size_t, note->len, *pos);
	return n;
}

static void trim_if_writer(struct note *note, struct file *filp)
{
	if ((filp->f_flags & O_ACCMODE) == O_WRONLY)
		note->len = 0;
	filp->private_data = note;
}

static atomic_t s_available = ATOMIC_INIT(1);

static int s_open(struct inode *inode, struct file *filp)
{
	if (!atomic_dec_and_test(&s_available)) {
		atomic_inc(&s_available);
		return -EBUSY;
	}
	trim_if_writer(&notes[0], filp);
	return 0;
}

static int s_release(struct inode *inode, struct file *filp)
{
	atomic_inc(&s_available);
	return 0;
}

static int u_count;
static kuid_t u_owner;
static DEFINE_SPINLOCK(u_lock);

static bool u_may(void)
{
	return u_count == 0 || uid_eq(u_owner, current_uid()) || uid_eq(u_owner, current_euid()) || capable(CAP_DAC_OVERRIDE);
}

static int u_open(struct inode *inode, struct file *filp)
{
	spin_lock(&u_lock);
	if (!u_may()) {
		spin_unlock(&u_lock);
		return -EBUSY;
	}
	if (u_count == 0)
		u_owner = current_uid();
	u_count++;
	spin_unlock(&u_lock);
	trim_if_writer(&notes[1], filp);
	return 0;
}

static int u_release(struct inode *inode, struct file *filp)
{
	spin_lock(&u_lock);
	u_count--;
	spin_unlock(&u_lock);
	return 0;
}

static int w_count;
static kuid_t w_owner;
static DECLARE_WAIT_QUEUE_HEAD(w_wait);
static DEFINE_SPINLOCK(w_lock);

static inline int w_may(void)
{
	return w_count == 0 || w_owner.val == current_uid().val || w_owner.val == current_euid().val ||
	       capable(CAP_DAC_OVERRIDE);
}

static int w_open(struct inode *inode, struct file *filp)
{
	spin_lock(&w_lock);
	while (!w_may()) {
		spin_unlock(&w_lock);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(w_wait, w_may()))
			return -ERESTARTSYS;
		spin_lock(&w_lock);
	}
	if (w_count == 0)
		w_owner = current_uid();
	w_count++;
	spin_unlock(&w_lock);
	trim_if_writer(&notes[2], filp);
	return 0;
}

static int w_release(struct inode *inode, struct file *filp)
{
	int left;

	spin_lock(&w_lock);
	left = --w_count;
	spin_unlock(&w_lock);
	if (left == 0)
		wake_up_interruptible_sync(&w_wait);
	return 0;
}

struct clone {
	struct note note;
	dev_t key;
	struct list_head list;
};

static LIST_HEAD(clones);
static DEFINE_SPINLOCK(c_lock);

static struct note *lookup(dev_t key)
{
	struct clone *clone;

	list_for_each_entry(clone, &clones, list)
		if (clone->key == key)
			return &clone->note;
	clone = kmalloc(sizeof(struct clone), GFP_ATOMIC);
	if (!clone)
		return NULL;
	memset(clone, 0, sizeof(struct clone));
	clone->key = key;
	list_add(&clone->list, &clones);
	return &clone->note;
}

static int c_open(struct inode *inode, struct file *filp)
{
	struct note *note;
	dev_t key;

	if (!current->signal->tty) {
		pr_debug("Process \"%s\" has no ctl tty\n", current->comm);
		return -EINVAL;
	}
	key = tty_devnum(current->signal->tty);
	spin_lock(&c_lock);
	note = lookup(key);
	spin_unlock(&c_lock);
	if (!note)
		return -ENOMEM;
	trim_if_writer(note, filp);
	return 0;
}

static int c_release(struct inode *inode, struct file *filp)
{
	return 0;
}

#define FOPS(way) { .owner = THIS_MODULE, .llseek = default_llseek, .read = note_read, .write = note_write, \
		    .open = way##_open, .release = way##_release }
static struct file_operations fops[] = { FOPS(s), FOPS(u), FOPS(w), FOPS(c) };
static const char *const names[] = { "sculls", "scullu", "scullw", "scullc" };

static int __init access_init(void)
{
	int i, result = alloc_chrdev_region(&first, 0, ARRAY_SIZE(fops), "sculla");

	if (result < 0)
		return result;
	for (i = 0; i < ARRAY_SIZE(fops); i++) {
		cdev_init(&notes[i].cdev, &fops[i]);
		kobject_set_name(&notes[i].cdev.kobj, "%s", names[i]);
		notes[i].cdev.owner = THIS_MODULE;
		if (cdev_add(&notes[i].cdev, first + i, 1))
			kobject_put(&notes[i].cdev.kobj);
		else
			printk(KERN_NOTICE "%s registered as minor %u\n", names[i], MINOR(first + i));
	}
	return 0;
}

static void __exit access_exit(void)
{
	struct clone *clone, *next;
	int i;

	for (i = 0; i < ARRAY_SIZE(fops); i++)
		cdev_del(&notes[i].cdev);
	list_for_each_entry_safe(clone, next, &clones, list) {
		list_del(&clone->list);
		kfree(clone);
	}
	unregister_chrdev_region(first, ARRAY_SIZE(fops));
}

module_init(access_init);
module_exit(access_exit);
MODULE_LICENSE("Dual BSD/GPL");
