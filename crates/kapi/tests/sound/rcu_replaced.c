// Nothing is wrong here: rcu replaced.
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/mutex.h>
#include <linux/kthread.h>

struct settings {
	int a, b;
};

static struct settings __rcu *settings;
static DEFINE_MUTEX(lock);
static struct task_struct *task;
static int wrong;

static int reads(void *data)
{
	while (!kthread_should_stop()) {
		const struct settings *seen;

		rcu_read_lock();
		seen = rcu_dereference(settings);
		if (seen->a != seen->b)
			wrong++;
		rcu_read_unlock();
	}
	return 0;
}

static int change(int value)
{
	struct settings *new = kmalloc(sizeof(*new), GFP_KERNEL), *old;

	if (!new)
		return -ENOMEM;
	new->a = new->b = value;
	mutex_lock(&lock);
	old = rcu_dereference_protected(settings, lockdep_is_held(&lock));
	rcu_assign_pointer(settings, new);
	mutex_unlock(&lock);
	synchronize_rcu();
	kfree(old);
	return 0;
}

static int __init begin(void)
{
	int i, result = change(0);

	if (result)
		return result;
	task = kthread_run(reads, NULL, "reads");
	if (IS_ERR(task))
		return PTR_ERR(task);
	for (i = 1; i < 20 && !result; i++)
		result = change(i);
	return result;
}

static void __exit end(void)
{
	kthread_stop(task);
	kfree(rcu_dereference_protected(settings, 1));
	WARN_ON(wrong);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
