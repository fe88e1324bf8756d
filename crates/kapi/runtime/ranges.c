// SPDX-License-Identifier: MIT OR Apache-2.0
// Selectors of evenly spaced values.
#include <linux/errno.h>
#include <linux/linear_range.h>
#include <linux/math.h>

unsigned int linear_range_values_in_range(const struct linear_range *r) { return r->max_sel - r->min_sel + 1; }

unsigned int linear_range_values_in_range_array(const struct linear_range *r, int ranges)
{
	unsigned int sum = 0;

	while (ranges--)
		sum += linear_range_values_in_range(r++);
	return sum;
}

unsigned int linear_range_get_max_value(const struct linear_range *r)
{
	return r->min + (r->max_sel - r->min_sel) * r->step;
}

int linear_range_get_value(const struct linear_range *r, unsigned int selector, unsigned int *val)
{
	if (selector < r->min_sel || selector > r->max_sel)
		return -EINVAL;
	*val = r->min + (selector - r->min_sel) * r->step;
	return 0;
}

int linear_range_get_value_array(const struct linear_range *r, int ranges, unsigned int selector, unsigned int *val)
{
	int error = -EINVAL;

	while (error && ranges--)
		error = linear_range_get_value(r++, selector, val);
	return error;
}

int linear_range_get_selector_low(const struct linear_range *r, unsigned int val, unsigned int *selector, bool *found)
{
	*found = false;
	if (val < r->min)
		return -EINVAL;
	*found = val <= linear_range_get_max_value(r);
	*selector = r->max_sel;
	if (*found)
		*selector = r->min_sel + (r->step ? (val - r->min) / r->step : 0);
	return 0;
}

int linear_range_get_selector_high(const struct linear_range *r, unsigned int val, unsigned int *selector, bool *found)
{
	*found = false;
	if (val > linear_range_get_max_value(r))
		return -EINVAL;
	*found = val >= r->min;
	*selector = r->min_sel;
	if (*found)
		*selector += r->step ? DIV_ROUND_UP(val - r->min, r->step) : 0;
	return 0;
}

int linear_range_get_selector_low_array(const struct linear_range *r, int ranges, unsigned int val,
					unsigned int *selector, bool *found)
{
	int i, error = -EINVAL;

	for (i = 0; i < ranges; i++) {
		int one = linear_range_get_selector_low(&r[i], val, selector, found);

		if (!one)
			error = 0;
		if (*found)
			break;
	}
	return error;
}

void linear_range_get_selector_within(const struct linear_range *r, unsigned int val, unsigned int *selector)
{
	bool found;

	if (linear_range_get_selector_low(r, val, selector, &found))
		*selector = r->min_sel;
}
