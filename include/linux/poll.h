/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waiting for several files at once: what a device's poll function does. */
#ifndef _LINUX_POLL_H
#define _LINUX_POLL_H

#include <linux/fcntl.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/wait.h>

#define EPOLLIN ((__poll_t)0x00000001)
#define EPOLLPRI ((__poll_t)0x00000002)
#define EPOLLOUT ((__poll_t)0x00000004)
#define EPOLLERR ((__poll_t)0x00000008)
#define EPOLLHUP ((__poll_t)0x00000010)
#define EPOLLNVAL ((__poll_t)0x00000020)
#define EPOLLRDNORM ((__poll_t)0x00000040)
#define EPOLLRDBAND ((__poll_t)0x00000080)
#define EPOLLWRNORM ((__poll_t)0x00000100)
#define EPOLLWRBAND ((__poll_t)0x00000200)
#define EPOLLMSG ((__poll_t)0x00000400)
#define EPOLLRDHUP ((__poll_t)0x00002000)
#define POLLIN 0x0001
#define POLLPRI 0x0002
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
#define POLLNVAL 0x0020
#define POLLRDNORM 0x0040
#define POLLRDBAND 0x0080
#define POLLWRNORM 0x0100
#define POLLWRBAND 0x0200
#define POLLMSG 0x0400
#define POLLRDHUP 0x2000
#define DEFAULT_POLLMASK (EPOLLIN | EPOLLOUT | EPOLLRDNORM | EPOLLWRNORM)

/* The bands of SIGIO, as siginfo has them. */
#define POLL_IN ((2 << 16) | 1)
#define POLL_OUT ((2 << 16) | 2)
#define POLL_MSG ((2 << 16) | 3)
#define POLL_ERR ((2 << 16) | 4)
#define POLL_PRI ((2 << 16) | 5)
#define POLL_HUP ((2 << 16) | 6)

struct file;
struct poll_table_struct;
typedef void (*poll_queue_proc)(struct file *file, wait_queue_head_t *queue, struct poll_table_struct *table);

/* Without a function there is nothing to wait for: the answer is known already. */
typedef struct poll_table_struct {
	poll_queue_proc _qproc;
	__poll_t _key;
} poll_table;

extern void poll_wait(struct file *file, wait_queue_head_t *queue, poll_table *table);

static inline void init_poll_funcptr(poll_table *table, poll_queue_proc proc)
{
	table->_qproc = proc;
	table->_key = ~(__poll_t)0;
}
static inline bool poll_does_not_wait(const poll_table *table) { return !table || !table->_qproc; }
static inline __poll_t poll_requested_events(const poll_table *table) { return table ? table->_key : ~(__poll_t)0; }

#endif
