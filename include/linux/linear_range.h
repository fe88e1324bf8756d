/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Selectors of evenly spaced values: selector min_sel stands for min, the next for min + step, up to max_sel.
 *
 * Linux counterpart: include/linux/linear_range.h @ 6.12. */
#ifndef _LINUX_LINEAR_RANGE_H
#define _LINUX_LINEAR_RANGE_H

#include <linux/types.h>

struct linear_range {
	unsigned int min;
	unsigned int min_sel;
	unsigned int max_sel;
	unsigned int step;
};

#define LINEAR_RANGE(_min, _min_sel, _max_sel, _step) \
	{ .min = _min, .min_sel = _min_sel, .max_sel = _max_sel, .step = _step }
#define LINEAR_RANGE_IDX(_idx, _min, _min_sel, _max_sel, _step) \
	[_idx] = LINEAR_RANGE(_min, _min_sel, _max_sel, _step)

extern unsigned int linear_range_values_in_range(const struct linear_range *r);
extern unsigned int linear_range_values_in_range_array(const struct linear_range *r, int ranges);
extern unsigned int linear_range_get_max_value(const struct linear_range *r);
/* The value of a selector. Return: 0, or -EINVAL if no range has it. */
extern int linear_range_get_value(const struct linear_range *r, unsigned int selector, unsigned int *val);
extern int linear_range_get_value_array(const struct linear_range *r, int ranges, unsigned int selector,
					unsigned int *val);
/*
 * The selector of the nearest value that is not above (low) or not below (high) @val; @found: whether the range
 * reaches @val. Return: 0, or -EINVAL if there is none.
 */
extern int linear_range_get_selector_low(const struct linear_range *r, unsigned int val, unsigned int *selector,
					 bool *found);
extern int linear_range_get_selector_high(const struct linear_range *r, unsigned int val, unsigned int *selector,
					  bool *found);
extern int linear_range_get_selector_low_array(const struct linear_range *r, int ranges, unsigned int val,
					       unsigned int *selector, bool *found);
/* As low, and the nearest one where @val is outside the range. */
extern void linear_range_get_selector_within(const struct linear_range *r, unsigned int val, unsigned int *selector);

#endif
