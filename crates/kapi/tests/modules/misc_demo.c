/* A character device with sleepable read-copy-update, a counter by CPU, work for interrupts and a pool. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mempool.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu_counter.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>

struct cfg {
	int v;
	struct rcu_head rcu;
};

static DEFINE_MUTEX(lock);
static char *buf;
static size_t len;
DEFINE_STATIC_SRCU(my_srcu);
static struct cfg __rcu *cfg;
static struct percpu_counter hits;
static mempool_t pool;
static int freed;
static DECLARE_COMPLETION(started);
static DECLARE_COMPLETION(done);

static void interrupt(struct irq_work *work) { complete(&done); }
static DEFINE_IRQ_WORK(work, interrupt);

static void cfg_free(struct rcu_head *head)
{
	kfree(container_of(head, struct cfg, rcu));
	freed++;
}

static ssize_t d_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	ssize_t result;

	mutex_lock(&lock);
	result = simple_read_from_buffer(to, n, pos, buf, len);
	mutex_unlock(&lock);
	percpu_counter_inc(&hits);
	return result;
}

static ssize_t d_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char *copy = memdup_user_nul(from, n);

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	mutex_lock(&lock);
	kfree(buf);
	buf = copy;
	len = n;
	mutex_unlock(&lock);
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
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

static int replace_under_a_reader(void)
{
	struct cfg *old, *new = kzalloc(sizeof(*new), GFP_KERNEL);
	struct task_struct *task;

	if (!new)
		return -ENOMEM;
	new->v = 1;
	rcu_assign_pointer(cfg, new);
	task = kthread_run(reader, NULL, "reader");
	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&started);
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->v = 2;
	old = rcu_replace_pointer(cfg, new, true);
	call_srcu(&my_srcu, &old->rcu, cfg_free);
	synchronize_srcu(&my_srcu);
	return kthread_stop(task);
}

static int use_pool(void)
{
	void *elements[5];
	int i, error = mempool_init_kmalloc_pool(&pool, 4, 128);

	if (error)
		return error;
	for (i = 0; i < 5; i++)
		elements[i] = mempool_alloc(&pool, GFP_KERNEL);
	for (i = 0; i < 5; i++)
		mempool_free(elements[i], &pool);
	return 0;
}

static int __init m_init(void)
{
	int error = percpu_counter_init(&hits, 5, GFP_KERNEL) ?: use_pool() ?: replace_under_a_reader();

	if (error)
		return error;
	irq_work_queue(&work);
	wait_for_completion(&done);
	percpu_counter_add(&hits, 100);
	percpu_counter_add(&hits, 1);
	error = misc_register(&dev);
	if (error)
		return error;
	dev_info(dev.this_device, "ready, hits %lld sum %lld cmp %d\n", percpu_counter_read(&hits),
		 percpu_counter_sum(&hits), percpu_counter_compare(&hits, 106));
	return 0;
}

static void __exit m_exit(void)
{
	misc_deregister(&dev);
	kfree(buf);
	srcu_barrier(&my_srcu);
	pr_info("freed %d\n", freed);
	cleanup_srcu_struct(&my_srcu);
	kfree(rcu_access_pointer(cfg));
	percpu_counter_destroy(&hits);
	mempool_exit(&pool);
}
module_init(m_init);
module_exit(m_exit);
MODULE_LICENSE("GPL");
