/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps SLAB's reaping out of a replay. For slabreplay.c alone. */
#if defined(CONFIG_SLAB) && defined(CONFIG_KPROBES) && defined(CONFIG_X86_64)
/* SLAB gives back what it parks by the clock: not while a trace is replayed, whose time is another. */
static int put_off(struct kprobe *probe, struct pt_regs *regs)
{
	schedule_delayed_work_on(raw_smp_processor_id(), to_delayed_work((struct work_struct *)regs->di), HZ);
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
	unregister_kprobe(&reaping);
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
