// object in the wrong state: activate of a `job` that is active
#include <linux/debugobjects.h>
#include <linux/module.h>

static const struct debug_obj_descr descr = { .name = "job" };
static int job;

static int __init begin(void)
{
	debug_object_init(&job, &descr);
	debug_object_activate(&job, &descr);
	debug_object_activate(&job, &descr); // in
	debug_object_deactivate(&job, &descr);
	debug_object_free(&job, &descr);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
