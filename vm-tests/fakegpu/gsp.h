/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver takes for the GPU's system processor (GSP): it starts it, and asks it by two queues in memory. */
#ifndef GSP_H
#define GSP_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/xarray.h>

#define GSP_TEXT_BYTES	256
/* Of its interrupt: bit 3 of leaf 6. */
#define GSP_VECTOR	195

struct fakegpu;
struct gsp;

static inline u32 get32(const u8 *at, u32 offset)
{
	u32 value;

	memcpy(&value, at + offset, sizeof(value));
	return value;
}

static inline void put32(u8 *at, u32 offset, u32 value)
{
	memcpy(at + offset, &value, sizeof(value));
}

static inline void put64(u8 *at, u32 offset, u64 value)
{
	memcpy(at + offset, &value, sizeof(value));
}

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
	u32 power, power_limit;		/* milliwatts */
	u32 clock_graphics, clock_memory;	/* MHz */
	u32 throttle_reasons;		/* as nvml.h counts them */
	/* Milliseconds. */
	u32 violation_power, violation_reliability, violation_board_limit, violation_low_utilization, violation_sync_boost;
	u32 pcie_sent, pcie_received;	/* KiB/s */
	u32 slowdown_limit, shutdown_limit;	/* degrees Celsius */
	u32 mig_mode;			/* NV2080_CTRL_GPU_INFO_GPU_SMC_MODE_…; 0 is unsupported */
	/* NVLinks: which are active, a bit each, and what the first has counted; each other one more than the one before. */
	u32 nvlink_active, nvlink_replays, nvlink_recoveries, nvlink_crc;
};

/* Words put into what a control call is answered with, each `step` more than the one before, to find out what they mean. */
struct gsp_patch {
	u32 command, offset, value, words, step;
};

#define GSP_PATCHES	64

/* State that calls of the driver ask for and change. */
struct gsp_model {
	unsigned int index;
	struct pci_dev *pci;
	u32 device, subsystem, bar1_mib, nvlinks;
	struct gsp_readings readings;
	/* What went over PCIe so far: sent, received. */
	u64 pcie_bytes[2];
	/* Video memory: pages by number, made when they are written to first. */
	struct xarray memory;
	/* Of two with the same word the later counts. */
	struct gsp_patch patches[GSP_PATCHES];
	u32 patch_count;
	/* Log each call (1), and what it carries too (2). */
	u32 verbose;
};

/* gsp.c: one for each GPU. */
int gsp_start(struct fakegpu *gpu);
void gsp_stop(struct fakegpu *gpu);
struct gsp_readings *gsp_readings(struct gsp *gsp);
/* Whether it answers no more. */
void gsp_mute(struct gsp *gsp, bool mute);
void gsp_verbose(struct gsp *gsp, u32 verbose);
/* Changes what its command is answered with from now on. -ENOSPC: there are GSP_PATCHES. */
int gsp_patch(struct gsp *gsp, const struct gsp_patch *patch);
void gsp_forget_patches(struct gsp *gsp);
/* Has the driver log the Xid `code` with `text`, by an event of `channel` or none (~0). -ENODEV: it is not started. */
int gsp_xid(struct gsp *gsp, u32 code, u32 channel, const char *text);

/* answers.c: what is answered. */
void gsp_static_info(const struct gsp_model *model, u8 *info);
/* `bytes` of parameters lie at `parameters`; what is not known is answered with what was asked. */
void gsp_control(struct gsp_model *model, u32 command, u8 *parameters, u32 bytes);
void gsp_forget_memory(struct gsp_model *model);

/* readings.c: the same for what asks what the GPU measures. */
void gsp_read(struct gsp_model *model, u32 command, u8 *parameters, u32 bytes);

/* nvlink.c: the same for NVLinks; whether it was about them. */
bool gsp_nvlink(const struct gsp_model *model, u32 command, void *parameters);

/* graphics.c: the same for the engine of graphics and compute. */
bool gsp_graphics(u32 command, void *parameters);

#endif
