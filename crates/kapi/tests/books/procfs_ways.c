/* /proc as a tutorial builds it up: a constant, a buffer, a file with an inode's operations, and a counter by seq_file. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 10, 0)
#define HAVE_PROC_OPS
#endif
#define PROCFS_MAX_SIZE 1024UL

static struct proc_dir_entry *hello_file, *buffer_file, *folder;
static char procfs_buffer[PROCFS_MAX_SIZE];
static unsigned long procfs_buffer_size;

static ssize_t hello_read(struct file *file_pointer, char __user *buffer, size_t buffer_length, loff_t *offset)
{
	char s[13] = "HelloWorld!\n";
	int len = sizeof(s);
	ssize_t ret = len;

	if (*offset >= len || copy_to_user(buffer, s, len)) {
		pr_info("copy_to_user failed\n");
		ret = 0;
	} else {
		pr_info("procfile read %s\n", file_pointer->f_path.dentry->d_name.name);
		*offset += len;
	}
	return ret;
}

static ssize_t buffer_read(struct file *filp, char __user *buffer, size_t length, loff_t *offset)
{
	if (*offset || procfs_buffer_size == 0) {
		*offset = 0;
		return 0;
	}
	procfs_buffer_size = min(procfs_buffer_size, length);
	if (copy_to_user(buffer, procfs_buffer, procfs_buffer_size))
		return -EFAULT;
	*offset += procfs_buffer_size;
	return procfs_buffer_size;
}

static ssize_t buffer_write(struct file *file, const char __user *buffer, size_t len, loff_t *off)
{
	procfs_buffer_size = min(PROCFS_MAX_SIZE, len);
	if (copy_from_user(procfs_buffer, buffer, procfs_buffer_size))
		return -EFAULT;
	*off += procfs_buffer_size;
	procfs_buffer[procfs_buffer_size & (PROCFS_MAX_SIZE - 1)] = '\0';
	pr_info("procfile write %s\n", procfs_buffer);
	return procfs_buffer_size;
}

static int buffer_open(struct inode *inode, struct file *file)
{
	try_module_get(THIS_MODULE);
	return 0;
}

static int buffer_close(struct inode *inode, struct file *file)
{
	module_put(THIS_MODULE);
	return 0;
}

#ifdef HAVE_PROC_OPS
static const struct proc_ops hello_fops = { .proc_read = hello_read };
static const struct proc_ops buffer_fops = {
	.proc_read = buffer_read, .proc_write = buffer_write, .proc_open = buffer_open, .proc_release = buffer_close,
};
#else
static const struct file_operations hello_fops = { .read = hello_read };
static const struct file_operations buffer_fops = {
	.read = buffer_read, .write = buffer_write, .open = buffer_open, .release = buffer_close,
};
#endif

static void *my_seq_start(struct seq_file *s, loff_t *pos)
{
	static unsigned long counter;

	if (*pos == 0)
		return &counter;
	*pos = 0;
	return NULL;
}

static void *my_seq_next(struct seq_file *s, void *v, loff_t *pos)
{
	unsigned long *tmp_v = v;

	(*tmp_v)++;
	(*pos)++;
	return *tmp_v % 4 ? v : NULL;
}

static void my_seq_stop(struct seq_file *s, void *v)
{
}

static int my_seq_show(struct seq_file *s, void *v)
{
	loff_t *spos = v;

	seq_printf(s, "%Ld\n", *spos);
	return 0;
}

static struct seq_operations my_seq_ops = {
	.start = my_seq_start, .next = my_seq_next, .stop = my_seq_stop, .show = my_seq_show,
};

static int my_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &my_seq_ops);
};

static const struct proc_ops my_file_ops = {
	.proc_open = my_open, .proc_read = seq_read, .proc_lseek = seq_lseek, .proc_release = seq_release,
};

static int __init procfs_init(void)
{
	hello_file = proc_create("helloworld", 0644, NULL, &hello_fops);
	buffer_file = proc_create("buffer1k", 0644, NULL, &buffer_fops);
	folder = proc_mkdir_mode("iter", 0555, NULL);
	if (!hello_file || !buffer_file || !folder || !proc_create("counter", 0, folder, &my_file_ops)) {
		proc_remove(hello_file);
		return -ENOMEM;
	}
	proc_set_size(buffer_file, 80);
	proc_set_user(buffer_file, GLOBAL_ROOT_UID, GLOBAL_ROOT_GID);
	proc_symlink("alias", folder, "counter");
	pr_info("/proc/%s created\n", "buffer1k");
	return 0;
}

static void __exit procfs_exit(void)
{
	proc_remove(hello_file);
	remove_proc_entry("buffer1k", NULL);
	remove_proc_subtree("iter", NULL);
	pr_info("/proc/%s removed\n", "buffer1k");
}

module_init(procfs_init);
module_exit(procfs_exit);
MODULE_LICENSE("GPL");
