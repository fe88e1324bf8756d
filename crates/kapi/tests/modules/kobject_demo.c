// SPDX-License-Identifier: MIT OR Apache-2.0
// A folder under /sys/kernel with two attributes: how much is allocated, and how large each block is.
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

struct block {
	struct list_head list;
	size_t size;
};

static LIST_HEAD(blocks);
static int block_size = 100;
static struct kobject *folder;

static ssize_t size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sprintf(buf, "%d\n", block_size);
}

static ssize_t size_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	int error = kstrtoint(buf, 10, &block_size);

	return error ? error : count;
}

static ssize_t blocks_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct block *block;
	int at = 0;

	list_for_each_entry(block, &blocks, list)
		at += sysfs_emit_at(buf, at, "%zu ", block->size);
	return at + sysfs_emit_at(buf, at, "\n");
}

static ssize_t blocks_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	struct block *block;

	if (!sysfs_streq(buf, "add"))
		return -EINVAL;
	block = kmalloc(sizeof(*block) + block_size, GFP_KERNEL);
	if (!block)
		return -ENOMEM;
	block->size = block_size;
	list_add_tail(&block->list, &blocks);
	return count;
}

static struct kobj_attribute size_attribute = __ATTR(size, 0664, size_show, size_store);
static struct kobj_attribute blocks_attribute = __ATTR_RW(blocks);
static struct attribute *attrs[] = { &size_attribute.attr, &blocks_attribute.attr, NULL };
static struct attribute_group attr_group = { .attrs = attrs };

static int __init kobject_demo_init(void)
{
	int error;

	folder = kobject_create_and_add("kobject_demo", kernel_kobj);
	if (!folder)
		return -ENOMEM;
	error = sysfs_create_group(folder, &attr_group);
	if (error)
		kobject_put(folder);
	return error;
}

static void __exit kobject_demo_exit(void)
{
	struct block *block, *next;

	list_for_each_entry_safe(block, next, &blocks, list)
		kfree(block);
	kobject_put(folder);
}

module_init(kobject_demo_init);
module_exit(kobject_demo_exit);
MODULE_LICENSE("Dual MIT/GPL");
