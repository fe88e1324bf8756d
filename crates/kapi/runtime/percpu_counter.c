// SPDX-License-Identifier: MIT OR Apache-2.0
// Counters by CPU.
#include "host.h"
#include <linux/kernel.h>
#include <linux/percpu_counter.h>

int percpu_counter_batch = 32;

static int init(struct percpu_counter *fbc, s64 amount, u32 nr, unsigned long site)
{
	size_t stride = ALIGN(sizeof(s32), __alignof__(s32));
	char *parts = kapi_alloc_percpu_for(nr * stride, __alignof__(s32), site);
	u32 i;

	if (!parts)
		return -ENOMEM;
	percpu_counter_batch = max(32, (int)nr_cpu_ids * 2);
	for (i = 0; i < nr; i++) {
		raw_spin_lock_init(&fbc[i].lock);
		fbc[i].count = amount;
		fbc[i].counters = (s32 *)(parts + i * stride);
	}
	return 0;
}

int percpu_counter_init_many(struct percpu_counter *fbc, s64 amount, gfp_t gfp, u32 nr)
{
	return init(fbc, amount, nr, _RET_IP_);
}

int kapi_percpu_counter_init(struct percpu_counter *fbc, s64 amount, gfp_t gfp)
{
	return init(fbc, amount, 1, _RET_IP_);
}

void percpu_counter_destroy_many(struct percpu_counter *fbc, u32 nr)
{
	u32 i;

	if (WARN_ON_ONCE(!fbc) || !fbc[0].counters)
		return;
	free_percpu(fbc[0].counters);
	for (i = 0; i < nr; i++)
		fbc[i].counters = NULL;
}

static s64 sum(struct percpu_counter *fbc)
{
	s64 total = fbc->count;
	int cpu;

	for_each_online_cpu(cpu)
		total += READ_ONCE(*per_cpu_ptr(fbc->counters, cpu));
	return total;
}

s64 __percpu_counter_sum(struct percpu_counter *fbc)
{
	unsigned long flags;
	s64 total;

	raw_spin_lock_irqsave(&fbc->lock, flags);
	total = sum(fbc);
	raw_spin_unlock_irqrestore(&fbc->lock, flags);
	return total;
}

void percpu_counter_set(struct percpu_counter *fbc, s64 amount)
{
	unsigned long flags;
	int cpu;

	raw_spin_lock_irqsave(&fbc->lock, flags);
	for_each_possible_cpu(cpu)
		*per_cpu_ptr(fbc->counters, cpu) = 0;
	fbc->count = amount;
	raw_spin_unlock_irqrestore(&fbc->lock, flags);
}

/* Several threads of the host may share a CPU: its part changes by one atomic operation. */
void percpu_counter_add_batch(struct percpu_counter *fbc, s64 amount, s32 batch)
{
	s32 *part = this_cpu_ptr(fbc->counters), old = READ_ONCE(*part);
	unsigned long flags;

	while (abs(old + amount) < batch)
		if (__atomic_compare_exchange_n(part, &old, (s32)(old + amount), false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return;
	raw_spin_lock_irqsave(&fbc->lock, flags);
	fbc->count += __atomic_exchange_n(part, 0, __ATOMIC_RELAXED) + amount;
	raw_spin_unlock_irqrestore(&fbc->lock, flags);
}

void percpu_counter_sync(struct percpu_counter *fbc)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&fbc->lock, flags);
	fbc->count += __atomic_exchange_n(this_cpu_ptr(fbc->counters), 0, __ATOMIC_RELAXED);
	raw_spin_unlock_irqrestore(&fbc->lock, flags);
}

int __percpu_counter_compare(struct percpu_counter *fbc, s64 value, s32 batch)
{
	s64 count = percpu_counter_read(fbc);

	/* Near enough for the parts to matter? */
	if (abs(count - value) <= (s64)batch * nr_cpu_ids)
		count = percpu_counter_sum(fbc);
	return count > value ? 1 : count < value ? -1 : 0;
}

bool percpu_counter_limited_add(struct percpu_counter *fbc, s64 limit, s64 amount)
{
	unsigned long flags;
	bool good;
	s64 total;

	if (!amount)
		return true;
	raw_spin_lock_irqsave(&fbc->lock, flags);
	total = sum(fbc) + amount;
	good = amount > 0 ? total <= limit : total >= limit;
	if (good)
		fbc->count += amount;
	raw_spin_unlock_irqrestore(&fbc->lock, flags);
	return good;
}
