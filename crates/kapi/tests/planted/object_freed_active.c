// object in the wrong state: free of a `job` that is active
#include <linux/debugobjects.h>
#include <linux/module.h>
#include <linux/slab.h>

static const struct debug_obj_descr descr = { .name = "job" };
static void *job;

static int __init begin(void)
{
	job = kmalloc(64, GFP_KERNEL);
	if (!job)
		return -ENOMEM;
	debug_object_init(job, &descr);
	return debug_object_activate(job, &descr);
}

static void __exit end(void)
{
	kfree(job); // in
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
