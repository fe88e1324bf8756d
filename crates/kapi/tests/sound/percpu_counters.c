// Nothing is wrong here: percpu counters.
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/smp.h>

static DEFINE_PER_CPU(long, hits);
static struct percpu_counter counter;

static int __init begin(void)
{
	long __percpu *dynamic = alloc_percpu(long);
	int cpu, result;
	long sum = 0;

	if (!dynamic)
		return -ENOMEM;
	this_cpu_inc(hits);
	*get_cpu_ptr(dynamic) = 7;
	put_cpu_ptr(dynamic);
	for_each_possible_cpu(cpu)
		sum += per_cpu(hits, cpu) + *per_cpu_ptr(dynamic, cpu);
	free_percpu(dynamic);
	result = percpu_counter_init(&counter, 0, GFP_KERNEL);
	if (result)
		return result;
	percpu_counter_add(&counter, 5);
	return sum == 8 && percpu_counter_sum(&counter) == 5 ? 0 : -EINVAL;
}

static void __exit end(void)
{
	percpu_counter_destroy(&counter);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
