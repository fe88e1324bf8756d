// SPDX-License-Identifier: MIT OR Apache-2.0
// Probes of many functions: one of each function's beginning, which share what is there for calls.
#include "host.h"
#include "probe.h"
#include <linux/err.h>
#include <linux/fprobe.h>
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/slab.h>

struct kapi_fprobe {
	struct kretprobe calls;
	struct fprobe *fp;
	size_t count;
	struct beginning {
		struct kprobe kp;
		struct kapi_fprobe *of;
	} beginnings[];
};

/* Either type of registers is the same in memory. */
static int entry_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct fprobe *fp = container_of(ri->rp, struct kapi_fprobe, calls)->fp;

	if (!fp->entry_handler)
		return 0;
	return fp->entry_handler(fp, ri->kapi_entry, (unsigned long)ri->ret_addr, (void *)regs,
				 fp->entry_data_size ? ri->data : NULL);
}

static int exit_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct fprobe *fp = container_of(ri->rp, struct kapi_fprobe, calls)->fp;

	fp->exit_handler(fp, ri->kapi_entry, (unsigned long)ri->ret_addr, (void *)regs, fp->entry_data_size ? ri->data : NULL);
	return 0;
}

static int begin(struct kprobe *p, struct pt_regs *regs)
{
	struct kapi_fprobe *probe = container_of(p, struct beginning, kp)->of;
	struct fprobe *fp = probe->fp;

	if (fp->exit_handler) {
		kapi_kretprobe_enter(&probe->calls, regs, (unsigned long)p->addr);
		fp->nmissed = (unsigned long)probe->calls.nmissed;
	} else if (fp->entry_handler) {
		fp->entry_handler(fp, (unsigned long)p->addr, *(unsigned long *)kernel_stack_pointer(regs), (void *)regs, NULL);
	}
	return 0;
}

static void remove(struct kapi_fprobe *probe, size_t count)
{
	while (count)
		unregister_kprobe(&probe->beginnings[--count].kp);
	kapi_kretprobe_end(&probe->calls);
	kfree(probe);
}

int register_fprobe_ips(struct fprobe *fp, unsigned long *addrs, int num)
{
	struct kapi_fprobe *probe;
	size_t i;
	int error;

	if (!fp || !addrs || num <= 0)
		return -EINVAL;
	if (fp->kapi_probe)
		return -EBUSY;
	probe = kzalloc(struct_size(probe, beginnings, (size_t)num), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	probe->fp = fp;
	probe->count = (size_t)num;
	probe->calls.entry_handler = entry_handler;
	probe->calls.handler = exit_handler;
	probe->calls.data_size = fp->entry_data_size;
	probe->calls.maxactive = fp->nr_maxactive;
	fp->nmissed = 0;
	error = kapi_kretprobe_init(&probe->calls);
	if (error) {
		kfree(probe);
		return error;
	}
	for (i = 0; i < probe->count; i++) {
		struct beginning *beginning = &probe->beginnings[i];

		beginning->of = probe;
		beginning->kp.addr = (kprobe_opcode_t *)addrs[i];
		beginning->kp.pre_handler = begin;
		error = register_kprobe(&beginning->kp);
		if (error) {
			remove(probe, i);
			return error;
		}
	}
	fp->kapi_probe = probe;
	return 0;
}

int register_fprobe_syms(struct fprobe *fp, const char **syms, int num)
{
	unsigned long *addrs;
	int i, error = 0;

	if (!fp || !syms || num <= 0)
		return -EINVAL;
	addrs = kcalloc((size_t)num, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	for (i = 0; i < num && !error; i++) {
		addrs[i] = kapi_symbol_find(syms[i]);
		error = addrs[i] ? 0 : -ENOENT;
	}
	if (!error)
		error = register_fprobe_ips(fp, addrs, num);
	kfree(addrs);
	return error;
}

/* The functions that fit, up to @room of them. Return: how many there are. */
static int fitting(const char *filter, const char *notfilter, unsigned long *addrs, int room)
{
	char name[KSYM_NAME_LEN];
	unsigned long number, address;
	int count = 0;

	for (number = 0; (address = kapi_symbol_at(number, name, sizeof(name))); number++)
		if (glob_match(filter, name) && !(notfilter && glob_match(notfilter, name))) {
			if (count < room)
				addrs[count] = address;
			count++;
		}
	return count;
}

int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter)
{
	unsigned long *addrs;
	int count, error;

	if (!fp || !filter)
		return -EINVAL;
	count = fitting(filter, notfilter, NULL, 0);
	if (!count)
		return -ENOENT;
	addrs = kcalloc((size_t)count, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	fitting(filter, notfilter, addrs, count);
	error = register_fprobe_ips(fp, addrs, count);
	kfree(addrs);
	return error;
}

int unregister_fprobe(struct fprobe *fp)
{
	if (!fp || !fp->kapi_probe)
		return -EINVAL;
	remove(fp->kapi_probe, fp->kapi_probe->count);
	fp->kapi_probe = NULL;
	return 0;
}
