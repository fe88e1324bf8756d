/* Who may open: one process at a time, one user, or one after the other; by a class with a device of each kind. */
#include <linux/module.h>
#include <linux/cdev.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

static atomic_t available = ATOMIC_INIT(1);
static DEFINE_SPINLOCK(user_lock);
static int user_count, turn;
static uid_t owner;
static DECLARE_WAIT_QUEUE_HEAD(turns);
static dev_t first;
static struct cdev cdev;
static struct class *class;

static int single_open(struct inode *inode, struct file *filp)
{
	if (!atomic_dec_and_test(&available)) {
		atomic_inc(&available);
		return -EBUSY;
	}
	return 0;
}

static int single_release(struct inode *inode, struct file *filp)
{
	atomic_inc(&available);
	return 0;
}

static int user_open(struct inode *inode, struct file *filp)
{
	spin_lock(&user_lock);
	if (user_count && owner != current_uid().val && owner != current_euid().val && !capable(CAP_DAC_OVERRIDE)) {
		spin_unlock(&user_lock);
		return -EBUSY;
	}
	if (user_count == 0)
		owner = current_uid().val;
	user_count++;
	spin_unlock(&user_lock);
	return 0;
}

static int user_release(struct inode *inode, struct file *filp)
{
	spin_lock(&user_lock);
	user_count--;
	spin_unlock(&user_lock);
	return 0;
}

static int turn_open(struct inode *inode, struct file *filp)
{
	spin_lock(&user_lock);
	while (turn) {
		spin_unlock(&user_lock);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(turns, !turn))
			return -ERESTARTSYS;
		spin_lock(&user_lock);
	}
	turn = 1;
	spin_unlock(&user_lock);
	pr_info("%s has its turn\n", current->comm);
	return 0;
}

static int turn_release(struct inode *inode, struct file *filp)
{
	spin_lock(&user_lock);
	turn = 0;
	spin_unlock(&user_lock);
	wake_up_interruptible_sync(&turns);
	return 0;
}

static const struct {
	const char *name;
	struct file_operations fops;
} kinds[] = {
	{ "single", { .owner = THIS_MODULE, .open = single_open, .release = single_release } },
	{ "user", { .owner = THIS_MODULE, .open = user_open, .release = user_release } },
	{ "turn", { .owner = THIS_MODULE, .open = turn_open, .release = turn_release } },
};

/* The device's number says which kind it is. */
static int access_open(struct inode *inode, struct file *filp)
{
	filp->f_op = &kinds[iminor(inode)].fops;
	return filp->f_op->open(inode, filp);
}

static const struct file_operations access_fops = { .owner = THIS_MODULE, .open = access_open };

static int __init access_init(void)
{
	int i, result = alloc_chrdev_region(&first, 0, ARRAY_SIZE(kinds), "access");

	if (result)
		return result;
	cdev_init(&cdev, &access_fops);
	result = cdev_add(&cdev, first, ARRAY_SIZE(kinds));
	class = class_create("access");
	if (IS_ERR(class))
		return PTR_ERR(class);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		device_create(class, NULL, MKDEV(MAJOR(first), i), NULL, "access!%s", kinds[i].name);
	return result;
}

static void __exit access_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		device_destroy(class, MKDEV(MAJOR(first), i));
	class_destroy(class);
	cdev_del(&cdev);
	unregister_chrdev_region(first, ARRAY_SIZE(kinds));
}
module_init(access_init);
module_exit(access_exit);
MODULE_LICENSE("GPL");
