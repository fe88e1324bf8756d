// SPDX-License-Identifier: MIT OR Apache-2.0
// Values under /proc/sys.
#include "host.h"
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

const int sysctl_vals[] = { 0, 1, 2, 3, 4, 100, 200, 1000, 3000, INT_MAX, 65535, -1 };

/* A type of number: its bytes, its limits, and how to get and set one. */
struct kind {
	size_t bytes;
	long long min, max;
};
static const struct kind ints = { sizeof(int), INT_MIN, INT_MAX }, uints = { sizeof(unsigned int), 0, UINT_MAX },
			 bytes_of = { sizeof(u8), 0, U8_MAX }, longs = { sizeof(long), 0, LLONG_MAX },
			 bools = { sizeof(bool), 0, 1 };

static long long load(const struct kind *kind, const void *at)
{
	if (kind == &ints)
		return *(const int *)at;
	if (kind == &uints)
		return *(const unsigned int *)at;
	return kind == &longs ? (long long)*(const unsigned long *)at : *(const u8 *)at;
}

static void store(const struct kind *kind, void *at, long long value)
{
	if (kind->bytes == sizeof(int))
		*(int *)at = (int)value;
	else if (kind == &longs)
		*(unsigned long *)at = (unsigned long)value;
	else
		*(u8 *)at = (u8)value;
}

/* A limit has the type of what it limits; that of bytes is an int. */
static long long limit(const struct kind *kind, const void *extra, long long otherwise)
{
	return extra ? load(kind == &bytes_of ? &ints : kind, extra) : otherwise;
}

static int print_numbers(const struct kind *kind, KAPI_CTL *ctl, char *text, size_t *lenp)
{
	size_t count = (size_t)ctl->maxlen / kind->bytes, i, len = 0;

	for (i = 0; i < count; i++)
		len += (size_t)scnprintf(text + len, *lenp - len, "%s%lld", i ? "\t" : "",
					 load(kind, ctl->data + i * kind->bytes));
	len += (size_t)scnprintf(text + len, *lenp - len, "\n");
	*lenp = len;
	return 0;
}

static int read_numbers(const struct kind *kind, KAPI_CTL *ctl, const char *text, bool limits)
{
	size_t count = (size_t)ctl->maxlen / kind->bytes, i;
	char word[24];

	for (i = 0; i < count; i++) {
		size_t len;
		long long value;

		text = skip_spaces(text);
		len = strcspn(text, " \t\n");
		if (!len)
			break;
		if (len >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, len);
		word[len] = 0;
		text += len;
		if (kstrtoll(word, 0, &value) || value < kind->min || value > kind->max)
			return -EINVAL;
		if (limits && (value < limit(kind, ctl->extra1, kind->min) || value > limit(kind, ctl->extra2, kind->max)))
			return -EINVAL;
		store(kind, ctl->data + i * kind->bytes, value);
	}
	return i ? 0 : -EINVAL;
}

/* What is read or written behind the beginning: all is said, and a write that goes on is not looked at. */
static bool is_done(int write, size_t *lenp, loff_t *ppos)
{
	if (!*ppos && *lenp)
		return false;
	if (!write)
		*lenp = 0;
	return true;
}

static int numbers(const struct kind *kind, KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos, bool limits)
{
	int error;

	/* An entry without values has nothing to say, and takes nothing. */
	if (!ctl->data || !ctl->maxlen) {
		*lenp = 0;
		return 0;
	}
	if (is_done(write, lenp, ppos))
		return 0;
	error = write ? read_numbers(kind, ctl, buffer, limits) : print_numbers(kind, ctl, buffer, lenp);
	*ppos += error ? 0 : *lenp;
	return error;
}

#define HANDLER(name, kind, limits) \
	int name(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos) \
	{ \
		return numbers(&kind, ctl, write, buffer, lenp, ppos, limits); \
	}
HANDLER(proc_dointvec, ints, false)
HANDLER(proc_dointvec_minmax, ints, true)
HANDLER(proc_douintvec, uints, false)
HANDLER(proc_douintvec_minmax, uints, true)
HANDLER(proc_dou8vec_minmax, bytes_of, true)
HANDLER(proc_doulongvec_minmax, longs, true)
HANDLER(proc_dobool, bools, false)

int proc_dostring(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos)
{
	char *data = ctl->data;
	size_t len;

	if (!data || !ctl->maxlen) {
		*lenp = 0;
		return 0;
	}
	if (!write && is_done(write, lenp, ppos))
		return 0;
	if (write) {
		len = strcspn(buffer, "\n");
		if (*ppos >= ctl->maxlen || *ppos > (loff_t)strlen(data))
			return 0;
		len = min(len, (size_t)(ctl->maxlen - 1 - *ppos));
		memcpy(data + *ppos, buffer, len);
		data[*ppos + (loff_t)len] = 0;
	} else {
		*lenp = (size_t)scnprintf(buffer, *lenp, "%.*s\n", ctl->maxlen, data);
	}
	*ppos += *lenp;
	return 0;
}

