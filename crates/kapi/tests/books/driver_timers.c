/* A timer that arms itself, a high-resolution one that counts, and a delayed work, with the context that each runs in. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

MODULE_LICENSE("Dual MIT/GPL");

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync(t) del_timer_sync(t)
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, callback_timer, field) from_timer(var, callback_timer, field)
#endif

#define INITIAL_VALUE 3
static unsigned long exp_ms = 2;
module_param(exp_ms, ulong, 0600);

static struct st_ctx {
	struct timer_list tmr;
	struct hrtimer hrt;
	struct delayed_work dwork;
	struct completion done;
	int data, ticks;
} ctx;

static void ding(struct timer_list *timer)
{
	struct st_ctx *priv = timer_container_of(priv, timer, tmr);

	pr_info("timed out, data=%d, softirq %d\n", priv->data--, in_serving_softirq() != 0);
	if (priv->data)
		mod_timer(&priv->tmr, jiffies + msecs_to_jiffies(exp_ms));
	else
		complete(&priv->done);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct st_ctx *priv = container_of(timer, struct st_ctx, hrt);

	if (++priv->ticks == 3) {
		complete(&priv->done);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ms_to_ktime(1));
	return HRTIMER_RESTART;
}

static void work_func(struct work_struct *work)
{
	struct delayed_work *dwork = container_of(work, struct delayed_work, work);
	struct st_ctx *priv = container_of(dwork, struct st_ctx, dwork);

	pr_info("work: may sleep %d, kernel thread %d\n", !in_atomic(), current->mm == NULL);
	complete(&priv->done);
}

static int __init driver_timers_init(void)
{
	ktime_t before = ktime_get();
	int i;

	ctx.data = INITIAL_VALUE;
	init_completion(&ctx.done);
	ctx.tmr.expires = jiffies + msecs_to_jiffies(exp_ms);
	ctx.tmr.flags = 0;
	timer_setup(&ctx.tmr, ding, 0);
	ctx.tmr.expires = jiffies + msecs_to_jiffies(exp_ms);
	add_timer(&ctx.tmr);
	wait_for_completion(&ctx.done);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(&ctx.hrt, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	ctx.hrt.function = tick;
#else
	hrtimer_setup(&ctx.hrt, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#endif
	reinit_completion(&ctx.done);
	hrtimer_start(&ctx.hrt, ktime_set(0, NSEC_PER_MSEC), HRTIMER_MODE_REL);
	i = wait_for_completion_timeout(&ctx.done, 5 * HZ) > 0;
	pr_info("in time %d, ticks %d, active %d\n", i, ctx.ticks, hrtimer_active(&ctx.hrt));
	INIT_DELAYED_WORK(&ctx.dwork, work_func);
	reinit_completion(&ctx.done);
	mod_delayed_work(system_wq, &ctx.dwork, msecs_to_jiffies(1));
	wait_for_completion(&ctx.done);
	pr_info("at least 9 ms: %d\n", ktime_ms_delta(ktime_get(), before) >= 9);
	return 0;
}

static void __exit driver_timers_exit(void)
{
	hrtimer_cancel(&ctx.hrt);
	cancel_delayed_work_sync(&ctx.dwork);
	pr_info("timer was pending %d\n", timer_delete_sync(&ctx.tmr));
}

module_init(driver_timers_init);
module_exit(driver_timers_exit);
