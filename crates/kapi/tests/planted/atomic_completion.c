// sleep in atomic context: wait_for_completion() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/completion.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DECLARE_COMPLETION(done);

static int __init begin(void)
{
	complete(&done);
	spin_lock(&lock);
	wait_for_completion(&done); // in
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
