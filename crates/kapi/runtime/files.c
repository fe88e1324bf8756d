// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole files for the host: --cat and --write.
#include "host.h"
#include "open.h"
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

/*
 * A read function of before 3.10: it writes into a page, and says by *start (NULL, a small number
 * of its own, or a place in the page) and *eof how it wants to be called on.
 */
static long read_old(struct proc_dir_entry *entry, char *page)
{
	off_t offset = 0;
	int eof = 0;
	int n;

	while (!eof) {
		char *start = NULL;

		n = entry->read_proc(page, &start, offset, PAGE_SIZE / 2, &eof, entry->data);
		if (n < 0)
			return n;
		if (!start) {
			if (n <= offset)
				break;
			kapi_output(page + offset, (size_t)(n - offset));
			break;
		}
		if (!n)
			break;
		if (start < page) {
			kapi_output(page, (size_t)n);
			offset += (off_t)(unsigned long)start;
		} else {
			kapi_output(start, (size_t)n);
			offset += n;
		}
	}
	return 0;
}

static long read_all(struct opened *o, char __user *page)
{
	ssize_t n;

	if (o->entry && o->entry->read_proc)
		return read_old(o->entry, page);
	while ((n = kapi_file_read(o, page, PAGE_SIZE)) > 0)
		kapi_output(page, (size_t)n);
	return n;
}

long kapi_read_file(const char *path)
{
	char __user *page = kapi_user_take();
	struct opened *o = kapi_alloc(sizeof(*o));
	long n = page && o ? kapi_open(o, path, O_RDONLY) : -ENOMEM;

	if (!n) {
		n = read_all(o, page);
		kapi_close(o);
	}
	kapi_free(o, sizeof(*o));
	if (page)
		kapi_user_give(page);
	return n;
}

/* Each write takes what one buffer holds; a file that takes less is asked again. */
static long write_all(struct opened *o, char __user *buffer, const char *text, size_t len)
{
	do {
		size_t n = min(len, (size_t)KAPI_USER_BYTES);
		ssize_t done;

		memcpy(buffer, text, n);
		done = kapi_file_write(o, buffer, n);
		if (done <= 0)
			return done;
		text += done;
		len -= min(len, (size_t)done);
	} while (len);
	return 0;
}

long kapi_write_file(const char *path, const char *text, size_t len)
{
	char __user *buffer = kapi_user_take();
	struct opened *o = kapi_alloc(sizeof(*o));
	long n = buffer && o ? kapi_open(o, path, O_WRONLY) : -ENOMEM;

	if (!n) {
		n = write_all(o, buffer, text, len);
		kapi_close(o);
	}
	kapi_free(o, sizeof(*o));
	if (buffer)
		kapi_user_give(buffer);
	return n;
}

static void list_dir(struct proc_dir_entry *dir, const char *prefix)
{
	struct proc_dir_entry *entry;
	char path[128];

	list_for_each_entry(entry, &dir->kapi_children, kapi_siblings) {
		scnprintf(path, sizeof(path), "%s%s%s", prefix, entry->name, S_ISDIR(entry->mode) ? "/" : "\n");
		if (S_ISDIR(entry->mode))
			list_dir(entry, path);
		else
			kapi_output(path, strlen(path));
	}
}

/* What could be read: for the message about a file that is not there. */
void kapi_list_files(void)
{
	list_dir(&proc_root, "");
	kapi_list_devices();
}
