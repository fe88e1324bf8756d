// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls by other threads, counted by cookies.
#include "host.h"
#include <linux/async.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct call {
	struct list_head list, all;
	struct work_struct work;
	async_func_t func;
	void *data;
	async_cookie_t cookie;
};

static ASYNC_DOMAIN(common);
/* Those of every domain, in the order of their cookies. */
static LIST_HEAD(calls);
static DEFINE_SPINLOCK(lock);
static DECLARE_WAIT_QUEUE_HEAD(done);
static async_cookie_t last_cookie;

static void run(struct work_struct *work)
{
	struct call *call = container_of(work, struct call, work);
	unsigned long flags;

	call->func(call->data, call->cookie);
	spin_lock_irqsave(&lock, flags);
	list_del(&call->list);
	list_del(&call->all);
	spin_unlock_irqrestore(&lock, flags);
	kapi_free(call, sizeof(*call));
	wake_up_all(&done);
}

async_cookie_t async_schedule_domain(async_func_t func, void *data, struct async_domain *domain)
{
	struct call *call = kapi_alloc(sizeof(*call));
	unsigned long flags;
	async_cookie_t cookie;

	BUG_ON(!call);
	INIT_WORK(&call->work, run);
	call->func = func;
	call->data = data;
	spin_lock_irqsave(&lock, flags);
	cookie = call->cookie = ++last_cookie;
	list_add_tail(&call->list, &domain->pending);
	list_add_tail(&call->all, &calls);
	spin_unlock_irqrestore(&lock, flags);
	queue_work(system_unbound_wq, &call->work);
	return cookie;
}

async_cookie_t async_schedule(async_func_t func, void *data) { return async_schedule_domain(func, data, &common); }

static bool none_before(async_cookie_t cookie, struct async_domain *domain)
{
	bool none;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (domain)
		none = list_empty(&domain->pending) || list_first_entry(&domain->pending, struct call, list)->cookie >= cookie;
	else
		none = list_empty(&calls) || list_first_entry(&calls, struct call, all)->cookie >= cookie;
	spin_unlock_irqrestore(&lock, flags);
	return none;
}

void async_synchronize_cookie_domain(async_cookie_t cookie, struct async_domain *domain)
{
	wait_event(done, none_before(cookie, domain));
}

void async_synchronize_cookie(async_cookie_t cookie) { async_synchronize_cookie_domain(cookie, &common); }
void async_synchronize_full_domain(struct async_domain *domain) { async_synchronize_cookie_domain(U64_MAX, domain); }
void async_synchronize_full(void) { async_synchronize_cookie_domain(U64_MAX, NULL); }
