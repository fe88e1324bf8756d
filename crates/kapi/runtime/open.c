// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as a process has them open: found by their path, read, written, asked, mapped, closed.
//
// How it works: what fs/open.c and fs/read_write.c ask of a file's operations, in their order. Buffers are a
// user's (user.c). /proc, /sys and debugfs are proc.c's tree; the rest are devices (chrdev.c).
#include "host.h"
#include "open.h"
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

static bool find_entry(struct proc_dir_entry *root, const char *path, struct opened *o)
{
	struct proc_dir_entry *dir = kapi_proc_walk(root, &path);
	unsigned int links = 0;

	o->entry = dir ? kapi_proc_find(dir, path, strlen(path)) : NULL;
	while (o->entry && S_ISLNK(o->entry->mode)) {
		path = o->entry->kapi_target;
		if (!strncmp(path, "/proc/", 6))
			path += 6, dir = NULL;
		dir = ++links < 40 ? kapi_proc_walk(dir, &path) : NULL;
		o->entry = dir ? kapi_proc_find(dir, path, strlen(path)) : NULL;
	}
	if (!o->entry || S_ISDIR(o->entry->mode))
		return false;
	o->file.f_op = o->entry->proc_fops;
	/* DEFINE_SHOW_ATTRIBUTE reads its data here; our own open functions find their entry. */
	o->inode.i_private = o->entry->kapi_show || o->entry->kapi_seq ? (void *)o->entry :
									  o->entry->data;
	o->inode.kapi_pde_data = o->entry->data;
	o->inode.i_size = o->entry->size;
	o->inode.i_mode = o->entry->mode;
	return true;
}

/* Attributes are a tree beside that of /proc, and debugfs is a part of it. */
static long find(const char *path, struct opened *o)
{
	if (!strncmp(path, "/dev/", 5))
		return kapi_device_find(path + 5, &o->file);
	if (!strncmp(path, "/proc/", 6))
		path += 6;
	else if (!strncmp(path, "/sys/", 5))
		path++;
	if (find_entry(NULL, path, o) || find_entry(kapi_debugfs_root(), path, o))
		return 0;
	return kapi_device_find(path, &o->file);
}

static fmode_t mode_of(unsigned int flags)
{
	fmode_t mode = FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE;

	if ((flags & O_ACCMODE) != O_WRONLY)
		mode |= FMODE_READ;
	if ((flags & O_ACCMODE) != O_RDONLY)
		mode |= FMODE_WRITE;
	return mode;
}

long kapi_open(struct opened *o, const char *path, unsigned int flags)
{
	const char *name = strrchr(path, '/');
	long error;

	memset(o, 0, sizeof(*o));
	o->file.f_inode = o->dentry.d_inode = &o->inode;
	o->file.f_path.dentry = &o->dentry;
	o->dentry.d_parent = &o->dentry;
	strscpy((char *)o->dentry.d_iname, name ? name + 1 : path, sizeof(o->dentry.d_iname));
	strscpy(o->path, path, sizeof(o->path));
	o->dentry.kapi_path = o->path;
	o->dentry.d_name.name = o->dentry.d_iname;
	o->dentry.d_name.len = (u32)strlen((char *)o->dentry.d_iname);
	o->file.f_mode = mode_of(flags);
	o->file.f_flags = flags;
	o->file.f_cred = current_cred();
	o->file.f_mapping = o->inode.i_mapping = &o->mapping;
	o->mapping.host = &o->inode;
	o->inode.i_mode = S_IFCHR | 0600;
	atomic_long_set(&o->file.f_count, 1);
	spin_lock_init(&o->file.f_lock);
	error = find(path, o);
	if (error)
		return error;
	o->inode.i_fop = o->file.f_op;
	/* The module that a file belongs to cannot go while the file is open. */
	o->owner = o->file.f_op ? o->file.f_op->owner : NULL;
	if (!try_module_get(o->owner))
		return -ENXIO;
	if (o->file.f_op && o->file.f_op->open)
		error = o->file.f_op->open(&o->inode, &o->file);
	if (error)
		module_put(o->owner);
	return error;
}

