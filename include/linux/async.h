/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions that are called by other threads, in no order but that of their cookies where somebody asks for it. */
#ifndef _LINUX_ASYNC_H
#define _LINUX_ASYNC_H

#include <linux/list.h>
#include <linux/types.h>

typedef u64 async_cookie_t;
typedef void (*async_func_t)(void *data, async_cookie_t cookie);

struct async_domain {
	struct list_head pending;
	unsigned int registered;
};
#define ASYNC_DOMAIN(name) struct async_domain name = { .pending = LIST_HEAD_INIT(name.pending), .registered = 1 }
#define ASYNC_DOMAIN_EXCLUSIVE(name) struct async_domain name = { .pending = LIST_HEAD_INIT(name.pending) }

extern async_cookie_t async_schedule_domain(async_func_t func, void *data, struct async_domain *domain);
extern async_cookie_t async_schedule(async_func_t func, void *data);
/* Waits for those of a domain, or of all, that have a smaller cookie. */
extern void async_synchronize_cookie_domain(async_cookie_t cookie, struct async_domain *domain);
extern void async_synchronize_cookie(async_cookie_t cookie);
extern void async_synchronize_full_domain(struct async_domain *domain);
extern void async_synchronize_full(void);

#endif
