/* A character device with sleepable read-copy-update, a counter by CPU, work for interrupts and a pool. */
#include <linux/module.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/uaccess.h>
#include <linux/slab.h>
#include <linux/mutex.h>
#include <linux/device.h>
#include <linux/srcu.h>
#include <linux/percpu_counter.h>
#include <linux/irq_work.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/delay.h>
#include <linux/mempool.h>
static DEFINE_MUTEX(lock);
static char *buf; static size_t len;
DEFINE_STATIC_SRCU(my_srcu);
static struct percpu_counter hits;
static struct cfg { int v; struct rcu_head rcu; } __rcu *cfg;
static DECLARE_COMPLETION(done);
static DECLARE_COMPLETION(started);
static void iw(struct irq_work *w) { complete(&done); }
static DEFINE_IRQ_WORK(work, iw);
static mempool_t pool;
static int freed;
static void cfg_free(struct rcu_head *h) { kfree(container_of(h, struct cfg, rcu)); freed++; }
static ssize_t d_read(struct file *f, char __user *to, size_t n, loff_t *pos)
{ ssize_t r; mutex_lock(&lock); r = simple_read_from_buffer(to, n, pos, buf, len); mutex_unlock(&lock); percpu_counter_inc(&hits); return r; }
static ssize_t d_write(struct file *f, const char __user *from, size_t n, loff_t *pos)
{
	char *nb = memdup_user_nul(from, n);
	if (IS_ERR(nb)) return PTR_ERR(nb);
	mutex_lock(&lock); kfree(buf); buf = nb; len = n; mutex_unlock(&lock);
	return n;
}
static const struct file_operations fops = { .owner = THIS_MODULE, .read = d_read, .write = d_write };
static struct miscdevice dev = { .minor = MISC_DYNAMIC_MINOR, .name = "scribble", .fops = &fops };
static int reader(void *unused)
{
	int idx = srcu_read_lock(&my_srcu);
	struct cfg *c = srcu_dereference(cfg, &my_srcu);
	complete(&started);
	msleep(20);
	pr_info("reader saw %d\n", c->v);
	srcu_read_unlock(&my_srcu, idx);
	while (!kthread_should_stop()) msleep(1);
	return 0;
}
static int __init m_init(void)
{
	struct cfg *old, *c = kzalloc(sizeof(*c), GFP_KERNEL);
	struct task_struct *t; void *e[5]; int i, err;
	err = percpu_counter_init(&hits, 5, GFP_KERNEL);
	if (err) return err;
	err = mempool_init_kmalloc_pool(&pool, 4, 128);
	if (err) return err;
	for (i = 0; i < 5; i++) e[i] = mempool_alloc(&pool, GFP_KERNEL);
	for (i = 0; i < 5; i++) mempool_free(e[i], &pool);
	c->v = 1; rcu_assign_pointer(cfg, c);
	t = kthread_run(reader, NULL, "reader");
	wait_for_completion(&started);
	c = kzalloc(sizeof(*c), GFP_KERNEL); c->v = 2;
	old = rcu_replace_pointer(cfg, c, true);
	call_srcu(&my_srcu, &old->rcu, cfg_free);
	synchronize_srcu(&my_srcu);
	kthread_stop(t);
	irq_work_queue(&work); wait_for_completion(&done);
	percpu_counter_add(&hits, 100); percpu_counter_add(&hits, 1);
	err = misc_register(&dev);
	if (err) return err;
	dev_info(dev.this_device, "ready, hits %lld sum %lld cmp %d\n", percpu_counter_read(&hits), percpu_counter_sum(&hits), percpu_counter_compare(&hits, 106));
	return 0;
}
static void __exit m_exit(void)
{
	misc_deregister(&dev); kfree(buf);
	srcu_barrier(&my_srcu);
	pr_info("freed %d\n", freed);
	cleanup_srcu_struct(&my_srcu);
	kfree(rcu_access_pointer(cfg));
	percpu_counter_destroy(&hits); mempool_exit(&pool);
}
module_init(m_init); module_exit(m_exit); MODULE_LICENSE("GPL");
