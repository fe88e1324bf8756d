// Nothing is wrong here: objects are followed through their life, and go with their memory.
#include <linux/debugobjects.h>
#include <linux/module.h>
#include <linux/slab.h>

static const struct debug_obj_descr descr = { .name = "job" };

static int __init begin(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		void *job = kmalloc(100, GFP_KERNEL);

		if (!job)
			return -ENOMEM;
		debug_object_init(job, &descr);
		if (debug_object_activate(job, &descr))
			return -EIO;
		debug_object_deactivate(job, &descr);
		if (i % 2)
			debug_object_free(job, &descr);
		kfree(job);
	}
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
