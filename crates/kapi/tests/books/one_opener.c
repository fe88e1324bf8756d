/* A file of /proc for one opener: others wait, look at their signals, or are told to come again; a static key; a tty. */
#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/tty.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

static DECLARE_WAIT_QUEUE_HEAD(queue);
static atomic_t is_open = ATOMIC_INIT(0);
static DEFINE_STATIC_KEY_FALSE(key);
static struct proc_dir_entry *entry;
static char message[80] = "empty\n";
static size_t message_len = 6;

static int one_open(struct inode *inode, struct file *file)
{
	if ((file->f_flags & O_NONBLOCK) && atomic_read(&is_open))
		return -EAGAIN;
	try_module_get(THIS_MODULE);
	while (atomic_cmpxchg(&is_open, 0, 1)) {
		unsigned long came = 0;
		int i;

		wait_event_interruptible(queue, !atomic_read(&is_open));
		for (i = 0; i < _NSIG_WORDS; i++)
			came |= current->pending.signal.sig[i] & ~current->blocked.sig[i];
		if (came) {
			pr_info("one: signal %d\n", sigismember(&current->pending.signal, SIGINT));
			module_put(THIS_MODULE);
			return -EINTR;
		}
	}
	return 0;
}

static int one_release(struct inode *inode, struct file *file)
{
	atomic_set(&is_open, 0);
	wake_up(&queue);
	module_put(THIS_MODULE);
	return 0;
}

static ssize_t one_read(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	return simple_read_from_buffer(buf, size, at, message, message_len);
}

static ssize_t one_write(struct file *file, const char __user *buf, size_t size, loff_t *at)
{
	size_t i;

	for (i = 0; i < sizeof(message) - 1 && i < size; i++)
		if (get_user(message[i], buf + i))
			return -EFAULT;
	message_len = i;
	return (ssize_t)i;
}

static const struct proc_ops ops = {
	.proc_open = one_open, .proc_release = one_release, .proc_read = one_read, .proc_write = one_write,
	.proc_lseek = noop_llseek,
};

static void say_on_terminal(const char *text)
{
	struct tty_struct *tty = get_current_tty();

	if (tty)
		tty->driver->ops->write(tty, (const unsigned char *)text, strlen(text));
	else
		pr_info("one: no terminal\n");
}

static int __init one_init(void)
{
	entry = proc_create("one", 0644, NULL, &ops);
	if (!entry)
		return -ENOMEM;
	proc_set_size(entry, 80);
	proc_set_user(entry, GLOBAL_ROOT_UID, GLOBAL_ROOT_GID);
	static_branch_enable(&key);
	if (static_branch_unlikely(&key))
		pr_info("one: the key is on\n");
	static_branch_disable(&key);
	say_on_terminal("hello\r\n");
	return 0;
}

static void __exit one_exit(void)
{
	proc_remove(entry);
}

module_init(one_init);
module_exit(one_exit);
MODULE_LICENSE("GPL");
