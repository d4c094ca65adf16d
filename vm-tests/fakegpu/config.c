// SPDX-License-Identifier: GPL-2.0
/* The configuration space: an array with a mask of what may be written. */
#include <linux/string.h>

#include "fakegpu.h"

/* Where the capabilities are. */
#define PM	0x60
#define MSI	0x68
#define EXPRESS	0x78
#define AER	0x100

static void put16(struct fakegpu *gpu, u32 offset, u16 value)
{
	memcpy(gpu->config + offset, &value, sizeof(value));
}

static void put32(struct fakegpu *gpu, u32 offset, u32 value)
{
	memcpy(gpu->config + offset, &value, sizeof(value));
}

/* One function in each slot, and it has all of its space. */
static struct fakegpu *at(struct pci_bus *bus, unsigned int devfn)
{
	if (PCI_FUNC(devfn) || PCI_SLOT(devfn) >= fakegpu_count || !pci_is_root_bus(bus))
		return NULL;
	return fakegpus + PCI_SLOT(devfn);
}

static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	struct fakegpu *gpu = at(bus, devfn);

	*value = ~0;
	if (!gpu)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (READ_ONCE(gpu->dead) || where + size > FAKEGPU_CONFIG_BYTES)
		return PCIBIOS_SUCCESSFUL;
	*value = 0;
	memcpy(value, gpu->config + where, size);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	struct fakegpu *gpu = at(bus, devfn);
	int i;

	if (!gpu)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (READ_ONCE(gpu->dead) || where + size > FAKEGPU_CONFIG_BYTES)
		return PCIBIOS_SUCCESSFUL;
	for (i = 0; i < size; i++) {
		u8 mask = gpu->writable[where + i];

		gpu->config[where + i] = (gpu->config[where + i] & ~mask) | ((value >> (8 * i)) & mask);
	}
	return PCIBIOS_SUCCESSFUL;
}

/* The kernel calls them under its lock of configuration accesses. */
struct pci_ops fakegpu_config_ops = { .read = config_read, .write = config_write };

/* An address register: `bits` are its kind, and as many low bits as its size takes are fixed. */
static void put_bar(struct fakegpu *gpu, u32 offset, u32 address, u32 bits, u32 bytes)
{
	u32 mask = ~(bytes - 1);

	put32(gpu, offset, address | bits);
	memcpy(gpu->writable + offset, &mask, sizeof(mask));
	if (bits & PCI_BASE_ADDRESS_MEM_TYPE_64)
		memset(gpu->writable + offset + 4, 0xff, 4);
}

void fakegpu_config_fill(struct fakegpu *gpu)
{
	const u32 wide = PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH;
	u8 *config = gpu->config, *writable = gpu->writable;
	u32 base = gpu->base;

	put16(gpu, PCI_VENDOR_ID, PCI_VENDOR_ID_NVIDIA);
	put16(gpu, PCI_DEVICE_ID, gpu->model.device);
	writable[PCI_COMMAND] = PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	writable[PCI_COMMAND + 1] = (PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE) >> 8;
	put16(gpu, PCI_STATUS, PCI_STATUS_CAP_LIST);
	/* A 3D controller, revision a1. */
	put32(gpu, PCI_CLASS_REVISION, 0x030200a1);
	writable[PCI_CACHE_LINE_SIZE] = 0xff;
	put_bar(gpu, PCI_BASE_ADDRESS_1, base, wide, gpu->bar1_bytes);
	base += gpu->bar1_bytes;
	put_bar(gpu, PCI_BASE_ADDRESS_3, base, wide, FAKEGPU_BAR3_BYTES);
	base += FAKEGPU_BAR3_BYTES;
	put_bar(gpu, PCI_BASE_ADDRESS_0, base, 0, FAKEGPU_BAR0_BYTES);
	put16(gpu, PCI_SUBSYSTEM_VENDOR_ID, PCI_VENDOR_ID_NVIDIA);
	put16(gpu, PCI_SUBSYSTEM_ID, gpu->model.subsystem);
	/* The driver refuses a function without an interrupt. */
	config[PCI_INTERRUPT_LINE] = 10;
	writable[PCI_INTERRUPT_LINE] = 0xff;
	config[PCI_INTERRUPT_PIN] = 1;

	config[PCI_CAPABILITY_LIST] = PM;
	config[PM] = PCI_CAP_ID_PM;
	config[PM + PCI_CAP_LIST_NEXT] = MSI;
	put16(gpu, PM + PCI_PM_PMC, 3);
	put16(gpu, PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	writable[PM + PCI_PM_CTRL] = PCI_PM_CTRL_STATE_MASK;

	config[MSI] = PCI_CAP_ID_MSI;
	config[MSI + PCI_CAP_LIST_NEXT] = EXPRESS;
	put16(gpu, MSI + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT);
	writable[MSI + PCI_MSI_FLAGS] = PCI_MSI_FLAGS_ENABLE | PCI_MSI_FLAGS_QSIZE;
	/* Address and data. */
	memset(writable + MSI + PCI_MSI_ADDRESS_LO, 0xff, 10);
	writable[MSI + PCI_MSI_ADDRESS_LO] = 0xfc;

	/* An endpoint, version 2, with a link of generation 3 and 16 lanes. */
	config[EXPRESS] = PCI_CAP_ID_EXP;
	put16(gpu, EXPRESS + PCI_EXP_FLAGS, 2);
	put32(gpu, EXPRESS + PCI_EXP_DEVCAP, 0x00008de1);
	memset(writable + EXPRESS + PCI_EXP_DEVCTL, 0xff, 2);
	writable[EXPRESS + PCI_EXP_DEVCTL + 1] = 0x7f;
	put32(gpu, EXPRESS + PCI_EXP_LNKCAP, 0x00453d03);
	writable[EXPRESS + PCI_EXP_LNKCTL] = 0xff;
	writable[EXPRESS + PCI_EXP_LNKCTL + 1] = 0x0f;
	put16(gpu, EXPRESS + PCI_EXP_LNKSTA, 0x1103);

	put32(gpu, AER, PCI_EXT_CAP_ID_ERR | 2 << 16);
	memset(writable + AER + PCI_ERR_UNCOR_MASK, 0xff, 8);
	memset(writable + AER + PCI_ERR_COR_MASK, 0xff, 4);
}
