// SPDX-License-Identifier: GPL-2.0
/* A root bus in a PCI domain of its own, with functions on it whose BARs are RAM. */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/numa.h>
#include <linux/slab.h>

#include "fakegpu.h"
#include "gsp.h"

static unsigned long base = 0x40000000;
module_param(base, ulong, 0444);
MODULE_PARM_DESC(base, "where the RAM is that memmap=SIZE$BASE keeps the kernel from using");
static unsigned long size = SZ_512M;
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "how much of it there is");
static unsigned int domain = 1;
module_param(domain, uint, 0444);
MODULE_PARM_DESC(domain, "PCI domain; 0 is the machine's own");
static unsigned int device = 0x2330, subsystem = 0x16c1;
module_param(device, uint, 0444);
module_param(subsystem, uint, 0444);
MODULE_PARM_DESC(device, "PCI device id, H100 SXM5 if none is given");
static unsigned int boot0 = 0x180000a1, boot42 = 0x180a1000;
module_param(boot0, uint, 0444);
module_param(boot42, uint, 0444);
MODULE_PARM_DESC(boot0, "register NV_PMC_BOOT_0: the chip, GH100 if none is given");
static bool gsp;
module_param(gsp, bool, 0444);
MODULE_PARM_DESC(gsp, "whether the driver is answered as by a GPU's system processor; off if not given");
static unsigned int gpus = 1;
module_param(gpus, uint, 0444);
MODULE_PARM_DESC(gpus, "how many functions, 1 to 4");

static unsigned int nvlinks;
module_param(nvlinks, uint, 0444);
MODULE_PARM_DESC(nvlinks, "how many NVLinks each has, 0 to 18; none if not given");


/* Registers that the driver reads before all others. */
#define NV_PMC_BOOT_0	0x0
#define NV_PMC_BOOT_42	0xa00
/* Where a GPU shows its configuration space among its registers. */
#define NV_PCFG		0x88000

#define BUS	1

struct fakegpu *fakegpus;
unsigned int fakegpu_count;

static struct pci_sysdata sysdata;
static struct resource window, buses;
static struct pci_bus *bus;

static void remove(void)
{
	struct fakegpu *gpu;

	for (gpu = fakegpus; gpu < fakegpus + fakegpu_count; gpu++)
		gsp_stop(gpu);
	pci_lock_rescan_remove();
	for (gpu = fakegpus; gpu < fakegpus + fakegpu_count; gpu++)
		pci_dev_put(gpu->pci);
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
	for (gpu = fakegpus; gpu < fakegpus + fakegpu_count; gpu++)
		if (gpu->registers)
			iounmap(gpu->registers);
	kvfree(fakegpus);
}

/* Finds the function on the bus and sets its registers. */
static int find(struct fakegpu *gpu)
{
	gpu->pci = pci_get_slot(bus, PCI_DEVFN(gpu->index, 0));
	if (!gpu->pci || !pci_resource_start(gpu->pci, 0))
		return -ENOMEM;
	/* Uncached like the driver's own mapping: one page is not to be cached in one and not in the other. */
	gpu->registers = ioremap(pci_resource_start(gpu->pci, 0), FAKEGPU_BAR0_BYTES);
	if (!gpu->registers)
		return -ENOMEM;
	memset_io(gpu->registers, 0, FAKEGPU_BAR0_BYTES);
	writel(boot0, gpu->registers + NV_PMC_BOOT_0);
	writel(boot42, gpu->registers + NV_PMC_BOOT_42);
	memcpy_toio(gpu->registers + NV_PCFG, gpu->config, FAKEGPU_CONFIG_BYTES);
	return 0;
}

/* Makes the bus and finds the functions on it; the lock of rescans is held. */
static int scan(void)
{
	LIST_HEAD(resources);
	unsigned int i;
	int error;

	pci_add_resource(&resources, &buses);
	pci_add_resource(&resources, &window);
	bus = pci_create_root_bus(NULL, BUS, &fakegpu_config_ops, &sysdata, &resources);
	if (!bus) {
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	pci_scan_child_bus(bus);
	/* Claimed and not assigned: the allocator leaves out what the e820 map reserves, which memmap= does. */
	pci_bus_claim_resources(bus);
	for (i = 0; i < fakegpu_count; i++) {
		error = find(fakegpus + i);
		if (error)
			return error;
	}
	pci_bus_add_devices(bus);
	return 0;
}

static int __init fakegpu_init(void)
{
	/* Address and size of a BAR are powers of two, and its address is a multiple of its size. */
	u32 bar1_bytes = gpus == 1 ? SZ_256M : SZ_64M, each = 2 * bar1_bytes;
	unsigned int i;
	int error;

	if (!gpus || gpus > FAKEGPU_MOST || size < each * (gpus - 1) + bar1_bytes + FAKEGPU_BAR3_BYTES + FAKEGPU_BAR0_BYTES ||
	    base % SZ_256M || base + size > SZ_2G + SZ_1G) {
		pr_err("fakegpu: %#lx bytes at %#lx are no place for the BARs of %u\n", size, base, gpus);
		return -EINVAL;
	}
	if (nvlinks > FAKEGPU_NVLINKS_MOST) {
		pr_err("fakegpu: %u NVLinks are more than a GPU of this kind has, %u\n", nvlinks, FAKEGPU_NVLINKS_MOST);
		return -EINVAL;
	}
	fakegpus = kvcalloc(gpus, sizeof(*fakegpus), GFP_KERNEL);
	if (!fakegpus)
		return -ENOMEM;
	fakegpu_count = gpus;
	for (i = 0; i < gpus; i++) {
		fakegpus[i].index = i;
		fakegpus[i].model = (struct fakegpu_model){ device, subsystem, boot0, boot42, nvlinks };
		fakegpus[i].base = base + i * each;
		fakegpus[i].bar1_bytes = bar1_bytes;
		fakegpu_config_fill(fakegpus + i);
	}
	sysdata.domain = domain;
	sysdata.node = NUMA_NO_NODE;
	window = (struct resource)DEFINE_RES_MEM_NAMED(base, size, "fakegpu");
	buses = (struct resource)DEFINE_RES_NAMED(BUS, 1, "fakegpu bus", IORESOURCE_BUS);
	pci_lock_rescan_remove();
	error = scan();
	pci_unlock_rescan_remove();
	if (!bus) {
		kvfree(fakegpus);
		return error;
	}
	if (error)
		pr_err("fakegpu: its BARs cannot be had at %#lx: is memmap=%luM$%#lx a kernel argument?\n",
		       base, size / SZ_1M, base);
	for (i = 0; !error && gsp && i < gpus; i++)
		error = gsp_start(fakegpus + i);
	if (!error)
		error = fakegpu_control_start();
	if (error)
		remove();
	return error;
}

static void __exit fakegpu_exit(void)
{
	fakegpu_control_stop();
	remove();
}

module_init(fakegpu_init);
module_exit(fakegpu_exit);
MODULE_DESCRIPTION("PCI functions made of memory that say they are GPUs: for tests of a tracer");
MODULE_LICENSE("GPL");
