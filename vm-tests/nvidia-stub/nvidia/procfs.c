// SPDX-License-Identifier: MIT OR GPL-2.0
/* /proc/driver/nvidia as the driver has it, and /proc/nvidia-stub for tests. */
#include <linux/err.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "nv-stub.h"

#define DRIVER_DIR	"driver/nvidia"
#define STUB_DIR	"nvidia-stub"
#define MAX_WRITE	65536

static int version_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (stub)\n",
		   nv_stub_version());
	seq_printf(seq, "GCC version:  gcc version %s\n", __VERSION__);
	return 0;
}

/* The lines of nv_procfs_read_gpu_info. */
static int information_show(struct seq_file *seq, void *unused)
{
	struct nv_gpu *gpu = seq->private;

	seq_puts(seq, "Model: \t\t NVIDIA H100 80GB HBM3 (stub)\n");
	seq_printf(seq, "IRQ:   \t\t %u\n", gpu->pdev ? gpu->pdev->irq : 0);
	seq_printf(seq, "GPU UUID: \t %s\n", gpu->uuid);
	seq_puts(seq, "Video BIOS: \t ??.??.??.??.??\n");
	seq_puts(seq, "Bus Type: \t PCIe\n");
	seq_puts(seq, "DMA Size: \t 52 bits\n");
	seq_puts(seq, "DMA Mask: \t 0xfffffffffffff\n");
	seq_printf(seq, "Bus Location: \t %04x:%02x:%02x.%x\n", gpu->domain, gpu->bus, gpu->slot,
		   gpu->function);
	seq_printf(seq, "Device Minor: \t %u\n", gpu->minor);
	seq_puts(seq, "GPU Firmware: \t N/A\n");
	seq_puts(seq, "GPU Excluded:\t No\n");
	return 0;
}

/* A line a GPU: bytes in use, bytes in all. */
static int memory_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	for (i = 0; i < nv_gpu_count(); i++) {
		struct nv_gpu *gpu = nv_gpu_get(i);
		u64 used;

		spin_lock(&gpu->vram_lock);
		used = gpu->vram_used;
		spin_unlock(&gpu->vram_lock);
		seq_printf(seq, "nvidia%u %llu %llu\n", i, used, gpu->vram_total);
	}
	return 0;
}

/* Obeys the lines of a write in turn, up to the first that is wrong. */
static ssize_t control_write(struct file *file, const char __user *data, size_t size, loff_t *pos)
{
	char *text, *rest, *line;
	int err = 0;

	if (size > MAX_WRITE) {
		pr_err("nvidia-stub: control: %zu bytes in one write: at most %d\n", size, MAX_WRITE);
		return -EINVAL;
	}
	text = memdup_user_nul(data, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while (!err && (line = strsep(&rest, "\n")) != NULL)
		err = nv_control_line(line);
	kfree(text);
	return err ? err : size;
}

static const struct proc_ops control_ops = {
	.proc_write = control_write,
};

static int make_gpus(struct proc_dir_entry *dir)
{
	unsigned int i;

	for (i = 0; i < nv_gpu_count(); i++) {
		struct nv_gpu *gpu = nv_gpu_get(i);
		struct proc_dir_entry *entry;
		char name[24];

		snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", gpu->domain, gpu->bus, gpu->slot,
			 gpu->function);
		entry = proc_mkdir(name, dir);
		if (!entry ||
		    !proc_create_single_data("information", 0444, entry, information_show, gpu))
			return -ENOMEM;
	}
	return 0;
}

int nv_procfs_init(void)
{
	struct proc_dir_entry *driver = proc_mkdir(DRIVER_DIR, NULL);
	struct proc_dir_entry *stub = proc_mkdir(STUB_DIR, NULL);
	struct proc_dir_entry *gpus = driver ? proc_mkdir("gpus", driver) : NULL;

	if (!gpus || !stub || make_gpus(gpus) ||
	    !proc_create_single("version", 0444, driver, version_show) ||
	    !proc_create_single("counters", 0444, stub, nv_counters_show) ||
	    !proc_create_single("memory", 0444, stub, memory_show) ||
	    !proc_create("control", 0200, stub, &control_ops)) {
		nv_procfs_exit();
		return -ENOMEM;
	}
	return 0;
}

void nv_procfs_exit(void)
{
	remove_proc_subtree(DRIVER_DIR, NULL);
	remove_proc_subtree(STUB_DIR, NULL);
}
