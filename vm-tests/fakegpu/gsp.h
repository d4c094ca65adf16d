/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver takes for the GPU's system processor (GSP): it starts it, and asks it by two queues in memory. */
#ifndef GSP_H
#define GSP_H

#include <linux/types.h>
#include <linux/xarray.h>

#define GSP_TEXT_BYTES	256
/* Of its interrupt: bit 3 of leaf 6. */
#define GSP_VECTOR	195

struct fakegpu;
struct gsp;

/* What the GPU is to measure. */
struct gsp_readings {
	u32 temperature;		/* degrees Celsius */
	u32 gpu_utilization;		/* percent */
	u32 memory_utilization;		/* percent */
	u32 performance_state;		/* 0 is the fastest */
	/* Errors of video memory, since the driver was loaded and ever. */
	u32 ecc_corrected, ecc_uncorrected;
	/* Rows of video memory that spare ones stand in for, after such errors, and whether some wait for a reset. */
	u32 remapped_correctable, remapped_uncorrectable, remap_pending;
	u32 pcie_replays;
};

/* Lasting state that is asked for and changed by calls of the driver. */
struct gsp_model {
	unsigned int index;
	struct pci_dev *pci;
	u32 device, subsystem, bar1_mib;
	struct gsp_readings readings;
	/* Video memory: pages by number, made when they are written to first. */
	struct xarray memory;
	/* Log each call. */
	bool verbose;
};

/* gsp.c: one for each GPU. */
int gsp_start(struct fakegpu *gpu);
void gsp_stop(struct fakegpu *gpu);
struct gsp_readings *gsp_readings(struct gsp *gsp);
/* Whether it answers no more. */
void gsp_mute(struct gsp *gsp, bool mute);
void gsp_verbose(struct gsp *gsp, bool verbose);
/* Has the driver log the Xid `code` with `text`, by an event of `channel` or none (~0). -ENODEV: it is not started. */
int gsp_xid(struct gsp *gsp, u32 code, u32 channel, const char *text);

/* answers.c: what is answered. */
void gsp_static_info(const struct gsp_model *model, u8 *info);
/* `bytes` of parameters lie at `parameters`; what is not known is answered with what was asked. */
void gsp_control(struct gsp_model *model, u32 command, u8 *parameters, u32 bytes);
void gsp_forget_memory(struct gsp_model *model);

#endif
