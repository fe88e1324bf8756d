// SPDX-License-Identifier: MIT OR Apache-2.0
// Steps of --do: processes that use the module's files.
//
// How it works: who opens a file by a step is a process of that name, with one file, one mapping and one task. A step
// runs as its process: on the thread of init, or on one of its own behind `&`. A process does one step at a time, so
// that a step waits for that before it; a signal does not. A step on a path is a process that opens and closes.
#include "host.h"
#include "open.h"
#include "vma.h"
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/* As in steps.rs. */
enum operation {
	STEP_OPEN, STEP_CLOSE, STEP_READ, STEP_CAT, STEP_WRITE, STEP_SEEK, STEP_IOCTL, STEP_POLL, STEP_FASYNC,
	STEP_SIGIO, STEP_MMAP, STEP_MUNMAP, STEP_PEEK, STEP_POKE, STEP_SIGNAL, STEP_SLEEP, STEP_WAIT, STEP_MKNOD,
	STEP_IRQ, STEP_IFUP, STEP_IFDOWN, STEP_UDP, STEP_RECEIVED, STEP_IFSTAT, STEP_ETHTOOL, STEP_NETLINK, STEP_GENL
};
enum argument { ARGUMENT_NUMBER, ARGUMENT_POINTER, ARGUMENT_TEXT };
#define STEP_BACKGROUND 1

struct kapi_step {
	unsigned int operation, flags, index, argument;
	const char *name, *path, *data;
	u64 len, a, b;
};

/* Host: a step is done; what it read or asked for. */
extern void kapi_step_done(unsigned int index, long result, const char *data, size_t len);

struct process {
	struct list_head list;
	char name[64];
	struct task_struct *task;
	struct opened *file;
	struct vm_area_struct *vma;
	char __user *buffer;
	volatile unsigned int busy;
	bool once;
	struct kapi_step step;
};

static LIST_HEAD(processes);
static struct task_struct *init_thread;

static struct process *find(const char *name)
{
	struct process *p;

	list_for_each_entry(p, &processes, list)
		if (!p->once && !strcmp(p->name, name))
			return p;
	return NULL;
}

static struct process *start(const char *name, uid_t uid, bool once)
{
	struct process *p = kapi_alloc(sizeof(*p));

	if (!p)
		return NULL;
	strscpy(p->name, name, sizeof(p->name));
	p->once = once;
	p->task = kapi_process_new(once ? "do" : name, uid);
	p->buffer = kapi_user_take();
	list_add_tail(&p->list, &processes);
	return p->task && p->buffer ? p : NULL;
}

static void wait_for(struct process *p)
{
	while (smp_load_acquire(&p->busy))
		kapi_futex_wait(&p->busy, 1, -1);
}

static long open_file(struct process *p, const char *path, unsigned int flags)
{
	long error;

	p->file = kapi_alloc(sizeof(*p->file));
	if (!p->file)
		return -ENOMEM;
	error = kapi_open(p->file, path, flags);
	if (error)
		p->file = NULL;
	return error;
}

static long close_file(struct process *p)
{
	if (p->vma)
		kapi_munmap(p->vma);
	p->vma = NULL;
	if (!p->file)
		return -EBADF;
	kapi_close(p->file);
	p->file = NULL;
	return 0;
}

/* The process is over: what it has open is closed, as at the end of every one. */
static void end(struct process *p)
{
	struct task_struct *before = current;

	kapi_task_set(p->task, task_cpu(p->task));
	if (p->file)
		close_file(p);
	kapi_task_set(before, task_cpu(before));
	kapi_process_end(p->task);
	if (p->buffer)
		kapi_user_give(p->buffer);
	list_del(&p->list);
}

static long ask(struct process *p, const struct kapi_step *s, size_t *out)
{
	unsigned int bytes = _IOC_SIZE((unsigned int)s->a) ?: (unsigned int)sizeof(int);
	long result;

	if (s->argument == ARGUMENT_NUMBER)
		return kapi_file_ioctl(p->file, (unsigned int)s->a, s->b);
	memset(p->buffer, 0, KAPI_USER_BYTES);
	if (s->argument == ARGUMENT_TEXT)
		memcpy(p->buffer, s->data, min(s->len, (u64)KAPI_USER_BYTES));
	else
		memcpy(p->buffer, &s->b, sizeof(s->b));
	result = kapi_file_ioctl(p->file, (unsigned int)s->a, (unsigned long)p->buffer);
	*out = s->argument == ARGUMENT_TEXT ? strnlen(p->buffer, KAPI_USER_BYTES) : min(bytes, 8U);
	return result;
}

static long map(struct process *p, const struct kapi_step *s)
{
	struct vm_area_struct *vma;

	if (p->vma)
		return -EBUSY;
	vma = kapi_mmap(&p->file->file, s->a, s->b);
	if (IS_ERR(vma))
		return PTR_ERR(vma);
	p->vma = vma;
	return 0;
}

