// Nothing is wrong here: completion of thread.
#include <linux/module.h>
#include <linux/completion.h>
#include <linux/kthread.h>

static DECLARE_COMPLETION(started);
static DECLARE_COMPLETION(ended);

static int works(void *data)
{
	complete(&started);
	complete_all(&ended);
	return 0;
}

static int __init begin(void)
{
	struct task_struct *task = kthread_run(works, NULL, "works");

	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&started);
	return wait_for_completion_timeout(&ended, HZ) ? 0 : -ETIMEDOUT;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
