// SPDX-License-Identifier: MIT OR Apache-2.0
// Firmware of devices: a process has none.
#include "host.h"
#include <linux/firmware.h>
#include <linux/kernel.h>
#include <linux/workqueue.h>

/* The answer to each request; @loudly where Linux says so in the log. */
static int absent(const struct firmware **fw, const char *name, bool loudly)
{
	if (fw)
		*fw = NULL;
	if (!name || !*name)
		return -EINVAL;
	might_sleep();
	if (loudly)
		printk(KERN_WARNING "Direct firmware load for %s failed with error %d\n", name, -ENOENT);
	return -ENOENT;
}

int request_firmware(const struct firmware **fw, const char *name, struct device *device)
{
	return absent(fw, name, true);
}

int request_firmware_direct(const struct firmware **fw, const char *name, struct device *device)
{
	return absent(fw, name, false);
}

int firmware_request_nowarn(const struct firmware **fw, const char *name, struct device *device)
{
	return absent(fw, name, false);
}

int firmware_request_platform(const struct firmware **fw, const char *name, struct device *device)
{
	return absent(fw, name, true);
}

int request_firmware_into_buf(const struct firmware **fw, const char *name, struct device *device, void *buf, size_t size)
{
	return absent(fw, name, true);
}

int request_partial_firmware_into_buf(const struct firmware **fw, const char *name, struct device *device, void *buf,
				      size_t size, size_t offset)
{
	return absent(fw, name, true);
}

/* A request that is answered later. */
struct request {
	struct work_struct work;
	kapi_firmware_fn cont;
	void *context;
};

static void answer(struct work_struct *work)
{
	struct request *request = container_of(work, struct request, work);
	kapi_firmware_fn cont = request->cont;
	void *context = request->context;

	kapi_free(request, sizeof(*request));
	cont(NULL, context);
}

static int later(const char *name, bool loudly, void *context, kapi_firmware_fn cont)
{
	struct request *request;

	if (!name || !*name)
		return -EINVAL;
	request = kapi_alloc(sizeof(*request));
	if (!request)
		return -ENOMEM;
	if (loudly)
		printk(KERN_WARNING "Direct firmware load for %s failed with error %d\n", name, -ENOENT);
	request->cont = cont;
	request->context = context;
	INIT_WORK(&request->work, answer);
	schedule_work(&request->work);
	return 0;
}

int request_firmware_nowait(struct module *module, bool uevent, const char *name, struct device *device, gfp_t gfp,
			    void *context, kapi_firmware_fn cont)
{
	return later(name, true, context, cont);
}

int firmware_request_nowait_nowarn(struct module *module, const char *name, struct device *device, gfp_t gfp,
				   void *context, kapi_firmware_fn cont)
{
	return later(name, false, context, cont);
}
