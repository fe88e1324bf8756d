/* Attributes of buses and drivers, numbers as text, classes of locks, tasklets that are disabled. */
#include <linux/device.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/kdev_t.h>
#include <linux/kref.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "check.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define BUS const struct bus_type
#else
#define BUS struct bus_type
#endif
static ssize_t a_show(BUS *bus, char *buf) { return sprintf(buf, "a\n"); }
static ssize_t a_store(BUS *bus, const char *buf, size_t n) { return (ssize_t)n; }
static BUS_ATTR_RW(a);
#define b_show a_show
static BUS_ATTR_RO(b);
#define c_store a_store
static BUS_ATTR_WO(c);
static BUS_ATTR(d, 0644, a_show, a_store);
static ssize_t e_show(struct device_driver *driver, char *buf) { return sprintf(buf, "e\n"); }
static ssize_t e_store(struct device_driver *driver, const char *buf, size_t n) { return (ssize_t)n; }
static DRIVER_ATTR_RW(e);
#define f_show e_show
static DRIVER_ATTR_RO(f);
#define g_store e_store
static DRIVER_ATTR_WO(g);

static void bottom(struct tasklet_struct *t) { }
static void old_bottom(unsigned long data) { }
static DECLARE_TASKLET_DISABLED(off, bottom);
static DECLARE_TASKLET_DISABLED_OLD(old_off, old_bottom);

static struct lock_class_key key, other_key;
static DEFINE_MUTEX(mutex);
static DECLARE_RWSEM(sem);
static DEFINE_SPINLOCK(spin);
static DEFINE_RAW_SPINLOCK(raw);

static void locks(void)
{
	struct mutex inner;
	spinlock_t below;

	lockdep_register_key(&key);
	mutex_init(&inner);
	spin_lock_init(&below);
	lockdep_set_class(&inner, &key);
	lockdep_set_class_and_name(&below, &other_key, "below");
	lockdep_set_class_and_subclass(&inner, &key, 1);
	lockdep_set_subclass(&inner, 2);
	mutex_lock(&mutex);
	lockdep_assert_held_write(&mutex);
	lockdep_assert_held_read(&mutex);
	lockdep_assert_not_held(&inner);
	mutex_lock_nest_lock(&inner, &mutex);
	mutex_unlock(&inner);
	mutex_lock_nested(&inner, SINGLE_DEPTH_NESTING);
	mutex_unlock(&inner);
	IS(mutex_lock_interruptible_nested(&inner, 1), 0);
	mutex_unlock(&inner);
	IS(mutex_lock_killable_nested(&inner, 1), 0);
	mutex_unlock(&inner);
	IS(mutex_trylock_nested(&inner, 1), 1);
	mutex_unlock(&inner);
	mutex_unlock(&mutex);
	raw_spin_lock_nested(&raw, 1);
	raw_spin_unlock(&raw);
	spin_lock_bh_nested(&spin, 1);
	spin_unlock_bh(&spin);
	spin_lock(&spin);
	spin_lock_nest_lock(&below, &spin);
	spin_unlock(&below);
	spin_unlock(&spin);
	down_write_nest_lock(&sem, &mutex);
	up_write(&sem);
	lockdep_unregister_key(&key);
}

static int __init every_init(void)
{
	char text[16];

	IS(print_dev_t(text, MKDEV(240, 1)), 6);
	IS(strcmp(format_dev_t(text, MKDEV(240, 1)), "240:1"), 0);
	print_hex_dump_debug("every: ", DUMP_PREFIX_NONE, 16, 1, text, 4, false);
	IS(bus_attr_a.attr.mode, 0644);
	IS(bus_attr_b.attr.mode, 0444);
	IS(bus_attr_c.attr.mode, 0200);
	IS(bus_attr_d.attr.mode, 0644);
	IS(driver_attr_e.attr.mode, 0644);
	IS(driver_attr_f.attr.mode, 0444);
	IS(driver_attr_g.attr.mode, 0200);
	IS(atomic_read(&off.count), 1);
	IS(atomic_read(&old_off.count), 1);
	IS(_NSIG, _NSIG_WORDS * _NSIG_BPW);
	IS(in_irq() || in_hardirq(), 0);
	locks();
	return result();
}

static void __exit every_exit(void)
{
}

module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
