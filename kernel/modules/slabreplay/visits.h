/* SPDX-License-Identifier: GPL-2.0-only */
/* SLUB_DENSE's visits to its magazines at the trace's time. For slabreplay.c alone, after reaping.h. */
static bool is_visits(const struct trace_event *event)
{
	return cache_of(event) == EVENT_VISITS;
}

#if defined(CONFIG_SLUB_DENSE) && defined(CONFIG_KPROBES) && defined(CONFIG_X86_64)
/* The timer of each CPU, once it expired; whether it may do what it is for. */
static DEFINE_PER_CPU(struct timer_list *, put_off_timer);
static DEFINE_PER_CPU(bool, is_asked);

/*
 * SLUB_DENSE empties idle magazines by the clock, and the trace's time is
 * another: the timer does nothing by itself meanwhile, and stays armed.
 */
static int put_off_visit(struct kprobe *probe, struct pt_regs *regs)
{
	if (this_cpu_read(is_asked))
		return 0;
	this_cpu_write(put_off_timer, (struct timer_list *)regs->di);
	/* To the caller, as if it had returned. */
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	return 1;
}
NOKPROBE_SYMBOL(put_off_visit);

/* A probe that has this is not made a jump, from which there is no returning elsewhere. */
static void after_visit(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe visiting = {
	.symbol_name = "dense_timer",
	.pre_handler = put_off_visit,
	.post_handler = after_visit,
};

/* This CPU's magazines are visited, on a thread of that CPU. */
static void visit(unsigned int times)
{
	void (*timer_expires)(struct timer_list *timer) = (void *)visiting.addr;

	local_bh_disable();
	this_cpu_write(is_asked, true);
	while (times--)
		timer_expires(this_cpu_read(put_off_timer));
	this_cpu_write(is_asked, false);
	local_bh_enable();
}

/* Warms a magazine of this CPU, so that its timer expires and is known. */
static long know_timer(void *unused)
{
	void *objects[32];
	unsigned int tries, i;

	for (tries = 0; tries < 100 && !this_cpu_read(put_off_timer); tries++) {
		for (i = 0; i < ARRAY_SIZE(objects); i++)
			objects[i] = kmalloc(64, GFP_KERNEL);
		for (i = 0; i < ARRAY_SIZE(objects); i++)
			kfree(objects[i]);
		msleep(20);
	}
	return this_cpu_read(put_off_timer) ? 0 : -ETIMEDOUT;
}

static void release_visits(void)
{
	int cpu;

	unregister_kprobe(&visiting);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct timer_list *timer = per_cpu(put_off_timer, cpu);

		if (timer && !timer_pending(timer)) {
			timer->expires = jiffies + 1;
			add_timer_on(timer, cpu);
		}
		per_cpu(put_off_timer, cpu) = NULL;
	}
	cpus_read_unlock();
}

static int hold_visits(void)
{
	int error = register_kprobe(&visiting), cpu;

	if (error)
		return error;
	for (cpu = 0; cpu < nr_cpus && !error; cpu++)
		error = work_on_cpu(cpu, know_timer, NULL);
	if (error) {
		release_visits();
		pr_err(NAME ": SLUB_DENSE's timer of CPU %d does not expire\n", cpu - 1);
	}
	return error;
}
#else
static int hold_visits(void)
{
	return 0;
}

static void release_visits(void)
{
}

static void visit(unsigned int times)
{
}
#endif

/* Nothing goes by the clock of this kernel until it is released. */
static int hold_clocks(void)
{
	int error = hold_reaping();

	if (error)
		return error;
	error = hold_visits();
	if (error)
		release_reaping();
	return error;
}

static void release_clocks(void)
{
	release_visits();
	release_reaping();
}

static void settle(void)
{
	synchronize_rcu();
	rcu_barrier();
}
