/* Cycles for an allocation, the way people measured it on 2.6: rdtscl around the call. */
#include <linux/config.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/sched.h>
#include <asm/msr.h>
#include <asm/uaccess.h>

#define SAMPLES 1024

static int size = 64;
MODULE_PARM(size, "i");

static unsigned long ini, end;

int init_module(void)
{
	unsigned long kmalloc_sum = 0, pages_sum = 0, vmalloc_sum = 0, overhead = ~0UL;
	void *p;
	int i;

	for (i = 0; i < SAMPLES; i++) {
		rdtscl(ini);
		rdtscl(end);
		if (end - ini < overhead)
			overhead = end - ini;
	}
	for (i = 0; i < SAMPLES; i++) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_timeout(0);
		rdtscl(ini);
		p = kmalloc(size, GFP_KERNEL);
		rdtscl(end);
		kmalloc_sum += end - ini - overhead;
		if (!p)
			return -ENOMEM;
		kfree(p);
	}
	for (i = 0; i < SAMPLES; i++) {
		schedule();
		rdtscl(ini);
		p = (void *)__get_free_pages(GFP_KERNEL, get_order(size));
		rdtscl(end);
		pages_sum += end - ini - overhead;
		free_pages((unsigned long)p, get_order(size));
	}
	for (i = 0; i < SAMPLES; i++) {
		rdtscl(ini);
		p = vmalloc(size);
		rdtscl(end);
		vmalloc_sum += end - ini - overhead;
		vfree(p);
	}
	printk("<1>kmalloc: %lu cycles\n", kmalloc_sum / SAMPLES);
	printk("<1>pages: %lu cycles\n", pages_sum / SAMPLES);
	printk("<1>vmalloc: %lu cycles\n", vmalloc_sum / SAMPLES);
	return 0;
}

void cleanup_module(void)
{
	printk("<1>bye, cruel world\n");
}
