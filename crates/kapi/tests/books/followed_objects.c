// Objects whose life is followed: a connection that tells debugobjects what becomes of it, and mends what can be mended.
#include <linux/debugobjects.h>
#include <linux/module.h>
#include <linux/slab.h>

struct connection {
	int number;
	bool open;
};

static int mended;
static struct connection built_in = { .number = 7 };

static bool mend_init(void *addr, enum debug_obj_state state);
static bool mend_activate(void *addr, enum debug_obj_state state);
static bool is_built_in(void *addr) { return addr == &built_in; }
static void *hint(void *addr) { return mend_init; }

static const struct debug_obj_descr connection_descr = {
	.name = "connection",
	.debug_hint = hint,
	.is_static_object = is_built_in,
	.fixup_init = mend_init,
	.fixup_activate = mend_activate,
};

static int connection_open(struct connection *c)
{
	int error = debug_object_activate(c, &connection_descr);

	if (!error)
		c->open = true;
	return error;
}

static void connection_close(struct connection *c)
{
	c->open = false;
	debug_object_deactivate(c, &connection_descr);
}

static bool mend_init(void *addr, enum debug_obj_state state)
{
	mended++;
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	connection_close(addr);
	debug_object_init(addr, &connection_descr);
	return true;
}

static bool mend_activate(void *addr, enum debug_obj_state state)
{
	mended++;
	return false;
}

static int __init followed_init(void)
{
	struct connection on_stack = { .number = 3 }, *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	debug_object_init(c, &connection_descr);
	pr_info("followed: opened %d\n", connection_open(c));
	debug_object_active_state(c, &connection_descr, 0, 1);
	debug_object_active_state(c, &connection_descr, 1, 0);
	connection_close(c);
	pr_info("followed: opened again %d\n", connection_open(c));
	connection_close(c);
	debug_object_destroy(c, &connection_descr);
	debug_object_free(c, &connection_descr);
	kfree(c);
	pr_info("followed: the built-in one %d\n", connection_open(&built_in));
	debug_object_assert_init(&built_in, &connection_descr);
	connection_close(&built_in);
	debug_object_free(&built_in, &connection_descr);
	debug_object_init_on_stack(&on_stack, &connection_descr);
	pr_info("followed: on the stack %d\n", connection_open(&on_stack));
	connection_close(&on_stack);
	debug_object_free(&on_stack, &connection_descr);
	pr_info("followed: mended %d\n", mended);
	return 0;
}

static void __exit followed_exit(void)
{
}

module_init(followed_init);
module_exit(followed_exit);
MODULE_LICENSE("GPL");
