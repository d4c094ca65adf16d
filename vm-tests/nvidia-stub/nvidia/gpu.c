// SPDX-License-Identifier: MIT OR GPL-2.0
/* The stub's GPUs, and the PCI functions that play them. */
#include <linux/kernel.h>
#include <linux/string.h>

#include "nv-stub.h"

/* What an adopted function shows itself as: NVIDIA, H100 SXM5 80GB, 3D controller. */
#define GPU_VENDOR	0x10de
#define GPU_DEVICE	0x2330
#define GPU_CLASS	0x030200

static struct nv_gpu gpus[NV_STUB_MAX_GPUS];
static struct nv_node nodes[NV_STUB_MAX_GPUS];
static struct nv_node ctl = { .minor = NV_MINOR_CTL };
static unsigned int gpu_count;

/*
 * Only struct pci_dev is changed, which sysfs shows: configuration space and the bound driver, which
 * the device keeps, know nothing of it.
 */
static void adopt(struct nv_gpu *gpu)
{
	struct pci_dev *pdev = pci_get_domain_bus_and_slot(gpu->domain, gpu->bus,
							   PCI_DEVFN(gpu->slot, gpu->function));

	gpu->pdev = pdev;
	if (!pdev)
		return;
	gpu->own_vendor = pdev->vendor;
	gpu->own_device = pdev->device;
	gpu->own_class = pdev->class;
	pdev->vendor = GPU_VENDOR;
	pdev->device = GPU_DEVICE;
	pdev->class = GPU_CLASS;
}

/* Works for a device that was removed meanwhile too: the reference keeps its struct pci_dev. */
static void give_back(struct nv_gpu *gpu)
{
	if (!gpu->pdev)
		return;
	gpu->pdev->vendor = gpu->own_vendor;
	gpu->pdev->device = gpu->own_device;
	gpu->pdev->class = gpu->own_class;
	pci_dev_put(gpu->pdev);
	gpu->pdev = NULL;
}

static int parse_address(struct nv_gpu *gpu, const char *text)
{
	char rest;

	if (sscanf(text, "%x:%x:%x.%x%c", &gpu->domain, &gpu->bus, &gpu->slot, &gpu->function,
		   &rest) == 4 &&
	    gpu->domain <= 0xffff && gpu->bus <= 0xff && gpu->slot <= 0x1f && gpu->function <= 7)
		return 0;
	pr_err("nvidia-stub: gpus=%s is not a PCI address: say for example gpus=0000:01:00.0,0000:02:00.0\n",
	       text);
	return -EINVAL;
}

/* Sets up a GPU for each address of the list, which it takes apart. Memory in MiB each. */
int nv_gpus_init(char *addresses, unsigned int vram_mb)
{
	char *text;

	gpu_count = 0;
	while ((text = strsep(&addresses, ",")) != NULL) {
		struct nv_gpu *gpu = &gpus[gpu_count];

		if (gpu_count == NV_STUB_MAX_GPUS) {
			pr_err("nvidia-stub: gpus= names more than %d GPUs\n", NV_STUB_MAX_GPUS);
			nv_gpus_exit();
			return -EINVAL;
		}
		memset(gpu, 0, sizeof(*gpu));
		if (parse_address(gpu, strim(text))) {
			nv_gpus_exit();
			return -EINVAL;
		}
		gpu->minor = gpu_count;
		spin_lock_init(&gpu->vram_lock);
		gpu->vram_total = (u64)vram_mb << 20;
		snprintf(gpu->uuid, sizeof(gpu->uuid), "GPU-57ab0000-%04x-%02x%02x-0000-%012x",
			 gpu->domain, gpu->bus, PCI_DEVFN(gpu->slot, gpu->function), gpu->minor);
		adopt(gpu);
		nodes[gpu_count].minor = gpu_count;
		nodes[gpu_count].gpu = gpu;
		gpu_count++;
	}
	ctl.gpu = gpu_count ? &gpus[0] : NULL;
	return 0;
}

void nv_gpus_exit(void)
{
	while (gpu_count)
		give_back(&gpus[--gpu_count]);
}

unsigned int nv_gpu_count(void)
{
	return gpu_count;
}

/* NULL if there is no such GPU. */
struct nv_gpu *nv_gpu_get(unsigned int index)
{
	return index < gpu_count ? &gpus[index] : NULL;
}

/* NULL if there is no such node. */
struct nv_node *nv_node_get(unsigned int minor)
{
	if (minor == NV_MINOR_CTL)
		return &ctl;
	return minor < gpu_count ? &nodes[minor] : NULL;
}

/* Fills an array for NV_ESC_CARD_INFO, which holds at least nv_gpu_count() elements. */
void nv_card_info(struct nv_ioctl_card_info *cards, size_t count)
{
	unsigned int i;

	memset(cards, 0, count * sizeof(*cards));
	for (i = 0; i < gpu_count && i < count; i++) {
		struct nv_gpu *gpu = &gpus[i];

		cards[i].valid = 1;
		cards[i].pci_info.domain = gpu->domain;
		cards[i].pci_info.bus = gpu->bus;
		cards[i].pci_info.slot = gpu->slot;
		cards[i].pci_info.function = gpu->function;
		cards[i].pci_info.vendor_id = GPU_VENDOR;
		cards[i].pci_info.device_id = GPU_DEVICE;
		cards[i].gpu_id = gpu->domain << 16 | gpu->bus << 8 | gpu->slot;
		cards[i].fb_size = gpu->vram_total;
		cards[i].minor_number = gpu->minor;
	}
}
