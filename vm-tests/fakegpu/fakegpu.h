/* SPDX-License-Identifier: GPL-2.0 */
/* A PCI function that is made of memory. README.md says what for. */
#ifndef FAKEGPU_H
#define FAKEGPU_H

#include <linux/pci.h>
#include <linux/sizes.h>

#define FAKEGPU_CONFIG_BYTES	4096
#define FAKEGPU_BAR0_BYTES	SZ_16M
#define FAKEGPU_BAR1_BYTES	SZ_256M
#define FAKEGPU_BAR3_BYTES	SZ_32M

/* Which GPU the function says it is. */
struct fakegpu_model {
	u16 device, subsystem;
	/* NV_PMC_BOOT_0 and NV_PMC_BOOT_42: the chip, as its registers name it. */
	u32 boot0, boot42;
};

/* config.c: configuration space. */
extern struct pci_ops fakegpu_config_ops;
/* Fills it for a function whose three BARs lie at `base`, one behind the other. */
void fakegpu_config_fill(const struct fakegpu_model *model, u32 base);
void fakegpu_config_poke(u32 offset, u32 value);
const void *fakegpu_config_bytes(void);
/* Whether it reads as ones and takes no writes, as that of a device that is gone. */
void fakegpu_config_set_dead(bool dead);

/* control.c: debugfs fakegpu/control. `registers` is BAR0. */
int fakegpu_control_start(void __iomem *registers);
void fakegpu_control_stop(void);

#endif
