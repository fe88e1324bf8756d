/* A mutex, a spinlock with and without interrupts, a rwlock and atomics, each in a function of its own as tutorials have them. */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rwlock.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#define BYTE_TO_BINARY_PATTERN "%c%c%c%c%c%c%c%c"
#define BYTE_TO_BINARY(byte) \
	((byte & 0x80) ? '1' : '0'), ((byte & 0x40) ? '1' : '0'), ((byte & 0x20) ? '1' : '0'), \
		((byte & 0x10) ? '1' : '0'), ((byte & 0x08) ? '1' : '0'), ((byte & 0x04) ? '1' : '0'), \
		((byte & 0x02) ? '1' : '0'), ((byte & 0x01) ? '1' : '0')

static DEFINE_MUTEX(mymutex);
static DEFINE_SPINLOCK(sl_static);
static spinlock_t sl_dynamic;
static DEFINE_RWLOCK(myrwlock);
static DEFINE_SEQLOCK(pair_lock);
static u64 pair[2];

static void example_mutex(void)
{
	int ret = mutex_trylock(&mymutex);

	if (ret != 0) {
		pr_info("mutex is locked %d, a second try %d\n", mutex_is_locked(&mymutex), mutex_trylock(&mymutex));
		mutex_unlock(&mymutex);
	}
	pr_info("mutex is locked %d\n", mutex_is_locked(&mymutex));
}

static void example_spinlock(void)
{
	unsigned long flags;

	spin_lock_irqsave(&sl_static, flags);
	pr_info("static spinlock locked %d, interrupts off %d\n", spin_is_locked(&sl_static), irqs_disabled());
	spin_unlock_irqrestore(&sl_static, flags);
	spin_lock_init(&sl_dynamic);
	spin_lock_bh(&sl_dynamic);
	pr_info("dynamic spinlock, atomic %d\n", in_atomic());
	assert_spin_locked(&sl_dynamic);
	spin_unlock_bh(&sl_dynamic);
	pr_info("free: try %d\n", spin_trylock(&sl_dynamic));
	spin_unlock(&sl_dynamic);
}

static void example_rwlock(void)
{
	unsigned long flags;

	read_lock_irqsave(&myrwlock, flags);
	pr_info("read locked, another reader %d\n", read_trylock(&myrwlock));
	read_unlock(&myrwlock);
	read_unlock_irqrestore(&myrwlock, flags);
	write_lock_irqsave(&myrwlock, flags);
	pr_info("write locked, a reader %d\n", read_trylock(&myrwlock));
	write_unlock_irqrestore(&myrwlock, flags);
}

static void example_seqlock(void)
{
	unsigned int seq;
	u64 sum;

	write_seqlock(&pair_lock);
	pair[0] = 3;
	pair[1] = 4;
	write_sequnlock(&pair_lock);
	do {
		seq = read_seqbegin(&pair_lock);
		sum = pair[0] + pair[1];
	} while (read_seqretry(&pair_lock, seq));
	pr_info("seqlock: %llu\n", sum);
}

static void atomic_add_subtract(void)
{
	atomic_t debbie;
	atomic_t chris = ATOMIC_INIT(50);
	atomic64_t wide = ATOMIC64_INIT(1LL << 40);

	atomic_set(&debbie, 45);
	atomic_dec(&debbie);
	atomic_add(7, &debbie);
	atomic_inc(&debbie);
	pr_info("chris: %d, debbie: %d\n", atomic_read(&chris), atomic_read(&debbie));
	pr_info("add_return %d\n", atomic_add_return(5, &chris));
	pr_info("sub_and_test %d\n", atomic_sub_and_test(55, &chris));
	pr_info("xchg %d\n", atomic_xchg(&chris, 9));
	pr_info("cmpxchg %d\n", atomic_cmpxchg(&chris, 9, 8));
	pr_info("unless %d\n", atomic_add_unless(&chris, 1, 8));
	pr_info("wide %lld\n", atomic64_inc_return(&wide));
	pr_info("wide %lld\n", atomic64_fetch_add(2, &wide));
}

static void atomic_bitwise(void)
{
	unsigned long word = 0;

	pr_info("Bits 0: " BYTE_TO_BINARY_PATTERN, BYTE_TO_BINARY(word));
	set_bit(3, &word);
	set_bit(5, &word);
	pr_info("Bits 1: " BYTE_TO_BINARY_PATTERN, BYTE_TO_BINARY(word));
	clear_bit(5, &word);
	change_bit(3, &word);
	if (test_and_set_bit(3, &word))
		pr_info("wrong\n");
	word = 255;
	pr_info("Bits 5: " BYTE_TO_BINARY_PATTERN "\n", BYTE_TO_BINARY(word));
}

static int __init locks_init(void)
{
	example_mutex();
	example_spinlock();
	example_rwlock();
	example_seqlock();
	atomic_add_subtract();
	atomic_bitwise();
	return 0;
}

static void __exit locks_exit(void)
{
	pr_info("exit\n");
}

module_init(locks_init);
module_exit(locks_exit);
MODULE_LICENSE("GPL");
