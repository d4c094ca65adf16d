// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A stub of nvidia.ko for tests of a tracer: the driver's names, device nodes, files and log lines, and
 * nothing behind them.
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "nv-stub.h"

#ifdef NVIDIA_STUB_FRONTEND
#define DEFAULT_VERSION	"535.183.01"
#else
#define DEFAULT_VERSION	"580.95.05"
#endif

static char *version = DEFAULT_VERSION;
module_param(version, charp, 0444);
MODULE_PARM_DESC(version, "driver version to play: decides layouts and log lines");

static char *gpus = "0000:01:00.0";
module_param(gpus, charp, 0444);
MODULE_PARM_DESC(gpus, "PCI addresses of the GPUs, separated by commas; minor numbers in this order");

static unsigned int vram_mb = 80000;
module_param(vram_mb, uint, 0444);
MODULE_PARM_DESC(vram_mb, "memory of each GPU in MiB");

/* A range of minors as it stands in /proc/devices. */
struct minors {
	const char *name;
	unsigned int first, count;
	struct cdev cdev;
	bool added;
};

static struct minors all_minors[] = {
#ifdef NVIDIA_STUB_FRONTEND
	{ .name = "nvidia-frontend", .first = 0, .count = NV_MINOR_CTL + 1 },
#else
	{ .name = "nvidia", .first = 0, .count = NV_MINOR_GPU_MAX + 1 },
	{ .name = "nvidiactl", .first = NV_MINOR_CTL, .count = 1 },
#endif
};

static struct class *class;

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

static int add_minors(struct minors *minors)
{
	dev_t first = MKDEV(NV_MAJOR, minors->first);
	int err = register_chrdev_region(first, minors->count, minors->name);

	if (err)
		return err;
	cdev_init(&minors->cdev, &nv_stub_fops);
	minors->cdev.owner = THIS_MODULE;
	err = cdev_add(&minors->cdev, first, minors->count);
	if (err) {
		kobject_put(&minors->cdev.kobj);
		unregister_chrdev_region(first, minors->count);
		return err;
	}
	minors->added = true;
	return 0;
}

static void remove_minors(struct minors *minors)
{
	if (!minors->added)
		return;
	cdev_del(&minors->cdev);
	unregister_chrdev_region(MKDEV(NV_MAJOR, minors->first), minors->count);
	minors->added = false;
}

static int add_node(unsigned int minor)
{
	struct device *dev;

	if (minor == NV_MINOR_CTL)
		dev = device_create(class, NULL, MKDEV(NV_MAJOR, minor), NULL, "nvidiactl");
	else
		dev = device_create(class, NULL, MKDEV(NV_MAJOR, minor), NULL, "nvidia%u", minor);
	return PTR_ERR_OR_ZERO(dev);
}

static void remove_devices(void)
{
	unsigned int i;

	if (!IS_ERR_OR_NULL(class)) {
		for (i = 0; i < nv_gpu_count(); i++)
			device_destroy(class, MKDEV(NV_MAJOR, i));
		device_destroy(class, MKDEV(NV_MAJOR, NV_MINOR_CTL));
		class_destroy(class);
	}
	for (i = 0; i < ARRAY_SIZE(all_minors); i++)
		remove_minors(&all_minors[i]);
}

static int add_devices(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(all_minors); i++)
		err = add_minors(&all_minors[i]);
	if (err)
		goto fail;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	class = class_create("nvidia-stub");
#else
	class = class_create(THIS_MODULE, "nvidia-stub");
#endif
	err = PTR_ERR_OR_ZERO(class);
	if (err)
		goto fail;
	class->devnode = devnode;
	err = add_node(NV_MINOR_CTL);
	for (i = 0; !err && i < nv_gpu_count(); i++)
		err = add_node(i);
	if (!err)
		return 0;
fail:
	remove_devices();
	return err;
}

/* What /sys/module/nvidia/version showed before. It may be read at any time, so it stays until the end. */
static const char *built_version;

/* Has /sys/module/nvidia/version show the version that is played; the kernel frees the new string. */
static int show_version(void)
{
	const char *text = kstrdup(version, GFP_KERNEL);

	if (!text)
		return -ENOMEM;
	built_version = THIS_MODULE->version;
	WRITE_ONCE(THIS_MODULE->version, text);
	return 0;
}

static int __init nv_stub_init(void)
{
	char *addresses;
	int err = nv_stub_version_init(version);

	/* First of all: the file is there already. */
	if (!err)
		err = show_version();
	if (err)
		return err;
	err = -ENOMEM;
	addresses = kstrdup(gpus, GFP_KERNEL);
	if (!addresses)
		goto no_gpus;
	err = nv_gpus_init(addresses, vram_mb);
	kfree(addresses);
	if (err)
		goto no_gpus;
	err = nv_procfs_init();
	if (err)
		goto no_procfs;
	err = add_devices();
	if (err)
		goto no_devices;
	nv_printf("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (stub)\n",
		  version);
	return 0;

no_devices:
	nv_procfs_exit();
no_procfs:
	nv_gpus_exit();
no_gpus:
	kfree(built_version);
	return err;
}

static void __exit nv_stub_exit(void)
{
	remove_devices();
	nv_procfs_exit();
	nv_gpus_exit();
	kfree(built_version);
}

module_init(nv_stub_init);
module_exit(nv_stub_exit);
MODULE_DESCRIPTION("Stub of the NVIDIA kernel driver, for tests");
MODULE_VERSION(DEFAULT_VERSION);
MODULE_LICENSE("Dual MIT/GPL");
