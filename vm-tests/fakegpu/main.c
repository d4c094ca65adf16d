// SPDX-License-Identifier: GPL-2.0
/* A root bus in a PCI domain of its own, with one function on it whose BARs are RAM. */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/numa.h>

#include "fakegpu.h"

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

/* Registers that the driver reads before all others. */
#define NV_PMC_BOOT_0	0x0
#define NV_PMC_BOOT_42	0xa00
/* Where a GPU shows its configuration space among its registers. */
#define NV_PCFG		0x88000

#define BUS	1

static struct pci_sysdata sysdata;
static struct resource window, buses;
static struct pci_bus *bus;
static struct pci_dev *gpu;
static void __iomem *registers;

static void remove(void)
{
	if (registers)
		iounmap(registers);
	pci_lock_rescan_remove();
	pci_dev_put(gpu);
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
}

/* Makes the bus and finds the function on it; the lock of rescans is held. */
static int scan(void)
{
	LIST_HEAD(resources);

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
	gpu = pci_get_slot(bus, 0);
	if (!gpu || !pci_resource_start(gpu, 0))
		return 0;
	/* Uncached like the driver's own mapping: one page is not to be cached in one and not in the other. */
	registers = ioremap(pci_resource_start(gpu, 0), FAKEGPU_BAR0_BYTES);
	if (!registers)
		return 0;
	memset_io(registers, 0, FAKEGPU_BAR0_BYTES);
	writel(boot0, registers + NV_PMC_BOOT_0);
	writel(boot42, registers + NV_PMC_BOOT_42);
	memcpy_toio(registers + NV_PCFG, fakegpu_config_bytes(), FAKEGPU_CONFIG_BYTES);
	pci_bus_add_devices(bus);
	return 0;
}

static int __init fakegpu_init(void)
{
	const struct fakegpu_model model = { device, subsystem, boot0, boot42 };
	int error;

	if (size < FAKEGPU_BAR0_BYTES + FAKEGPU_BAR1_BYTES + FAKEGPU_BAR3_BYTES || base % SZ_256M ||
	    base + size > SZ_2G + SZ_1G) {
		pr_err("fakegpu: %#lx bytes at %#lx are no place for its BARs\n", size, base);
		return -EINVAL;
	}
	fakegpu_config_fill(&model, base);
	sysdata.domain = domain;
	sysdata.node = NUMA_NO_NODE;
	window = (struct resource)DEFINE_RES_MEM_NAMED(base, size, "fakegpu");
	buses = (struct resource)DEFINE_RES_NAMED(BUS, 1, "fakegpu bus", IORESOURCE_BUS);
	pci_lock_rescan_remove();
	error = scan();
	pci_unlock_rescan_remove();
	if (error)
		return error;
	if (!registers) {
		pr_err("fakegpu: its BARs cannot be had at %#lx: is memmap=%luM$%#lx a kernel argument?\n",
		       base, size / SZ_1M, base);
		error = -ENOMEM;
	} else {
		error = fakegpu_control_start(registers);
	}
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
MODULE_DESCRIPTION("A PCI function made of memory that says it is a GPU: for tests of a tracer");
MODULE_LICENSE("GPL");
