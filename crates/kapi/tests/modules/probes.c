/* Counts calls by probes: of a function of the kernel, of one that calls itself, of one that several threads call; and what is
 * refused. */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>

static atomic_t begins, ends, sum, ready;

static int count(struct kprobe *p, struct pt_regs *regs)
{
	atomic_inc(&begins);
	return 0;
}
static struct kprobe frees = { .symbol_name = "kfree", .pre_handler = count };

static noinline int factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(int *)ri->data = (int)regs_get_kernel_argument(regs, 0);
	return *(int *)ri->data == 3;
}

static int end(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&ends);
	atomic_add((int)regs_return_value(regs) * *(int *)ri->data, &sum);
	return 0;
}
static struct kretprobe ret = {
	.kp.symbol_name = "factorial", .entry_handler = entry, .handler = end, .data_size = sizeof(int), .maxactive = 64
};

static int worker(void *data)
{
	int i;

	for (i = 0; i < 100; i++)
		kfree(kmalloc(32, GFP_KERNEL));
	atomic_inc(&ready);
	while (!kthread_should_stop())
		schedule();
	return 0;
}

static int __init probes_init(void)
{
	struct kprobe none = { .symbol_name = "no_such_function" }, inside = { .symbol_name = "factorial", .offset = 2 };
	struct task_struct *tasks[4];
	int i, error;

	pr_info("probes: refused %d, %d\n", register_kprobe(&none), register_kprobe(&inside));
	error = register_kprobe(&frees) ?: register_kretprobe(&ret);
	if (error)
		return error;
	pr_info("probes: again %d\n", register_kprobe(&frees));
	for (i = 0; i < 4; i++)
		tasks[i] = kthread_run(worker, NULL, "worker/%d", i);
	/* A thread that is stopped before it begins does nothing. */
	while (atomic_read(&ready) < 4)
		schedule();
	for (i = 0; i < 4; i++)
		kthread_stop(tasks[i]);
	disable_kprobe(&frees);
	kfree(kmalloc(8, GFP_KERNEL));
	unregister_kprobe(&frees);
	kfree(kmalloc(8, GFP_KERNEL));
	/* 1, 2, 6, 24, 120 of 1 to 5; the third is left out. */
	i = factorial(5);
	unregister_kretprobe(&ret);
	i += factorial(3);
	pr_info("probes: %d frees, %d ends, sum %d, result %d\n", atomic_read(&begins), atomic_read(&ends), atomic_read(&sum), i);
	return 0;
}

static void __exit probes_exit(void) {}
module_init(probes_init);
module_exit(probes_exit);
MODULE_LICENSE("GPL");
