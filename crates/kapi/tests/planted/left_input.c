// left behind: the input device `planted` is still there
#include <linux/input.h>
#include <linux/module.h>

static struct input_dev *dev;

static int __init begin(void)
{
	int error;

	dev = input_allocate_device(); // allocated by
	if (!dev)
		return -ENOMEM;
	dev->name = "planted";
	input_set_capability(dev, EV_KEY, KEY_A);
	error = input_register_device(dev); // in
	if (error)
		input_free_device(dev);
	return error;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