static long read_or_write(struct process *p, const struct kapi_step *s, size_t *out)
{
	size_t len = min((size_t)(s->operation == STEP_READ ? s->a : s->len), (size_t)KAPI_USER_BYTES);
	long n;

	if (s->operation == STEP_WRITE) {
		memcpy(p->buffer, s->data, len);
		return kapi_file_write(p->file, p->buffer, len);
	}
	n = kapi_file_read(p->file, p->buffer, len);
	if (n > 0)
		*out = min((size_t)n, len);
	return n;
}

/* All of a file, as it fits a buffer. */
static long read_on(struct process *p, size_t *out)
{
	long n = 0;

	while (*out < KAPI_USER_BYTES) {
		n = kapi_file_read(p->file, p->buffer + *out, min((size_t)PAGE_SIZE, KAPI_USER_BYTES - *out));
		if (n <= 0)
			break;
		*out += min((size_t)n, (size_t)PAGE_SIZE);
	}
	return n < 0 ? n : (long)*out;
}

static long on_file(struct process *p, const struct kapi_step *s, size_t *out)
{
	switch ((enum operation)s->operation) {
	case STEP_READ:
	case STEP_WRITE:
		return read_or_write(p, s, out);
	case STEP_CAT:
		return read_on(p, out);
	case STEP_SEEK:
		return kapi_file_seek(p->file, (loff_t)s->a, (int)s->b);
	case STEP_IOCTL:
		return ask(p, s, out);
	case STEP_POLL:
		return kapi_file_poll(p->file, (long)s->a);
	case STEP_FASYNC:
		return kapi_file_fasync(p->file, (int)s->a);
	case STEP_SIGIO:
		return (long)p->file->file.kapi_signals;
	case STEP_MMAP:
		return map(p, s);
	case STEP_MUNMAP:
		if (!p->vma)
			return -EINVAL;
		kapi_munmap(p->vma);
		p->vma = NULL;
		return 0;
	case STEP_PEEK:
		*out = min((size_t)s->b, (size_t)KAPI_USER_BYTES);
		return p->vma ? kapi_vma_copy(p->vma, s->a, p->buffer, out, false) : -EFAULT;
	case STEP_POKE:
		*out = min((size_t)s->len, (size_t)KAPI_USER_BYTES);
		memcpy(p->buffer, s->data, *out);
		return p->vma ? kapi_vma_copy(p->vma, s->a, p->buffer, out, true) : -EFAULT;
	case STEP_CLOSE:
		return close_file(p);
	default:
		return -EINVAL;
	}
}

static unsigned int flags_for(const struct kapi_step *s)
{
	switch ((enum operation)s->operation) {
	case STEP_READ:
	case STEP_CAT:
		return O_RDONLY;
	case STEP_WRITE:
		return O_WRONLY;
	default:
		return O_RDWR;
	}
}

/* Runs the step that a process has, as that process. */
static void run(struct process *p)
{
	const struct kapi_step *s = &p->step;
	size_t out = 0;
	long result = 0;

	if (s->operation == STEP_OPEN)
		result = open_file(p, s->path, (unsigned int)s->a);
	else if (p->once)
		result = open_file(p, s->name, flags_for(s));
	if (!result && s->operation != STEP_OPEN)
		result = p->file ? on_file(p, s, &out) : -EBADF;
	/* Nobody handles the signal: the call is broken off. */
	if (result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK)
		result = -EINTR;
	flush_signals(p->task);
	if (p->once && p->file)
		close_file(p);
	kapi_step_done(s->index, result, p->buffer, s->operation == STEP_POKE ? 0 : out);
}

static void background(void *arg)
{
	struct process *p = arg;

	kapi_task_set(p->task, task_cpu(p->task));
	run(p);
	smp_store_release(&p->busy, 0);
	kapi_futex_wake(&p->busy, INT_MAX);
}

static void foreground(struct process *p)
{
	kapi_task_set(p->task, task_cpu(p->task));
	run(p);
	kapi_task_set(init_thread, task_cpu(init_thread));
}

static void wait_for_all(void)
{
	struct process *p;

	list_for_each_entry(p, &processes, list)
		wait_for(p);
}

/* How long a sleep waits until all that was begun behind `&` sleeps, too, or is done. */
#define SETTLE_MS 1000

static bool all_settled(void)
{
	struct process *p;

	list_for_each_entry(p, &processes, list)
		if (smp_load_acquire(&p->busy) && READ_ONCE(p->task->__state) == TASK_RUNNING)
			return false;
	return true;
}

static void sleep_and_settle(u64 ms)
{
	unsigned int more;

	kapi_host_sleep(ms);
	for (more = 0; more < SETTLE_MS && !all_settled(); more++)
		kapi_host_sleep(1);
}

