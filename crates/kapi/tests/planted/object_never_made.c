// object in the wrong state: activate of a `job` that is not available
#include <linux/debugobjects.h>
#include <linux/module.h>

static const struct debug_obj_descr descr = { .name = "job" };
static int job;

static int __init begin(void)
{
	if (!debug_object_activate(&job, &descr)) // in
		return -EIO;
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
