/* One thing that is not taken down again, as the parameter says; without it all goes. */
#include <linux/cdev.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

static char *what = "";
module_param(what, charp, 0);
#define IS(kind) (!strcmp(what, kind))

struct item {
	struct timer_list timer;
	struct work_struct work;
	int number;
};

static struct item *item;
static struct timer_list timer;
static struct hrtimer hrtimer;
static struct delayed_work delayed;
static struct workqueue_struct *queue;
static struct task_struct *thread;
static struct dentry *folder;
static struct cdev cdev;
static dev_t first;
static const struct file_operations fops = { .owner = THIS_MODULE };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "left", .fops = &fops };

static void timer_fires(struct timer_list *t)
{
	pr_info("fires\n");
}

static enum hrtimer_restart hrtimer_fires(struct hrtimer *t)
{
	return HRTIMER_NORESTART;
}

static void delayed_fn(struct work_struct *work)
{
}

static int thread_fn(void *data)
{
	while (!kthread_should_stop())
		msleep_interruptible(10);
	return 0;
}

static int left_show(struct seq_file *m, void *v)
{
	return 0;
}

static int __init left_init(void)
{
	timer_setup(&timer, timer_fires, 0);
	mod_timer(&timer, jiffies + 100 * HZ);
	hrtimer_init(&hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer.function = hrtimer_fires;
	hrtimer_start(&hrtimer, ktime_set(100, 0), HRTIMER_MODE_REL);
	INIT_DELAYED_WORK(&delayed, delayed_fn);
	schedule_delayed_work(&delayed, 100 * HZ);
	queue = alloc_workqueue("left_queue", 0, 0);
	thread = kthread_run(thread_fn, NULL, "left_thread");
	folder = debugfs_create_dir("left", NULL);
	proc_create_single("left", 0444, NULL, left_show);
	misc_register(&misc);
	alloc_chrdev_region(&first, 0, 1, "left_region");
	cdev_init(&cdev, &fops);
	cdev_add(&cdev, first, 1);
	item = kzalloc(sizeof(*item), GFP_KERNEL);
	timer_setup(&item->timer, timer_fires, 0);
	if (IS("freed timer"))
		mod_timer(&item->timer, jiffies + HZ);
	return 0;
}

static void __exit left_exit(void)
{
	if (!IS("timer"))
		del_timer_sync(&timer);
	if (!IS("hrtimer"))
		hrtimer_cancel(&hrtimer);
	if (!IS("delayed"))
		cancel_delayed_work_sync(&delayed);
	if (!IS("queue"))
		destroy_workqueue(queue);
	if (!IS("thread"))
		kthread_stop(thread);
	if (!IS("debugfs"))
		debugfs_remove_recursive(folder);
	if (!IS("proc"))
		remove_proc_entry("left", NULL);
	if (!IS("misc"))
		misc_deregister(&misc);
	if (!IS("cdev"))
		cdev_del(&cdev);
	if (!IS("region"))
		unregister_chrdev_region(first, 1);
	kfree(item);
}
module_init(left_init);
module_exit(left_exit);
MODULE_LICENSE("GPL");