int proc_do_large_bitmap(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned long *map = *(unsigned long **)ctl->data, *new;
	int error;

	if (is_done(write, lenp, ppos))
		return 0;
	if (!write) {
		*lenp = (size_t)scnprintf(buffer, *lenp, "%*pbl\n", ctl->maxlen, map);
		*ppos += *lenp;
		return 0;
	}
	new = bitmap_zalloc((unsigned int)ctl->maxlen, GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	error = bitmap_parselist(strim(buffer), new, ctl->maxlen);
	if (!error)
		bitmap_copy(map, new, (unsigned int)ctl->maxlen);
	bitmap_free(new);
	*ppos += error ? 0 : *lenp;
	return error;
}

/* Each entry is a file, whose data is the entry. */
static ssize_t transfer(struct file *file, char __user *user, size_t count, loff_t *pos, int write)
{
	KAPI_CTL *ctl = pde_data(file_inode(file));
	char *text;
	int error;

	if (count >= 1 << 20)
		return -ENOMEM;
	text = kvzalloc(count + 1, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	error = write && copy_from_user(text, user, count) ? -EFAULT : ctl->proc_handler(ctl, write, text, &count, pos);
	if (!error && !write && copy_to_user(user, text, count))
		error = -EFAULT;
	kvfree(text);
	return error ?: (ssize_t)count;
}

static ssize_t read(struct file *file, char __user *user, size_t count, loff_t *pos)
{
	return transfer(file, user, count, pos, 0);
}

static ssize_t write(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	return transfer(file, (char __user *)user, count, pos, 1);
}

static const struct file_operations fops = { .read = read, .write = write, .llseek = default_llseek };

struct ctl_table_header {
	struct list_head list;
	/* The folder, and whether nothing may ever stand in it. */
	struct proc_dir_entry *folder;
	bool is_mount_point;
	const struct ctl_table *table;
	size_t count;
};

static LIST_HEAD(headers);
static DEFINE_MUTEX(lock);

static bool users_of(const struct proc_dir_entry *folder)
{
	struct ctl_table_header *header;

	list_for_each_entry(header, &headers, list)
		if (header->folder == folder)
			return true;
	return false;
}

/* Folders go with their last file and header. */
static void prune(struct proc_dir_entry *folder, const struct proc_dir_entry *root)
{
	while (folder != root && list_empty(&folder->kapi_children) && !users_of(folder)) {
		struct proc_dir_entry *parent = folder->parent;

		proc_remove(folder);
		folder = parent;
	}
}

static struct proc_dir_entry *folder_of(const char *path)
{
	struct proc_dir_entry *folder = kapi_proc_folder("sys", NULL);
	struct ctl_table_header *header;
	char name[64];

	while (folder && *path) {
		size_t len = strcspn(path, "/");

		list_for_each_entry(header, &headers, list)
			if (header->is_mount_point && header->folder == folder)
				return NULL;
		strscpy(name, path, min(len + 1, sizeof(name)));
		folder = len ? kapi_proc_folder(name, folder) : folder;
		path += len + (path[len] == '/');
	}
	return folder;
}

static bool is_valid(const struct ctl_table *entry)
{
	bool valid = entry->proc_handler && (entry->data || entry->proc_handler != proc_dointvec) && !(entry->mode & ~0777);

	if (entry->proc_handler == proc_dou8vec_minmax)
		valid = valid && entry->maxlen == sizeof(u8) && limit(&bytes_of, entry->extra1, 0) >= 0 &&
			limit(&bytes_of, entry->extra2, U8_MAX) <= U8_MAX;
	return valid;
}

static struct ctl_table_header *add(const char *path, const struct ctl_table *table, size_t count, bool is_mount_point)
{
	struct ctl_table_header *header;
	size_t i;

	for (i = 0; i < count && table[i].procname; i++)
		if (!is_valid(&table[i])) {
			pr_err("sysctl table check failed: %s/%s\n", path, table[i].procname);
			return NULL;
		}
	header = kzalloc(sizeof(*header), GFP_KERNEL);
	if (!header)
		return NULL;
	header->table = table;
	header->count = i;
	header->is_mount_point = is_mount_point;
	mutex_lock(&lock);
	header->folder = folder_of(path);
	if (header->folder)
		list_add(&header->list, &headers);
	mutex_unlock(&lock);
	if (!header->folder) {
		kfree(header);
		return NULL;
	}
	for (i = 0; i < header->count; i++)
		kapi_proc_fops(table[i].procname, table[i].mode, header->folder, &fops, (void *)&table[i]);
	return header;
}

struct ctl_table_header *register_sysctl_sz(const char *path, const struct ctl_table *table, size_t count)
{
	return add(path, table, count, false);
}

struct ctl_table_header *register_sysctl_mount_point(const char *path) { return add(path, NULL, 0, true); }

void unregister_sysctl_table(struct ctl_table_header *header)
{
	size_t i;

	if (!header)
		return;
	mutex_lock(&lock);
	for (i = 0; i < header->count; i++)
		remove_proc_entry(header->table[i].procname, header->folder);
	list_del(&header->list);
	prune(header->folder, kapi_proc_folder("sys", NULL));
	mutex_unlock(&lock);
	kfree(header);
}