/* Of a message's flags: it is no command, but asks for all there is. */
#define DUMP 0x300
/* Of STEP_NETLINK's number: there is a message; above it is its type. */
#define HAS_MESSAGE 1
#define REQUEST_AND_ACK 5
#define GENERIC 16

static long send_message(const struct kapi_step *s, char *text, size_t *out)
{
	int type = (int)(s->b >> 1), protocol = (int)s->a;
	bool sends = s->b & HAS_MESSAGE;
	long result;

	if (s->operation == STEP_GENL) {
		protocol = GENERIC;
		result = kapi_genl_send(s->name, (int)s->a, s->b ? DUMP : 0, s->data, s->len);
	} else {
		result = kapi_netlink_send(protocol, type, type ? REQUEST_AND_ACK : 0, sends ? s->data : NULL, s->len);
	}
	*out = kapi_netlink_texts(protocol, text, KAPI_USER_BYTES);
	return result;
}

/* Steps on the network. */
static bool of_network(const struct kapi_step *s)
{
	size_t out = 0;
	long result;
	char *text;

	if (s->operation < STEP_IFUP)
		return false;
	kapi_task_set(init_thread, task_cpu(init_thread));
	text = kapi_alloc(KAPI_USER_BYTES);
	if (!text) {
		kapi_step_done(s->index, -ENOMEM, "", 0);
		return true;
	}
	switch ((enum operation)s->operation) {
	case STEP_UDP:
		result = kapi_net_udp(s->name, (__be32)s->a, (__be32)s->b, s->data, s->len);
		break;
	case STEP_RECEIVED:
		result = kapi_net_received(s->name, text, KAPI_USER_BYTES, &out);
		break;
	case STEP_IFSTAT:
		result = kapi_net_stat(s->name, text, KAPI_USER_BYTES, &out);
		break;
	case STEP_ETHTOOL:
		result = kapi_net_ethtool(s->name, text, KAPI_USER_BYTES, &out);
		break;
	case STEP_NETLINK:
	case STEP_GENL:
		result = send_message(s, text, &out);
		break;
	default:
		result = kapi_net_up(s->name, s->operation == STEP_IFUP);
		break;
	}
	kapi_step_done(s->index, result, text, out);
	kapi_free(text, KAPI_USER_BYTES);
	return true;
}

/* Steps that are no process's. */
static bool of_nobody(const struct kapi_step *s)
{
	struct process *p;
	long result = 0;

	switch ((enum operation)s->operation) {
	case STEP_SLEEP:
		kapi_task_set(init_thread, task_cpu(init_thread));
		sleep_and_settle(s->a);
		break;
	case STEP_WAIT:
		wait_for_all();
		break;
	case STEP_MKNOD:
		result = kapi_mknod(s->name, s->path, (unsigned int)s->a);
		break;
	case STEP_IRQ:
		result = kapi_irq_raise((unsigned int)s->a);
		break;
	case STEP_SIGNAL:
		p = find(s->name);
		result = p ? send_sig((int)s->a, p->task, 0) : -ESRCH;
		break;
	default:
		return false;
	}
	kapi_step_done(s->index, result, "", 0);
	return true;
}

void kapi_step(const struct kapi_step *s)
{
	bool once = s->operation != STEP_OPEN && s->name[0] == '/';
	struct process *p;

	init_thread = current;
	if (of_nobody(s) || of_network(s))
		return;
	p = once ? NULL : find(s->name);
	if (p)
		wait_for(p);
	if (p && s->operation == STEP_OPEN && p->file)
		return kapi_step_done(s->index, -EBUSY, "", 0);
	if (!p && (once || s->operation == STEP_OPEN))
		p = start(s->name, s->operation == STEP_OPEN ? (uid_t)s->b : 0, once);
	if (!p)
		return kapi_step_done(s->index, -ESRCH, "", 0);
	p->step = *s;
	if (!(s->flags & STEP_BACKGROUND)) {
		foreground(p);
	} else {
		p->busy = 1;
		if (kapi_thread_start(background, p))
			return kapi_step_done(s->index, -EAGAIN, "", 0);
	}
	if (!(s->flags & STEP_BACKGROUND) && (once || s->operation == STEP_CLOSE))
		end(p);
}

/* How long steps in the background may still take when all others are done. */
#define LAST_MS 1000

/* The processes end: those that still wait are killed. */
void kapi_steps_end(void)
{
	struct process *p, *next;
	unsigned int ms;

	init_thread = current;
	list_for_each_entry(p, &processes, list) {
		for (ms = 0; ms < LAST_MS && READ_ONCE(p->busy); ms += 10)
			kapi_host_sleep(10);
		if (READ_ONCE(p->busy))
			send_sig(SIGKILL, p->task, 0);
		wait_for(p);
	}
	list_for_each_entry_safe(p, next, &processes, list)
		end(p);
}
