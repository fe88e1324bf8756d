/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Firmware of devices. A process has none: every request ends with -ENOENT, as on a machine without the file. */
#ifndef _LINUX_FIRMWARE_H
#define _LINUX_FIRMWARE_H

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/types.h>

#define FW_ACTION_NOUEVENT 0
#define FW_ACTION_UEVENT 1

struct firmware {
	size_t size;
	const u8 *data;
	void *priv;
};

struct device;
struct module;
typedef void (*kapi_firmware_fn)(const struct firmware *fw, void *context);

extern int request_firmware(const struct firmware **fw, const char *name, struct device *device);
extern int request_firmware_direct(const struct firmware **fw, const char *name, struct device *device);
extern int firmware_request_nowarn(const struct firmware **fw, const char *name, struct device *device);
extern int firmware_request_platform(const struct firmware **fw, const char *name, struct device *device);
extern int request_firmware_into_buf(const struct firmware **fw, const char *name, struct device *device, void *buf,
				     size_t size);
extern int request_partial_firmware_into_buf(const struct firmware **fw, const char *name, struct device *device,
					     void *buf, size_t size, size_t offset);
/* @cont is called by a work queue, with NULL. */
extern int request_firmware_nowait(struct module *module, bool uevent, const char *name, struct device *device,
				   gfp_t gfp, void *context, kapi_firmware_fn cont);
extern int firmware_request_nowait_nowarn(struct module *module, const char *name, struct device *device, gfp_t gfp,
					  void *context, kapi_firmware_fn cont);
static inline void release_firmware(const struct firmware *fw) { (void)fw; }

/* Uploads, as in a kernel without CONFIG_FW_UPLOAD. */
enum fw_upload_err {
	FW_UPLOAD_ERR_NONE,
	FW_UPLOAD_ERR_HW_ERROR,
	FW_UPLOAD_ERR_TIMEOUT,
	FW_UPLOAD_ERR_CANCELED,
	FW_UPLOAD_ERR_BUSY,
	FW_UPLOAD_ERR_INVALID_SIZE,
	FW_UPLOAD_ERR_RW_ERROR,
	FW_UPLOAD_ERR_WEAROUT,
	FW_UPLOAD_ERR_FW_INVALID,
	FW_UPLOAD_ERR_MAX
};

struct fw_upload {
	void *dd_handle;
	void *priv;
};

struct fw_upload_ops {
	enum fw_upload_err (*prepare)(struct fw_upload *upload, const u8 *data, u32 size);
	enum fw_upload_err (*write)(struct fw_upload *upload, const u8 *data, u32 offset, u32 size, u32 *written);
	enum fw_upload_err (*poll_complete)(struct fw_upload *upload);
	void (*cancel)(struct fw_upload *upload);
	void (*cleanup)(struct fw_upload *upload);
};

static inline struct fw_upload *firmware_upload_register(struct module *module, struct device *parent, const char *name,
							 const struct fw_upload_ops *ops, void *handle)
{
	return ERR_PTR(-EINVAL);
}
static inline void firmware_upload_unregister(struct fw_upload *upload) { }

#endif
