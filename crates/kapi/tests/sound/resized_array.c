// Nothing is wrong here: resized array.
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	int *array = NULL, i, result = 0;

	for (i = 0; i < 200 && !result; i++) {
		int *more = krealloc(array, sizeof(int) * (i + 1), GFP_KERNEL);

		if (more) {
			array = more;
			array[i] = i;
		} else {
			result = -ENOMEM;
		}
	}
	for (i = 0; i < 200 && !result; i++)
		if (array[i] != i)
			result = -EINVAL;
	kfree(array);
	return result;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
