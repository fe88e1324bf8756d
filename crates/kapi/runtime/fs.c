// SPDX-License-Identifier: MIT OR Apache-2.0
// What file operations of modules are made of: positions, buffers, readers that want a signal, polling.
#include "host.h"
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

loff_t no_llseek(struct file *file, loff_t offset, int whence) { return -ESPIPE; }
loff_t noop_llseek(struct file *file, loff_t offset, int whence) { return file->f_pos; }

loff_t vfs_setpos(struct file *file, loff_t offset, loff_t limit)
{
	if (offset < 0 || offset > limit)
		return -EINVAL;
	return file->f_pos = offset;
}

loff_t fixed_size_llseek(struct file *file, loff_t offset, int whence, loff_t size)
{
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence == SEEK_END)
		offset += size;
	else if (whence != SEEK_SET)
		return -EINVAL;
	return vfs_setpos(file, offset, size);
}

loff_t no_seek_end_llseek(struct file *file, loff_t offset, int whence)
{
	return whence == SEEK_END ? -EINVAL : fixed_size_llseek(file, offset, whence, LLONG_MAX);
}

loff_t default_llseek(struct file *file, loff_t offset, int whence)
{
	if (whence == SEEK_END)
		return vfs_setpos(file, file->f_inode->i_size + offset, LLONG_MAX);
	return fixed_size_llseek(file, offset, whence, LLONG_MAX);
}

SAME_AS(generic_file_llseek, default_llseek);

int nonseekable_open(struct inode *inode, struct file *file)
{
	file->f_mode &= ~(FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE);
	return 0;
}

int stream_open(struct inode *inode, struct file *file)
{
	file->f_mode &= ~(FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE);
	file->f_mode |= FMODE_STREAM;
	return 0;
}

/* A user of 32 bits is none of ours; the call is the same. */
long compat_ptr_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return file->f_op->unlocked_ioctl ? file->f_op->unlocked_ioctl(file, cmd, arg) : -ENOIOCTLCMD;
}

int simple_open(struct inode *inode, struct file *file)
{
	file->private_data = inode->i_private;
	return 0;
}

/* Returns how many bytes from *pos on a file of @available bytes has for a caller that wants @count. */
static ssize_t bytes_at(loff_t pos, size_t count, size_t available)
{
	if (pos < 0)
		return -EINVAL;
	return (size_t)pos >= available ? 0 : (ssize_t)min(count, available - (size_t)pos);
}

ssize_t simple_read_from_buffer(void __user *to, size_t count, loff_t *pos, const void *from, size_t available)
{
	ssize_t n = bytes_at(*pos, count, available);

	if (n > 0 && copy_to_user(to, (const char *)from + *pos, (size_t)n))
		return -EFAULT;
	*pos += max(n, 0L);
	return n;
}

ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const void __user *from, size_t count)
{
	ssize_t n = bytes_at(*pos, count, available);

	if (n > 0 && copy_from_user((char *)to + *pos, from, (size_t)n))
		return -EFAULT;
	*pos += max(n, 0L);
	return n;
}

ssize_t memory_read_from_buffer(void *to, size_t count, loff_t *pos, const void *from, size_t available)
{
	ssize_t n = bytes_at(*pos, count, available);

	if (n > 0)
		memcpy(to, (const char *)from + *pos, (size_t)n);
	*pos += max(n, 0L);
	return n;
}

static DEFINE_SPINLOCK(fasync_lock);

/* Return: 1 if the list changed, 0 if not, or an error. */
int fasync_helper(int fd, struct file *file, int on, struct fasync_struct **list)
{
	struct fasync_struct *entry = on ? kapi_alloc(sizeof(*entry)) : NULL, **at;
	unsigned long flags;
	int changed = 0;

	if (on && !entry)
		return -ENOMEM;
	spin_lock_irqsave(&fasync_lock, flags);
	for (at = list; *at && (*at)->fa_file != file; at = &(*at)->fa_next)
		;
	if (!on && *at) {
		entry = *at;
		*at = entry->fa_next;
		changed = 1;
	} else if (on && !*at) {
		*entry = (struct fasync_struct){ .fa_next = *list, .fa_file = file, .fa_fd = fd };
		*list = entry;
		entry = NULL;
		changed = 1;
	}
	spin_unlock_irqrestore(&fasync_lock, flags);
	file->f_flags = on ? file->f_flags | FASYNC : file->f_flags & ~(unsigned int)FASYNC;
	kapi_free(entry, sizeof(*entry));
	return changed;
}

/* Who opened the file has a handler that counts: no system call of its is broken off. */
void kill_fasync(struct fasync_struct **list, int sig, int band)
{
	struct fasync_struct *entry;
	unsigned long flags;

	spin_lock_irqsave(&fasync_lock, flags);
	for (entry = *list; entry; entry = entry->fa_next)
		if (entry->fa_file->kapi_owner)
			entry->fa_file->kapi_signals++;
	spin_unlock_irqrestore(&fasync_lock, flags);
}

void poll_wait(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	if (queue && !poll_does_not_wait(table))
		table->_qproc(file, queue, table);
}

/* There are no pages that were read before: the file's own functions have the bytes. */
ssize_t generic_file_read_iter(struct kiocb *iocb, struct iov_iter *to) { return -EINVAL; }
ssize_t generic_file_write_iter(struct kiocb *iocb, struct iov_iter *from) { return -EINVAL; }
