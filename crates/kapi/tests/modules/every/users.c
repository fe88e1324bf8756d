/* Every macro of a user's memory, files, users, waiting with conditions and mappings. */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/tty.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include "check.h"

static int at;
static DECLARE_WAIT_QUEUE_HEAD(queue);

/* In the kernel's own memory, which is no user's unless the segment says so. */
static void copies(void)
{
	char text[8] = "abcdefg", other[8] = "";
	mm_segment_t before = get_fs();
	int value = 5;
	u8 byte;

	IS(access_ok(text, 8), 0);
	IS(access_ok(VERIFY_WRITE, text, 8), 0);
	IS(copy_to_user(text, other, 4), 4);
	IS(copy_from_user(other, text, 4), 4);
	IS(get_user(value, (int *)text), -EFAULT);
	IS(value, 0);
	IS(put_user(5, (int *)text), -EFAULT);
	IS(text[0], 'a');
	set_fs(MAKE_MM_SEG(-1UL));
	set_fs(get_ds());
	IS(access_ok(text, 8), 1);
	IS(raw_copy_from_user(other, text, 8) + __copy_from_user(other, text, 8), 0);
	IS(other[6], 'g');
	IS(raw_copy_to_user(other, "x", 2) + __copy_to_user(other, "x", 2), 0);
	IS(put_user(-3, (signed char *)text) + __put_user(-3, (signed char *)text), 0);
	IS(get_user(value, (const signed char *)text) + __get_user(value, (const signed char *)text), 0);
	IS(value, -3);
	IS(get_user(byte, (u8 *)text), 0);
	IS(byte, 253);
	set_fs(before);
	IS(access_ok(text, 8), 0);
}

static void files(void)
{
	struct dentry dentry = { .d_iname = "every" };
	struct file file = { .f_path.dentry = &dentry, .f_count = ATOMIC_LONG_INIT(1) };
	struct kiocb iocb = { .ki_filp = &file };
	static const struct file_operations fops;

	IS(is_sync_kiocb(&iocb), 1);
	IS(file_dentry(&file), &dentry);
	IS(get_file(&file), &file);
	IS(atomic_long_read(&file.f_count), 2);
	replace_fops(&file, fops_get(&fops));
	IS(file.f_op, &fops);
	fops_put(&fops);
}

static void users(void)
{
	const struct cred *cred = get_current_cred();

	IS(uid_eq(current_fsuid(), GLOBAL_ROOT_UID), 1);
	IS(gid_eq(current_egid(), KGIDT_INIT(0)) && !uid_eq(INVALID_UID, KUIDT_INIT(3)), 1);
	IS(from_kuid(current_user_ns(), cred->uid), 0);
	put_cred(cred);
	task_lock(current);
	task_unlock(current);
}

/* Conditions that hold at the second look. */
static void waits(void)
{
	at = 0;
	wait_event(queue, at++ == 0);
	io_wait_event(queue, at++ == 1);
	wait_event_idle(queue, at++ == 2);
	IS(wait_event_killable(queue, at++ == 3), 0);
	IS(wait_event_freezable(queue, at++ == 4), 0);
	IS(wait_event_interruptible_exclusive(queue, at++ == 5), 0);
	IS(wait_event_killable_exclusive(queue, at++ == 6), 0);
	IS(wait_event_timeout(queue, 0, 1), 0);
	IS(wait_event_idle_timeout(queue, 1, 5), 5);
	IS(wait_event_killable_timeout(queue, 0, 1), 0);
	wait_event_cmd(queue, at++ == 7, at += 100, at -= 100);
	IS(at, 8);
	IS(send_sig(SIGUSR1, current, 0), 0);
	IS(signal_pending(current), 1);
	IS(fatal_signal_pending(current), 0);
	IS(wait_event_interruptible(queue, 0), -ERESTARTSYS);
	IS(wait_event_interruptible_timeout(queue, 0, 100), -ERESTARTSYS);
	IS(kernel_dequeue_signal(), SIGUSR1);
	IS(signal_pending(current), 0);
	IS(kill_pid(find_vpid(current->pid), SIGKILL, 1), 0);
	IS(wait_event_killable(queue, 0), -ERESTARTSYS);
	flush_signals(current);
}

static int handled;

static irqreturn_t handler(int irq, void *dev)
{
	handled++;
	return IRQ_RETVAL(dev == &handled);
}

static int parks(void *data)
{
	while (!kthread_should_stop())
		if (kthread_should_park())
			kthread_parkme();
		else
			msleep(1);
	return 7;
}

static void threads(void)
{
	struct task_struct *process, *thread, *own = kthread_run(parks, NULL, "parks");
	char name[64];
	int processes = 0, all = 0;

	for_each_process(process)
		for_each_thread(process, thread)
			processes += get_nr_threads(thread);
	do_each_thread(process, thread) {
		all++;
	} while_each_thread(process, thread);
	IS(processes, all);
	IS(all > 2, 1);
	IS(kthread_park(own), 0);
	kthread_unpark(own);
	IS(kthread_stop(own), 7);
	IS(current->signal->tty == NULL, 1);
	IS(sprint_symbol_no_offset(name, (unsigned long)parks), 5);
	IS(strcmp(name, "parks"), 0);
	IS(request_irq(5, handler, IRQF_SHARED, "every", &handled), 0);
	IS(request_irq(5, handler, 0, "other", NULL), -EBUSY);
	disable_irq(5);
	enable_irq(5);
	IS(free_irq(5, &handled) != NULL, 1);
}

static void mappings(void)
{
	struct vm_area_struct vma = { .vm_start = PAGE_SIZE, .vm_end = 2 * PAGE_SIZE };
	struct kapi_mapped mapped = { NULL };
	unsigned long page = __get_free_page(GFP_KERNEL);

	vma.kapi_pages = &mapped;
	IS(vma_pages(&vma), 1);
	IS(io_remap_pfn_range(&vma, vma.vm_start, virt_to_pfn(page), PAGE_SIZE, PAGE_SHARED), 0);
	IS(mapped.page, virt_to_page(page));
	IS(remap_pfn_range(&vma, vma.vm_start, virt_to_pfn(page), PAGE_SIZE, PAGE_SHARED), -EBUSY);
	free_page(page);
}

static int __init users_init(void)
{
	copies();
	files();
	users();
	waits();
	threads();
	mappings();
	return result();
}
module_init(users_init);
MODULE_LICENSE("GPL");
