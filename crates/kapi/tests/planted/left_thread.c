// left behind: the thread `sleeper` is still there
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/delay.h>

static int sleeper(void *data)
{
	while (!kthread_should_stop())
		msleep(10);
	return 0;
}

static int __init begin(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(sleeper, NULL, "sleeper")); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