/* Puts a path at the end of a buffer, as Linux does, which makes it from there. */
char *dentry_path_raw(const struct dentry *dentry, char *buf, int len)
{
	const char *path = dentry->kapi_path ?: (const char *)dentry->d_iname;
	size_t bytes = strlen(path) + 1;

	if (bytes > (size_t)len)
		return ERR_PTR(-ENAMETOOLONG);
	return memcpy(buf + len - bytes, path, bytes);
}

char *d_path(const struct path *path, char *buf, int len) { return dentry_path_raw(path->dentry, buf, len); }

void kapi_close(struct opened *o)
{
	const struct file_operations *op = o->file.f_op;

	if (op && op->flush)
		op->flush(&o->file, current);
	if ((o->file.f_flags & FASYNC) && op && op->fasync)
		op->fasync(-1, &o->file, 0);
	if (op && op->release)
		op->release(&o->inode, &o->file);
	module_put(o->owner);
}

/* One call of read_iter() or write_iter(), or of what they were up to 4.0. */
static ssize_t by_pieces(struct opened *o, char __user *buf, size_t count, unsigned int direction)
{
	const struct file_operations *op = o->file.f_op;
	struct iovec iov = { .iov_base = buf, .iov_len = count };
	struct kiocb iocb = { .ki_filp = &o->file, .ki_pos = o->file.f_pos };
	struct iov_iter iter;
	ssize_t n;

	if (o->file.f_flags & O_APPEND)
		iocb.ki_flags |= IOCB_APPEND;
	if (o->file.f_flags & O_NONBLOCK)
		iocb.ki_flags |= IOCB_NOWAIT;
	iov_iter_init(&iter, direction, &iov, 1, count);
	if (direction == ITER_DEST)
		n = op->read_iter ? op->read_iter(&iocb, &iter) : op->aio_read(&iocb, &iov, 1, iocb.ki_pos);
	else
		n = op->write_iter ? op->write_iter(&iocb, &iter) : op->aio_write(&iocb, &iov, 1, iocb.ki_pos);
	o->file.f_pos = iocb.ki_pos;
	return n;
}

ssize_t kapi_file_read(struct opened *o, char __user *buf, size_t count)
{
	const struct file_operations *op = o->file.f_op;

	if (!(o->file.f_mode & FMODE_READ))
		return -EBADF;
	if (op && op->read)
		return op->read(&o->file, buf, count, &o->file.f_pos);
	return op && (op->read_iter || op->aio_read) ? by_pieces(o, buf, count, ITER_DEST) : -EINVAL;
}

ssize_t kapi_file_write(struct opened *o, const char __user *buf, size_t count)
{
	const struct file_operations *op = o->file.f_op;

	if (!(o->file.f_mode & FMODE_WRITE))
		return -EBADF;
	if (o->entry && o->entry->write_proc)
		return o->entry->write_proc(&o->file, buf, count, o->entry->data);
	if (op && op->write)
		return op->write(&o->file, buf, count, &o->file.f_pos);
	return op && (op->write_iter || op->aio_write) ? by_pieces(o, (char __user *)buf, count, ITER_SOURCE) : -EINVAL;
}

/* Without a function of its own a file cannot seek since 6.0; before, it had the plain one. */
loff_t kapi_file_seek(struct opened *o, loff_t offset, int whence)
{
	const struct file_operations *op = o->file.f_op;

	if (!(o->file.f_mode & FMODE_LSEEK))
		return -ESPIPE;
	if (op && op->llseek)
		return op->llseek(&o->file, offset, whence);
	return LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0) ? -ESPIPE : default_llseek(&o->file, offset, whence);
}

