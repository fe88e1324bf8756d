// SPDX-License-Identifier: MIT OR Apache-2.0
// Debugging messages by class: which are printed.
#include <linux/bits.h>
#include <linux/dynamic_debug.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

/* The classes that are on. */
static unsigned long classes_on;

bool kapi_class_is_on(unsigned int class) { return class < BITS_PER_LONG && (READ_ONCE(classes_on) & BIT(class)); }

/* The first classes of a map, as bits from 0. */
static unsigned long up_to(unsigned int count) { return count ? GENMASK(count - 1, 0) : 0; }

static int index_of(const struct ddebug_class_map *map, const char *name, size_t len)
{
	int i;

	for (i = 0; i < map->length; i++)
		if (strlen(map->class_names[i]) == len && !strncmp(map->class_names[i], name, len))
			return i;
	return -EINVAL;
}

/* Names with a sign each, and commas between them. */
static int by_names(const struct ddebug_class_map *map, const char *text, unsigned long *bits)
{
	while (*text && *text != '\n') {
		bool off = *text == '-';
		size_t len;
		int at;

		text += *text == '-' || *text == '+';
		len = strcspn(text, ",\n");
		at = index_of(map, text, len);
		if (at < 0)
			return at;
		if (map->map_type == DD_CLASS_TYPE_LEVEL_NAMES)
			*bits = up_to((unsigned int)at + !off);
		else
			*bits = off ? *bits & ~BIT(at) : *bits | BIT(at);
		text += len;
		text += *text == ',';
	}
	return 0;
}

static int by_number(const struct ddebug_class_map *map, const char *text, unsigned long *bits)
{
	unsigned long number, all = up_to((unsigned int)map->length);
	int error = kstrtoul(text, 0, &number);

	if (error)
		return error;
	if (map->map_type == DD_CLASS_TYPE_LEVEL_NUM)
		*bits = up_to((unsigned int)min(number, (unsigned long)map->length));
	else
		*bits = number & all;
	return 0;
}

static bool is_level(const struct ddebug_class_map *map)
{
	return map->map_type == DD_CLASS_TYPE_LEVEL_NUM || map->map_type == DD_CLASS_TYPE_LEVEL_NAMES;
}

int param_set_dyndbg_classes(const char *value, const struct kernel_param *param)
{
	const struct ddebug_class_param *classes = param->arg;
	const struct ddebug_class_map *map = classes->map;
	unsigned long mask = up_to((unsigned int)map->length) << map->base, bits = (classes_on & mask) >> map->base;
	bool named = map->map_type == DD_CLASS_TYPE_DISJOINT_NAMES || map->map_type == DD_CLASS_TYPE_LEVEL_NAMES;
	int error = named ? by_names(map, value, &bits) : by_number(map, value, &bits);

	if (error)
		return error;
	if (is_level(map))
		*classes->lvl = (unsigned int)hweight_long(bits);
	else
		*classes->bits = bits;
	/* Other flags say only what stands in front of a message. */
	if (strchr(classes->flags, 'p'))
		WRITE_ONCE(classes_on, (classes_on & ~mask) | bits << map->base);
	return 0;
}

int param_get_dyndbg_classes(char *buffer, const struct kernel_param *param)
{
	const struct ddebug_class_param *classes = param->arg;

	return is_level(classes->map) ? scnprintf(buffer, PAGE_SIZE, "%u\n", *classes->lvl)
				      : scnprintf(buffer, PAGE_SIZE, "0x%lx\n", *classes->bits);
}

const struct kernel_param_ops param_ops_dyndbg_classes = {
	.set = param_set_dyndbg_classes, .get = param_get_dyndbg_classes };
