/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps SLAB's reaping out of a replay. For slabreplay.c alone. */
#if defined(CONFIG_SLAB) && defined(CONFIG_KPROBES) && defined(CONFIG_X86_64)
/* The reaping of each CPU that was due meanwhile. It arms itself anew at its end only. */
static DEFINE_PER_CPU(struct delayed_work *, put_off_work);

/*
 * SLAB gives back what it parks by the clock: not while a trace is replayed,
 * whose time is another. A probe may take no lock, so the work is noted here
 * and armed again at the end.
 */
static int put_off(struct kprobe *probe, struct pt_regs *regs)
{
	this_cpu_write(put_off_work, to_delayed_work((struct work_struct *)regs->di));
	/* To the caller, as if it had returned. */
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	return 1;
}
NOKPROBE_SYMBOL(put_off);

/* A probe that has this is not made a jump, from which there is no returning elsewhere. */
static void after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe reaping = {
	.symbol_name = "cache_reap",
	.pre_handler = put_off,
	.post_handler = after,
};

static int hold_reaping(void)
{
	return register_kprobe(&reaping);
}

static void release_reaping(void)
{
	int cpu;

	unregister_kprobe(&reaping);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct delayed_work *work = per_cpu(put_off_work, cpu);

		if (work)
			schedule_delayed_work_on(cpu, work, 2 * HZ);
		per_cpu(put_off_work, cpu) = NULL;
	}
	cpus_read_unlock();
}
#else
static int hold_reaping(void)
{
	return 0;
}

static void release_reaping(void)
{
}
#endif
