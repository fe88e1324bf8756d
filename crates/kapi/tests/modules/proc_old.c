/* /proc by create_proc_read_entry() and create_proc_entry(), gone since 3.10. */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <asm/uaccess.h>

static char message[64] = "nothing yet";
static struct proc_dir_entry *entry;

static int mem_read(char *buf, char **start, off_t offset, int count, int *eof, void *data)
{
	struct sysinfo si;
	int len;

	si_meminfo(&si);
	len = sprintf(buf, "total %lu pages of %lu\n", si.totalram, num_physpages);
	len += sprintf(buf + len, "current %s\n", current->comm);
	*eof = 1;
	return len;
}

static int msg_read(char *page, char **start, off_t off, int count, int *eof, void *data)
{
	int len = sprintf(page, "%s", message);

	if (len <= off + count)
		*eof = 1;
	*start = page + off;
	len -= off;
	if (len > count)
		len = count;
	if (len < 0)
		len = 0;
	return len;
}

static int msg_write(struct file *file, const char __user *buf, unsigned long count, void *data)
{
	if (count > sizeof(message) - 1)
		count = sizeof(message) - 1;
	if (copy_from_user(message, buf, count))
		return -EFAULT;
	message[count] = '\0';
	return count;
}

static int __init proc_old_init(void)
{
	create_proc_read_entry("memold", 0, NULL, mem_read, NULL);
	entry = create_proc_entry("message", 0644, NULL);
	if (!entry)
		return -ENOMEM;
	entry->read_proc = msg_read;
	entry->write_proc = msg_write;
	return 0;
}

static void __exit proc_old_exit(void)
{
	remove_proc_entry("message", NULL);
	remove_proc_entry("memold", NULL);
}
module_init(proc_old_init);
module_exit(proc_old_exit);
MODULE_LICENSE("GPL");
