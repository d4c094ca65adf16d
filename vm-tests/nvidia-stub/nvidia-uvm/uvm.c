// SPDX-License-Identifier: MIT OR GPL-2.0
/* A stub of nvidia-uvm.ko for tests of a tracer: it decodes calls and answers them, no more. */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "nv_abi.h"
#include "nv_stub_shared.h"

static dev_t base;
static struct cdev cdev;
static struct class *class;

/* Where a call's argument has its status. */
struct call {
	u32 cmd;
	u32 size, status_offset;	/* bytes */
	bool before_initialize;		/* may be made before UVM_INITIALIZE */
};

#define CALL(cmd, type, before) \
	{ cmd, sizeof(struct type), offsetof(struct type, rmStatus), before }

static const struct call calls[] = {
	CALL(UVM_INITIALIZE, uvm_initialize_params, true),
	CALL(UVM_MM_INITIALIZE, uvm_mm_initialize_params, true),
	CALL(UVM_REGISTER_GPU_VASPACE, uvm_register_gpu_vaspace_params, false),
	CALL(UVM_FREE, uvm_free_params, false),
	CALL(UVM_REGISTER_GPU, uvm_register_gpu_params, false),
	CALL(UVM_MIGRATE, uvm_migrate_params, false),
};

/* Of the calls' arguments the largest. */
union params {
	struct uvm_migrate_params migrate;
	u8 bytes[sizeof(struct uvm_migrate_params)];
};

static const struct call *find_call(u32 cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].cmd == cmd)
			return &calls[i];
	return NULL;
}

/* A file is usable once UVM_INITIALIZE succeeded on it; that is all the stub keeps of it. */
static NV_STATUS answer(struct file *filp, const struct call *call)
{
	NV_STATUS status;

	if (nv_stub_take_status(call->cmd, &status))
		return status;
	if (call->cmd == UVM_INITIALIZE)
		WRITE_ONCE(filp->private_data, filp);
	else if (!call->before_initialize && !READ_ONCE(filp->private_data))
		return NV_ERR_ILLEGAL_ACTION;
	return NV_OK;
}

static __always_inline long stub_ioctl(struct file *filp, unsigned int cmd, void __user *arg)
{
	const struct call *call = find_call(cmd);
	union params params;
	NV_STATUS status;
	long err;

	if (cmd == UVM_DEINITIALIZE) {
		nv_stub_pause(cmd);
		nv_stub_count(NV_STUB_NODE_UVM, NV_STUB_OP_UVM, cmd, NV_OK);
		return 0;
	}
	err = -EINVAL;
	if (!call)
		goto no_answer;
	err = -EFAULT;
	if (copy_from_user(params.bytes, arg, call->size))
		goto no_answer;
	nv_stub_pause(cmd);
	status = answer(filp, call);
	memcpy(params.bytes + call->status_offset, &status, sizeof(status));
	if (copy_to_user(arg, params.bytes, call->size))
		goto no_answer;
	nv_stub_count(NV_STUB_NODE_UVM, NV_STUB_OP_UVM, cmd, status);
	return 0;

no_answer:
	nv_stub_count(NV_STUB_NODE_UVM, NV_STUB_OP_ERRNO, cmd, -err);
	return err;
}

NV_STUB_TRACED static
long uvm_unlocked_ioctl_entry(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return stub_ioctl(filp, cmd, (void __user *)arg);
}

NV_STUB_TRACED static int uvm_open_entry(struct inode *inode, struct file *filp)
{
	nv_stub_count(NV_STUB_NODE_UVM, NV_STUB_OP_OPEN, 0, NV_OK);
	return 0;
}

NV_STUB_TRACED static int uvm_release_entry(struct inode *inode, struct file *filp)
{
	nv_stub_count(NV_STUB_NODE_UVM, NV_STUB_OP_CLOSE, 0, NV_OK);
	return 0;
}

/* No memory to map, and nothing was initialised: what the driver then answers. */
NV_STUB_TRACED static int uvm_mmap_entry(struct file *filp, struct vm_area_struct *vma)
{
	return -EBADFD;
}

static const struct file_operations uvm_fops = {
	.owner = THIS_MODULE,
	.open = uvm_open_entry,
	.mmap = uvm_mmap_entry,
	.release = uvm_release_entry,
	.unlocked_ioctl = uvm_unlocked_ioctl_entry,
	.compat_ioctl = uvm_unlocked_ioctl_entry,
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
static char *devnode(const struct device *dev, umode_t *mode)
#else
static char *devnode(struct device *dev, umode_t *mode)
#endif
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static int __init uvm_stub_init(void)
{
	struct device *dev;
	int err = alloc_chrdev_region(&base, 0, 1, "nvidia-uvm");

	if (err)
		return err;
	cdev_init(&cdev, &uvm_fops);
	cdev.owner = THIS_MODULE;
	err = cdev_add(&cdev, base, 1);
	if (err) {
		kobject_put(&cdev.kobj);
		goto no_cdev;
	}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	class = class_create("nvidia-uvm-stub");
#else
	class = class_create(THIS_MODULE, "nvidia-uvm-stub");
#endif
	err = PTR_ERR_OR_ZERO(class);
	if (err)
		goto no_class;
	class->devnode = devnode;
	dev = device_create(class, NULL, base, NULL, "nvidia-uvm");
	err = PTR_ERR_OR_ZERO(dev);
	if (!err)
		return 0;

	class_destroy(class);
no_class:
	cdev_del(&cdev);
no_cdev:
	unregister_chrdev_region(base, 1);
	return err;
}

static void __exit uvm_stub_exit(void)
{
	device_destroy(class, base);
	class_destroy(class);
	cdev_del(&cdev);
	unregister_chrdev_region(base, 1);
}

module_init(uvm_stub_init);
module_exit(uvm_stub_exit);
MODULE_DESCRIPTION("Stub of the NVIDIA UVM driver, for tests");
MODULE_LICENSE("Dual MIT/GPL");
