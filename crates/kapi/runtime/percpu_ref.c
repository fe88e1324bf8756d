// SPDX-License-Identifier: MIT OR Apache-2.0
// Reference counts by CPU: their change of mode.
#include <linux/kernel.h>
#include <linux/percpu-refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

/* What a count by CPU has in its atomic beside what was counted there, so that no put brings it to 0. */
#define BIAS (1L << 62)

static DEFINE_SPINLOCK(mode_lock);
static DECLARE_WAIT_QUEUE_HEAD(switched);

int percpu_ref_init(struct percpu_ref *ref, percpu_ref_func_t *release, unsigned int flags, gfp_t gfp)
{
	bool dead = flags & PERCPU_REF_INIT_DEAD, atomic = dead || (flags & PERCPU_REF_INIT_ATOMIC);
	struct percpu_ref_data *data = kzalloc(sizeof(*data), gfp);

	ref->kapi_counts = alloc_percpu_gfp(unsigned long, gfp);
	if (!data || !ref->kapi_counts) {
		free_percpu(ref->kapi_counts);
		kfree(data);
		ref->kapi_counts = NULL;
		ref->data = NULL;
		return -ENOMEM;
	}
	ref->kapi_mode = (atomic ? KAPI_REF_ATOMIC : 0) | (dead ? KAPI_REF_DEAD : 0);
	atomic_long_set(&data->count, (dead ? 0 : 1) + (atomic ? 0 : BIAS));
	data->force_atomic = flags & PERCPU_REF_INIT_ATOMIC;
	data->allow_reinit = atomic || (flags & PERCPU_REF_ALLOW_REINIT);
	data->release = release;
	data->ref = ref;
	ref->data = data;
	return 0;
}

void percpu_ref_exit(struct percpu_ref *ref)
{
	if (!ref->data)
		return;
	WARN_ON_ONCE(ref->data->switching);
	free_percpu(ref->kapi_counts);
	kfree(ref->data);
	ref->kapi_counts = NULL;
	ref->data = NULL;
	ref->kapi_mode = KAPI_REF_ATOMIC | KAPI_REF_DEAD;
}

/* Behind the grace period nobody counts in a CPU's copy any more. */
static void add_up(struct rcu_head *head)
{
	struct percpu_ref_data *data = container_of(head, struct percpu_ref_data, rcu);
	struct percpu_ref *ref = data->ref;
	percpu_ref_func_t *confirm = data->confirm_switch;
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(ref->kapi_counts, cpu);
	atomic_long_add((long)sum - BIAS, &data->count);
	data->confirm_switch = NULL;
	smp_store_release(&data->switching, 0);
	if (confirm)
		confirm(ref);
	wake_up_all(&switched);
	percpu_ref_put(ref);
}

/* Takes the lock when no change of mode is under way. */
static unsigned long lock_settled(struct percpu_ref *ref)
{
	unsigned long flags;

	for (;;) {
		spin_lock_irqsave(&mode_lock, flags);
		if (!ref->data->switching)
			return flags;
		spin_unlock_irqrestore(&mode_lock, flags);
		wait_event(switched, !smp_load_acquire(&ref->data->switching));
	}
}

/* With the lock held; returns whether the count is atomic already, so that nobody else will call @confirm. */
static bool to_atomic(struct percpu_ref *ref, percpu_ref_func_t *confirm)
{
	if (ref->kapi_mode & KAPI_REF_ATOMIC)
		return true;
	ref->data->switching = 1;
	ref->data->confirm_switch = confirm;
	/* The change has a reference of its own, which add_up() gives back. */
	percpu_ref_get(ref);
	smp_store_release(&ref->kapi_mode, ref->kapi_mode | KAPI_REF_ATOMIC);
	call_rcu(&ref->data->rcu, add_up);
	return false;
}

static void to_percpu(struct percpu_ref *ref)
{
	int cpu;

	if (!(ref->kapi_mode & KAPI_REF_ATOMIC) || ref->data->force_atomic || (ref->kapi_mode & KAPI_REF_DEAD))
		return;
	if (WARN_ON_ONCE(!ref->data->allow_reinit))
		return;
	atomic_long_add(BIAS, &ref->data->count);
	for_each_possible_cpu(cpu)
		*per_cpu_ptr(ref->kapi_counts, cpu) = 0;
	smp_store_release(&ref->kapi_mode, ref->kapi_mode & ~KAPI_REF_ATOMIC);
}

void percpu_ref_switch_to_atomic(struct percpu_ref *ref, percpu_ref_func_t *confirm)
{
	unsigned long flags = lock_settled(ref);
	bool settled;

	ref->data->force_atomic = true;
	settled = to_atomic(ref, confirm);
	spin_unlock_irqrestore(&mode_lock, flags);
	if (settled && confirm)
		confirm(ref);
}

void percpu_ref_switch_to_atomic_sync(struct percpu_ref *ref)
{
	percpu_ref_switch_to_atomic(ref, NULL);
	wait_event(switched, !smp_load_acquire(&ref->data->switching));
}

void percpu_ref_switch_to_percpu(struct percpu_ref *ref)
{
	unsigned long flags = lock_settled(ref);

	ref->data->force_atomic = false;
	to_percpu(ref);
	spin_unlock_irqrestore(&mode_lock, flags);
}

void percpu_ref_kill_and_confirm(struct percpu_ref *ref, percpu_ref_func_t *confirm)
{
	unsigned long flags = lock_settled(ref);
	bool settled;

	if (WARN_ONCE(ref->kapi_mode & KAPI_REF_DEAD, "percpu_ref_kill() of what is dead\n")) {
		spin_unlock_irqrestore(&mode_lock, flags);
		return;
	}
	ref->kapi_mode |= KAPI_REF_DEAD;
	settled = to_atomic(ref, confirm);
	spin_unlock_irqrestore(&mode_lock, flags);
	if (settled && confirm)
		confirm(ref);
	/* The first reference, of percpu_ref_init(). */
	percpu_ref_put(ref);
}

void percpu_ref_resurrect(struct percpu_ref *ref)
{
	unsigned long flags = lock_settled(ref);

	if (!WARN_ON_ONCE(!(ref->kapi_mode & KAPI_REF_DEAD))) {
		ref->kapi_mode &= ~KAPI_REF_DEAD;
		percpu_ref_get(ref);
		to_percpu(ref);
	}
	spin_unlock_irqrestore(&mode_lock, flags);
}

void percpu_ref_reinit(struct percpu_ref *ref)
{
	WARN_ON_ONCE(!percpu_ref_is_zero(ref));
	percpu_ref_resurrect(ref);
}

bool percpu_ref_is_zero(struct percpu_ref *ref)
{
	/* After percpu_ref_exit() there is nothing to hold. */
	return !kapi_ref_by_cpu(ref) && (!ref->data || !atomic_long_read(&ref->data->count));
}
