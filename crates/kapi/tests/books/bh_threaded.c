/* An interrupt with a top half and a thread below, one with a tasklet and one with a work: raised from outside. */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/workqueue.h>

static int irqs[] = { 5, 6, 7 };
static atomic_t handled = ATOMIC_INIT(0), in_thread = ATOMIC_INIT(0);
static int tasklet_softirq, thread_slept;

static irqreturn_t button_top_half(int irq, void *ident)
{
	return in_hardirq() && ident ? IRQ_WAKE_THREAD : IRQ_NONE;
}

static irqreturn_t button_bottom_half(int irq, void *ident)
{
	thread_slept = !in_atomic() && irq == irqs[0];
	usleep_range(100, 200);
	atomic_inc(&in_thread);
	return IRQ_HANDLED;
}

static void bottomhalf_tasklet_fn(struct tasklet_struct *t)
{
	tasklet_softirq = in_serving_softirq() != 0;
	atomic_inc(&handled);
}

static DECLARE_TASKLET(buttontask, bottomhalf_tasklet_fn);

static irqreturn_t tasklet_isr(int irq, void *data)
{
	tasklet_schedule(&buttontask);
	return IRQ_HANDLED;
}

static void bottomhalf_work_fn(struct work_struct *work)
{
	atomic_inc(&handled);
}

static DECLARE_WORK(buttonwork, bottomhalf_work_fn);

static irqreturn_t work_isr(int irq, void *data)
{
	schedule_work(&buttonwork);
	return IRQ_HANDLED;
}

static int __init bottomhalf_init(void)
{
	int ret = request_threaded_irq(irqs[0], button_top_half, button_bottom_half, IRQF_TRIGGER_RISING | IRQF_TRIGGER_FALLING,
				       "gpiomod#button1", &irqs[0]);

	if (ret) {
		pr_err("Unable to request IRQ: %d\n", ret);
		return ret;
	}
	ret = request_irq(irqs[1], tasklet_isr, IRQF_SHARED, "gpiomod#button2", &irqs[1]);
	if (ret)
		goto fail1;
	ret = request_irq(irqs[2], work_isr, IRQF_TRIGGER_RISING, "gpiomod#button3", NULL);
	if (ret)
		goto fail2;
	return 0;
fail2:
	free_irq(irqs[1], &irqs[1]);
fail1:
	free_irq(irqs[0], &irqs[0]);
	return ret;
}

static void __exit bottomhalf_exit(void)
{
	free_irq(irqs[0], &irqs[0]);
	free_irq(irqs[1], &irqs[1]);
	free_irq(irqs[2], NULL);
	tasklet_kill(&buttontask);
	flush_work(&buttonwork);
	pr_info("handled %d, by the thread %d\n", atomic_read(&handled), atomic_read(&in_thread));
	pr_info("the thread might sleep: %d, the tasklet was in a softirq: %d\n", thread_slept, tasklet_softirq);
}

module_init(bottomhalf_init);
module_exit(bottomhalf_exit);
MODULE_LICENSE("GPL");
