// Nothing is wrong here: seqlock and atomics.
#include <linux/module.h>
#include <linux/seqlock.h>
#include <linux/atomic.h>
#include <linux/kthread.h>

static DEFINE_SEQLOCK(seq);
static long a, b;
static atomic64_t reads_done = ATOMIC64_INIT(0);

static int reads(void *data)
{
	while (!kthread_should_stop()) {
		unsigned int start;
		long x, y;

		do {
			start = read_seqbegin(&seq);
			x = READ_ONCE(a);
			y = READ_ONCE(b);
		} while (read_seqretry(&seq, start));
		WARN_ON_ONCE(x != y);
		atomic64_inc(&reads_done);
	}
	return 0;
}

static struct task_struct *task;

static int __init begin(void)
{
	int i;

	task = kthread_run(reads, NULL, "reads");
	if (IS_ERR(task))
		return PTR_ERR(task);
	for (i = 0; i < 1000; i++) {
		write_seqlock(&seq);
		WRITE_ONCE(a, a + 1);
		WRITE_ONCE(b, b + 1);
		write_sequnlock(&seq);
	}
	return 0;
}

static void __exit end(void)
{
	kthread_stop(task);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