long kapi_file_ioctl(struct opened *o, unsigned int cmd, unsigned long arg)
{
	const struct file_operations *op = o->file.f_op;
	long result = -ENOTTY;

	if (op && op->unlocked_ioctl)
		result = op->unlocked_ioctl(&o->file, cmd, arg);
	else if (op && op->ioctl)
		result = op->ioctl(&o->inode, &o->file, cmd, arg);
	return result == -ENOIOCTLCMD ? -ENOTTY : result;
}

long kapi_file_fasync(struct opened *o, int on)
{
	const struct file_operations *op = o->file.f_op;
	int result;

	if (!op || !op->fasync)
		return -ENOTTY;
	o->file.kapi_owner = on ? current : NULL;
	result = op->fasync(3, &o->file, on);
	return min(result, 0);
}

/* The places where one call of poll waits. */
struct waiting {
	poll_table table;
	int count;
	struct place {
		wait_queue_head_t *queue;
		struct wait_queue_entry entry;
	} places[8];
};

static void wait_there(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	struct waiting *w = container_of(table, struct waiting, table);
	struct place *place = w->places + w->count;

	if (WARN_ON(w->count == ARRAY_SIZE(w->places)))
		return;
	w->count++;
	place->queue = queue;
	init_waitqueue_entry(&place->entry, current);
	add_wait_queue(queue, &place->entry);
}

/* The events that a file has, which the caller waits for if it has none; 0 when the time is over. */
long kapi_file_poll(struct opened *o, long timeout)
{
	const struct file_operations *op = o->file.f_op;
	struct waiting w = { .table = { ._qproc = timeout ? wait_there : NULL, ._key = ~(__poll_t)0 } };
	long mask;

	if (!op || !op->poll)
		return (long)DEFAULT_POLLMASK;
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		mask = (long)op->poll(&o->file, &w.table);
		w.table._qproc = NULL;
		if (mask || !timeout)
			break;
		if (signal_pending(current)) {
			mask = -EINTR;
			break;
		}
		timeout = schedule_timeout(timeout);
	}
	set_current_state(TASK_RUNNING);
	while (w.count--)
		remove_wait_queue(w.places[w.count].queue, &w.places[w.count].entry);
	return mask;
}

struct file *filp_open(const char *path, int flags, umode_t mode)
{
	struct opened *o = kapi_alloc(sizeof(*o));
	long error;

	might_sleep();
	error = o ? kapi_open(o, path, (unsigned int)flags) : -ENOMEM;
	if (!error) {
		kapi_stands(o, "the open file", path);
		return &o->file;
	}
	kapi_free(o, sizeof(*o));
	return ERR_PTR(error);
}

int filp_close(struct file *file, void *id)
{
	struct opened *o = container_of(file, struct opened, file);

	might_sleep();
	kapi_gone(o);
	kapi_close(o);
	kapi_free(o, sizeof(*o));
	return 0;
}

/* With the kernel's own buffers for a user's, as long as the call takes. */
static ssize_t with_own_buffer(struct file *file, void *buf, size_t count, loff_t *pos,
			       ssize_t (*call)(struct opened *, char *, size_t))
{
	struct opened *o = container_of(file, struct opened, file);
	unsigned long before = current->kapi_segment;
	loff_t at = o->file.f_pos;
	ssize_t n;

	current->kapi_segment = -1UL;
	if (pos)
		o->file.f_pos = *pos;
	n = call(o, buf, count);
	if (pos) {
		*pos = o->file.f_pos;
		o->file.f_pos = at;
	}
	current->kapi_segment = before;
	return n;
}

ssize_t kernel_read(struct file *file, void *buf, size_t count, loff_t *pos)
{
	return with_own_buffer(file, buf, count, pos, kapi_file_read);
}

static ssize_t write_from(struct opened *o, char *buf, size_t count) { return kapi_file_write(o, buf, count); }

ssize_t kernel_write(struct file *file, const void *buf, size_t count, loff_t *pos)
{
	return with_own_buffer(file, (void *)buf, count, pos, write_from);
}
