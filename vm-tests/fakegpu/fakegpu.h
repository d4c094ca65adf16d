/* SPDX-License-Identifier: GPL-2.0 */
/* A PCI function that is made of memory. README.md says what for. */
#ifndef FAKEGPU_H
#define FAKEGPU_H

#include <linux/pci.h>
#include <linux/sizes.h>

#define FAKEGPU_CONFIG_BYTES	4096
#define FAKEGPU_BAR0_BYTES	SZ_16M
#define FAKEGPU_BAR3_BYTES	SZ_32M
/* So many lie in the memory that there is by default. */
#define FAKEGPU_MOST		4
/* Of one. */
#define FAKEGPU_NVLINKS_MOST	18

struct gsp;

/* Which GPU the function says it is. */
struct fakegpu_model {
	u16 device, subsystem;
	/* NV_PMC_BOOT_0 and NV_PMC_BOOT_42: the chip, as its registers name it. */
	u32 boot0, boot42;
	u32 nvlinks;
};

/* One function. */
struct fakegpu {
	unsigned int index;
	struct fakegpu_model model;
	/* Where BAR1 lies; BAR3 and BAR0 are behind it. */
	u32 base, bar1_bytes;
	struct pci_dev *pci;
	/* BAR0. */
	void __iomem *registers;
	/* What answers the driver, if anything does. */
	struct gsp *gsp;
	/* Configuration space, what of it may be written, and whether it reads as ones and takes no writes, as that of a
	 * device that is gone. */
	u8 config[FAKEGPU_CONFIG_BYTES], writable[FAKEGPU_CONFIG_BYTES];
	bool dead;
};

/* main.c: the functions, of which there are `fakegpu_count`. */
extern struct fakegpu *fakegpus;
extern unsigned int fakegpu_count;

/* config.c: configuration space. */
extern struct pci_ops fakegpu_config_ops;
void fakegpu_config_fill(struct fakegpu *gpu);

/* control.c: debugfs fakegpu/control. */
int fakegpu_control_start(void);
void fakegpu_control_stop(void);

#endif
