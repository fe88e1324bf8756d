// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that a module replaces, and data beside objects.
#include "host.h"
#include "probe.h"
#include <linux/kernel.h>
#include <linux/livepatch.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static DEFINE_MUTEX(lock);

/* The kernel itself, or a module that is there. */
static bool is_there(const struct klp_object *obj)
{
	return !obj->name || !strcmp(obj->name, THIS_MODULE->name);
}

static const char *name_of(const struct klp_object *obj) { return obj->name ?: "vmlinux"; }

static int find_functions(struct klp_object *obj)
{
	struct klp_func *func;

	klp_for_each_func_static(obj, func) {
		if (!func->old_name || !func->new_func)
			return -EINVAL;
		func->old_func = (void *)kapi_symbol_find(func->old_name);
		if (!func->old_func) {
			pr_err("livepatch: symbol '%s' not found in symbol table\n", func->old_name);
			return -ENOENT;
		}
	}
	return 0;
}

static void restore(struct klp_object *obj)
{
	struct klp_func *func;

	if (obj->callbacks.pre_unpatch)
		obj->callbacks.pre_unpatch(obj);
	klp_for_each_func_static(obj, func) {
		if (func->patched)
			kapi_redirect((unsigned long)func->old_func, NULL);
		func->patched = false;
	}
	obj->patched = false;
	if (obj->callbacks.post_unpatch)
		obj->callbacks.post_unpatch(obj);
}

static int replace(struct klp_object *obj)
{
	struct klp_func *func;
	int error = obj->callbacks.pre_patch ? obj->callbacks.pre_patch(obj) : 0;

	if (error) {
		pr_warn("livepatch: pre-patch callback failed for object '%s'\n", name_of(obj));
		return error;
	}
	obj->patched = true;
	klp_for_each_func_static(obj, func) {
		error = kapi_redirect((unsigned long)func->old_func, func->new_func);
		if (error) {
			pr_err("livepatch: failed to patch function '%s' (%d)\n", func->old_name, error);
			restore(obj);
			return error;
		}
		func->patched = true;
	}
	if (obj->callbacks.post_patch)
		obj->callbacks.post_patch(obj);
	return 0;
}

static void disable(struct klp_patch *patch)
{
	struct klp_object *obj;

	klp_for_each_object_static(patch, obj)
		if (obj->patched)
			restore(obj);
	if (patch->enabled)
		pr_notice("livepatch: '%s': unpatching complete\n", patch->mod->name);
	patch->enabled = false;
}

static ssize_t enabled_read(struct file *file, char __user *user, size_t count, loff_t *pos)
{
	struct klp_patch *patch = pde_data(file_inode(file));

	return simple_read_from_buffer(user, count, pos, patch->enabled ? "1\n" : "0\n", 2);
}

static ssize_t enabled_write(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	struct klp_patch *patch = pde_data(file_inode(file));
	bool enable;
	int error = kstrtobool_from_user(user, count, &enable);

	if (error)
		return error;
	mutex_lock(&lock);
	/* One that is off cannot be put on again. */
	error = enable ? -EINVAL : 0;
	if (!error)
		disable(patch);
	mutex_unlock(&lock);
	return error ?: (ssize_t)count;
}

static void add_file(struct klp_patch *patch)
{
	static const struct file_operations fops = { .read = enabled_read, .write = enabled_write };
	struct proc_dir_entry *folder = kapi_proc_folder("kernel", kapi_proc_folder("sys", NULL));

	patch->kapi_folder = kapi_proc_folder(patch->mod->name, kapi_proc_folder("livepatch", folder));
	kapi_proc_fops("enabled", 0644, patch->kapi_folder, &fops, patch);
}

