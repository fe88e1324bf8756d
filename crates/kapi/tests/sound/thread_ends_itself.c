// Nothing is wrong here: thread ends itself.
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/completion.h>

static DECLARE_COMPLETION(done);

static int once(void *data)
{
	complete(&done);
	return 0;
}

static int __init begin(void)
{
	struct task_struct *task = kthread_run(once, NULL, "once");

	return PTR_ERR_OR_ZERO(task);
}

static void __exit end(void)
{
	wait_for_completion(&done);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
