/* A keyboard that does not exist: what is written to its attribute is the number of a key, with a sign that says which way. */
#include <linux/input.h>
#include <linux/module.h>
#include <linux/platform_device.h>

static struct platform_device *board;
static struct input_dev *keys, *pad;

static int light(struct input_dev *dev, unsigned int type, unsigned int code, int value)
{
	pr_info("keys: light %u is %s\n", code, value ? "on" : "off");
	return 0;
}

static ssize_t key_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
{
	unsigned int code;
	bool down = buf[0] == '+';

	if (kstrtouint(buf + 1, 10, &code) || code >= KEY_MAX)
		return -EINVAL;
	input_report_key(keys, code, down);
	input_sync(keys);
	pr_info("keys: %u is %s\n", code, test_bit(code, keys->key) ? "down" : "up");
	if (code == KEY_CAPSLOCK && down)
		input_event(keys, EV_LED, LED_CAPSL, !test_bit(LED_CAPSL, keys->led));
	return count;
}
static DEVICE_ATTR_WO(key);

/* A second one goes with the board's driver: nobody has to free it. */
static int pad_probe(struct platform_device *pdev)
{
	pad = devm_input_allocate_device(&pdev->dev);
	if (!pad)
		return -ENOMEM;
	pad->name = "touch pad";
	input_set_capability(pad, EV_KEY, BTN_TOUCH);
	input_set_abs_params(pad, ABS_X, 0, 1023, 4, 0);
	input_set_abs_params(pad, ABS_Y, 0, 767, 4, 0);
	return input_register_device(pad);
}

static struct platform_driver pad_driver = { .probe = pad_probe, .driver = { .name = "keyboard" } };

static int make_keys(void)
{
	int i, error;

	keys = input_allocate_device();
	if (!keys)
		return -ENOMEM;
	keys->name = "some keys";
	keys->phys = "board/input0";
	keys->id.bustype = BUS_VIRTUAL;
	keys->id.version = 0x0102;
	keys->dev.parent = &board->dev;
	keys->event = light;
	keys->evbit[0] = BIT_MASK(EV_KEY) | BIT_MASK(EV_REP);
	for (i = KEY_ESC; i <= KEY_F10; i++)
		set_bit(i, keys->keybit);
	input_set_capability(keys, EV_LED, LED_CAPSL);
	input_set_drvdata(keys, board);
	error = input_register_device(keys);
	if (error)
		input_free_device(keys);
	return error;
}

static int __init keys_init(void)
{
	int error;

	board = platform_device_register_simple("keyboard", -1, NULL, 0);
	if (IS_ERR(board))
		return PTR_ERR(board);
	error = make_keys();
	if (error)
		goto no_keys;
	error = platform_driver_register(&pad_driver);
	if (error)
		goto no_driver;
	error = device_create_file(&keys->dev, &dev_attr_key);
	if (error || !pad)
		goto no_pad;
	input_report_abs(pad, ABS_X, 512);
	input_report_abs(pad, ABS_X, 513);
	input_report_abs(pad, ABS_Y, 300);
	input_sync(pad);
	pr_info("keys: touched at %d of %d, %d of %d\n", input_abs_get_val(pad, ABS_X), input_abs_get_max(pad, ABS_X),
		input_abs_get_val(pad, ABS_Y), input_abs_get_max(pad, ABS_Y));
	return 0;

no_pad:
	platform_driver_unregister(&pad_driver);
no_driver:
	input_unregister_device(keys);
no_keys:
	platform_device_unregister(board);
	return error;
}

static void __exit keys_exit(void)
{
	pr_info("keys: of its own %d\n", input_get_drvdata(keys) == board);
	input_unregister_device(keys);
	platform_driver_unregister(&pad_driver);
	platform_device_unregister(board);
}

module_init(keys_init);
module_exit(keys_exit);
MODULE_LICENSE("GPL");