int klp_enable_patch(struct klp_patch *patch)
{
	struct klp_object *obj;
	int error = 0;

	if (!patch || !patch->mod || !patch->objs)
		return -EINVAL;
	klp_for_each_object_static(patch, obj) {
		if (!obj->funcs)
			return -EINVAL;
		if (is_there(obj))
			error = error ?: find_functions(obj);
	}
	if (error)
		return error;
	pr_notice("livepatch: enabling patch '%s'\n", patch->mod->name);
	mutex_lock(&lock);
	klp_for_each_object_static(patch, obj) {
		if (!is_there(obj) || error)
			continue;
		obj->mod = obj->name ? THIS_MODULE : NULL;
		error = replace(obj);
	}
	if (error) {
		disable(patch);
	} else {
		patch->enabled = true;
		add_file(patch);
		pr_notice("livepatch: '%s': patching complete\n", patch->mod->name);
	}
	mutex_unlock(&lock);
	return error;
}

struct shadow {
	struct list_head list;
	void *obj;
	unsigned long id;
	char data[] __attribute__((__aligned__(16)));
};

static LIST_HEAD(shadows);
static DEFINE_SPINLOCK(shadows_lock);

/* Under the lock. */
static struct shadow *shadow_of(const void *obj, unsigned long id)
{
	struct shadow *shadow;

	list_for_each_entry(shadow, &shadows, list)
		if (shadow->obj == obj && shadow->id == id)
			return shadow;
	return NULL;
}

void *klp_shadow_get(void *obj, unsigned long id)
{
	struct shadow *shadow;
	unsigned long flags;

	spin_lock_irqsave(&shadows_lock, flags);
	shadow = shadow_of(obj, id);
	spin_unlock_irqrestore(&shadows_lock, flags);
	return shadow ? shadow->data : NULL;
}

static void *get_or_alloc(void *obj, unsigned long id, size_t size, gfp_t gfp, klp_shadow_ctor_t ctor, void *ctor_data,
			  bool may_be_there)
{
	struct shadow *shadow = kapi_kmalloc_for(sizeof(*shadow) + size, gfp | __GFP_ZERO, _RET_IP_), *other;
	unsigned long flags;
	int error = 0;

	if (!shadow)
		return NULL;
	shadow->obj = obj;
	shadow->id = id;
	spin_lock_irqsave(&shadows_lock, flags);
	other = shadow_of(obj, id);
	if (!other && ctor)
		error = ctor(obj, shadow->data, ctor_data);
	if (!other && !error)
		list_add(&shadow->list, &shadows);
	spin_unlock_irqrestore(&shadows_lock, flags);
	if (!other && !error)
		return shadow->data;
	kfree(shadow);
	WARN(other && !may_be_there, "Duplicate shadow variable <%p, %lx>\n", obj, id);
	if (error)
		pr_err("livepatch: failed to construct shadow variable <%p, %lx> (%d)\n", obj, id, error);
	return other && may_be_there ? other->data : NULL;
}

void *klp_shadow_alloc(void *obj, unsigned long id, size_t size, gfp_t gfp, klp_shadow_ctor_t ctor, void *ctor_data)
{
	return get_or_alloc(obj, id, size, gfp, ctor, ctor_data, false);
}

void *klp_shadow_get_or_alloc(void *obj, unsigned long id, size_t size, gfp_t gfp, klp_shadow_ctor_t ctor, void *ctor_data)
{
	return klp_shadow_get(obj, id) ?: get_or_alloc(obj, id, size, gfp, ctor, ctor_data, true);
}

/* Of one object, or of all if @obj is NULL. */
static void free_shadows(const void *obj, unsigned long id, klp_shadow_dtor_t dtor)
{
	struct shadow *shadow, *next;
	unsigned long flags;

	spin_lock_irqsave(&shadows_lock, flags);
	list_for_each_entry_safe(shadow, next, &shadows, list)
		if (shadow->id == id && (!obj || shadow->obj == obj)) {
			list_del(&shadow->list);
			if (dtor)
				dtor(shadow->obj, shadow->data);
			kfree(shadow);
		}
	spin_unlock_irqrestore(&shadows_lock, flags);
}

void klp_shadow_free(void *obj, unsigned long id, klp_shadow_dtor_t dtor) { free_shadows(obj, id, dtor); }
void klp_shadow_free_all(unsigned long id, klp_shadow_dtor_t dtor) { free_shadows(NULL, id, dtor); }
