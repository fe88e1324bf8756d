/* Variables of each CPU: static, allocated, in a structure; and threads that are bound to a CPU each. */
#define pr_fmt(fmt) "%s: " fmt, KBUILD_MODNAME
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>

MODULE_LICENSE("Dual MIT/GPL");
#define THRD0 0
#define THRD1 1

static DEFINE_PER_CPU(int, pcpa);
static struct drv_ctx {
	int tx, rx;
} __percpu *pcp_ctx;
static struct completion done[2];
static DEFINE_PER_CPU_ALIGNED(unsigned long, hits);

static int thrd_work(void *arg)
{
	long thrd = (long)arg;
	struct drv_ctx *ctx;
	int i, val;

	for (i = 0; i < 3; i++) {
		ctx = get_cpu_ptr(pcp_ctx);
		ctx->tx += thrd == THRD0 ? 100 : -100;
		val = thrd == THRD0 ? ++get_cpu_var(pcpa) : --get_cpu_var(pcpa);
		put_cpu_var(pcpa);
		put_cpu_ptr(pcp_ctx);
		this_cpu_add(hits, val != 0);
	}
	complete(&done[thrd]);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int __init percpu_init(void)
{
	struct task_struct *threads[2];
	int cpu, i, sum = 0;

	pcp_ctx = alloc_percpu(struct drv_ctx);
	if (!pcp_ctx)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		init_completion(&done[i]);
		threads[i] = kthread_create(thrd_work, (void *)(long)i, "thrd_%d/%d", i, i);
		if (IS_ERR(threads[i]))
			return PTR_ERR(threads[i]);
		kthread_bind(threads[i], i);
		wake_up_process(threads[i]);
	}
	for (i = 0; i < 2; i++) {
		wait_for_completion(&done[i]);
		kthread_stop(threads[i]);
	}
	for_each_online_cpu(cpu) {
		struct drv_ctx *ctx = per_cpu_ptr(pcp_ctx, cpu);

		if (cpu < 2)
			pr_info("cpu %d: pcpa %d, tx %d, hits %lu\n", cpu, per_cpu(pcpa, cpu), ctx->tx, per_cpu(hits, cpu));
		sum += ctx->tx;
	}
	pr_info("sum %d, CPUs %u, possible %d\n", sum, num_online_cpus(), num_possible_cpus() >= 2);
	return 0;
}

static void __exit percpu_exit(void)
{
	free_percpu(pcp_ctx);
}

module_init(percpu_init);
module_exit(percpu_exit);
