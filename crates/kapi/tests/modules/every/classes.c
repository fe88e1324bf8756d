/* Debugging messages by class. */
#include <linux/dynamic_debug.h>
#include <linux/module.h>
#include "check.h"

enum { CORE, STATE, LOW, MID };
DECLARE_DYNDBG_CLASSMAP(by_bits, DD_CLASS_TYPE_DISJOINT_BITS, CORE, "CORE", "STATE");
DECLARE_DYNDBG_CLASSMAP(by_names, DD_CLASS_TYPE_LEVEL_NAMES, LOW, "LOW", "MID");
static unsigned long bits;
static unsigned int level;
static struct ddebug_class_param bits_param = { .bits = &bits, .flags = "p", .map = &by_bits };
static struct ddebug_class_param names_param = { .lvl = &level, .flags = "p", .map = &by_names };
module_param_cb(bits, &param_ops_dyndbg_classes, &bits_param, 0600);
module_param_cb(names, &param_ops_dyndbg_classes, &names_param, 0600);

static int __init classes_init(void)
{
	struct kernel_param of_bits = { .arg = &bits_param }, of_names = { .arg = &names_param };
	char text[32] = "";

	IS(kapi_class_is_on(CORE), false);
	IS(param_set_dyndbg_classes("2", &of_bits), 0);
	IS(kapi_class_is_on(CORE), false);
	IS(kapi_class_is_on(STATE), true);
	IS(kapi_class_is_on(LOW), false);
	__pr_debug_cls(CORE, "not printed\n");
	__pr_debug_cls(STATE, "class %d is printed\n", STATE);
	IS(param_set_dyndbg_classes("MID", &of_names), 0);
	IS(level, 2);
	IS(kapi_class_is_on(LOW), true);
	IS(param_set_dyndbg_classes("-LOW", &of_names), 0);
	IS(level, 0);
	IS(param_set_dyndbg_classes("HIGH", &of_names), -EINVAL);
	IS(param_get_dyndbg_classes(text, &of_bits) > 0, true);
	IS(strcmp(text, "0x2\n"), 0);
	return result();
}
module_init(classes_init);
MODULE_LICENSE("GPL");
