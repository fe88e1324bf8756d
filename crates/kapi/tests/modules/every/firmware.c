/* Firmware, of which there is none. */
#include <linux/completion.h>
#include <linux/firmware.h>
#include <linux/module.h>
#include "check.h"

static DECLARE_COMPLETION(answered);
static const struct firmware *last = (void *)1;

static void take(const struct firmware *fw, void *context)
{
	last = fw;
	complete(context);
}

static int __init firmware_init(void)
{
	const struct firmware *fw = ERR_PTR(-EINVAL);
	char buffer[8];

	IS(request_firmware(&fw, "every.bin", NULL), -ENOENT);
	IS(fw, NULL);
	IS(request_firmware(&fw, "", NULL), -EINVAL);
	IS(request_firmware_direct(&fw, "every.bin", NULL), -ENOENT);
	IS(firmware_request_nowarn(&fw, "every.bin", NULL), -ENOENT);
	IS(firmware_request_platform(&fw, "every.bin", NULL), -ENOENT);
	IS(request_firmware_into_buf(&fw, "every.bin", NULL, buffer, sizeof(buffer)), -ENOENT);
	IS(request_partial_firmware_into_buf(&fw, "every.bin", NULL, buffer, 4, 4), -ENOENT);
	release_firmware(fw);
	IS(request_firmware_nowait(THIS_MODULE, FW_ACTION_UEVENT, "every.bin", NULL, GFP_KERNEL, &answered, take), 0);
	wait_for_completion(&answered);
	IS(last, NULL);
	reinit_completion(&answered);
	IS(firmware_request_nowait_nowarn(THIS_MODULE, "every.bin", NULL, GFP_KERNEL, &answered, take), 0);
	wait_for_completion(&answered);
	IS(IS_ERR(firmware_upload_register(THIS_MODULE, NULL, "every", NULL, NULL)), true);
	return result();
}
module_init(firmware_init);
MODULE_LICENSE("GPL");
