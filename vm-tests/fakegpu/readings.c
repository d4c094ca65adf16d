// SPDX-License-Identifier: GPL-2.0
/* What the GPU measures: the calls by which NVML reads it. */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "gsp.h"
#include "layout.h"
#include "sdk.h"

/* The newest of 535 has the later names. */
#if DRIVER_SERIES == 555
#define DRAM_CORRECTED		dramCorrectedTotalCounts
#define DRAM_UNCORRECTED	dramUncorrectedTotalCounts
#else
#define DRAM_CORRECTED		dramCorrectedTotal
#define DRAM_UNCORRECTED	dramUncorrectedTotal
#endif

/* Controls that NVIDIA has not published; what they carry was found by trying. */
#define CONTROL_THERMAL		0x20808513
#define CONTROL_PERF_STATE	0x2080a068
#define CONTROL_CLOCK_DOMAINS	0x20809009
#define CONTROL_UTILIZATION	0x2080a097
#define CONTROL_THERMAL_LIMIT	0x20808546
#define CONTROL_CLOCK_RATIO	0x20808545
#define CONTROL_CLOCKS		0x20809004
#define CONTROL_CLOCK_DOMAIN	0x20809064
#define CONTROL_HARDWARE_SLOWDOWN	0x2080a014
#define CONTROL_POLICIES	0x2080a080
#define CONTROL_POLICY_STATUS	0x2080a081
#define CONTROL_POWER_INFO	0x2080a612
#define CONTROL_POWER_POLICIES	0x2080a618
#define CONTROL_POWER_LIMIT	0x2080a61f
#define CONTROL_POWER_SAMPLES	0x2080a637

/* Of the units of QUERY_ECC_STATUS, which have numbers alone. */
#define ECC_UNIT_MEMORY		0

/* A list of questions: result, whether there is an answer, what is asked, operands. */
struct thermal {
	u32 result, answered, question, operands[8];
};

struct thermals {
	u32 words[4], answered, count;
	struct thermal each[32];
};

#define THERMAL_READ		0x1500

static void thermal(const struct gsp_readings *readings, struct thermals *list, u32 bytes)
{
	u32 i, count = min_t(u32, list->count, ARRAY_SIZE(list->each)), j;

	if (bytes < sizeof(*list))
		return;
	for (i = 0; i < count; i++) {
		struct thermal *one = &list->each[i];

		one->result = 0;
		one->answered = 1;
		for (j = 0; j < ARRAY_SIZE(one->operands); j++)
			if (!one->operands[j])
				one->operands[j] = one->question == THERMAL_READ && j == 1 ? readings->temperature : 1;
	}
	list->answered = count;
}

static void remapped_rows(const struct gsp_readings *readings, NV2080_CTRL_FB_GET_REMAPPED_ROWS_PARAMS *answer)
{
	u32 correctable = readings->remapped_correctable, i;

	answer->entryCount = min_t(u32, correctable + readings->remapped_uncorrectable, ARRAY_SIZE(answer->entries));
	answer->flags = readings->remap_pending ? 1 : 0;
	for (i = 0; i < answer->entryCount; i++) {
		answer->entries[i] = (NV2080_CTRL_FB_REMAP_ENTRY){
			.remapRegVal = i,
			.source = i < correctable ? NV2080_CTRL_FB_REMAPPED_ROW_SOURCE_SBE_FIELD :
						    NV2080_CTRL_FB_REMAPPED_ROW_SOURCE_DBE_FIELD,
			.flags = answer->flags,
		};
	}
}

/* Video memory alone has counts; NVML takes ECC for enabled by it. */
static void ecc_status(const struct gsp_readings *readings, NV2080_CTRL_GPU_QUERY_ECC_STATUS_PARAMS *answer)
{
	NV2080_CTRL_GPU_QUERY_ECC_UNIT_STATUS *memory = &answer->units[ECC_UNIT_MEMORY];

	memory->enabled = memory->scrubComplete = memory->supported = 1;
	memory->sbe.count = memory->sbeNonResettable.count = readings->ecc_corrected;
	memory->dbe.count = memory->dbeNonResettable.count = readings->ecc_uncorrected;
}

/* Samples of 88 bytes each behind a head of 24, which says how many there are and which is the newest. */
static void power_samples(const struct gsp_readings *readings, u8 *at)
{
	const u32 newest = 24 + 88;

	put32(at, 8, 1);
	put32(at, 12, 1);
	/* When it was taken. */
	put32(at, newest, 1);
	put32(at, newest + 36, readings->power);
}

/* NVML names a clock by a bit (graphics, SM, memory, video) and asks for what domain it is of, and in which ratio. */
enum { ASK_MEMORY = 4, ASK_VIDEO = 8, DOMAIN_GRAPHICS = 1, DOMAIN_MEMORY = 0x10, DOMAIN_VIDEO = 0x100000 };

static void clock_domain(u8 *at)
{
	u32 asked = get32(at, 8);

	put32(at, 12, asked == ASK_MEMORY ? DOMAIN_MEMORY : asked == ASK_VIDEO ? DOMAIN_VIDEO : DOMAIN_GRAPHICS);
	put32(at, 16, 1);
	put32(at, 20, 100);
}

/* Up to 32 entries of 48 bytes, of which NVML asks for one: flags, domain, two words, of which the second is kHz. */
static void clocks(const struct gsp_readings *readings, u8 *at)
{
	u32 domain = get32(at, 12);

	put32(at, 20, 1000 * (domain == DOMAIN_MEMORY ? readings->clock_memory : readings->clock_graphics));
}

/* Clock event reasons as nvml.h counts them. */
enum {
	REASON_IDLE = 0x1, REASON_POWER_CAP = 0x4, REASON_SYNC_BOOST = 0x10, REASON_SW_THERMAL = 0x20,
	REASON_HW_THERMAL = 0x40, REASON_POWER_BRAKE = 0x80,
};

static void hardware_slowdown(const struct gsp_readings *readings, u8 *at)
{
	u32 reasons = readings->throttle_reasons;

	put32(at, 0, (reasons & REASON_HW_THERMAL ? BIT(1) : 0) | (reasons & REASON_POWER_BRAKE ? BIT(7) : 0));
}

/* What limits the clocks, a bit each, and for how long each policy of six did, in nanoseconds. What the second is of is not known. */
static void policy_status(const struct gsp_readings *readings, u8 *at)
{
	enum { FIRST_TIME = 0x68, EACH = 0x38 };
	const u32 times[] = {
		readings->violation_power, 0, readings->violation_reliability, readings->violation_board_limit,
		readings->violation_low_utilization, readings->violation_sync_boost,
	};
	u32 reasons = readings->throttle_reasons, i;

	put32(at, 0x4c, (reasons & REASON_POWER_CAP ? BIT(0) : 0) | (reasons & REASON_SW_THERMAL ? BIT(1) : 0) |
			(reasons & REASON_IDLE ? BIT(4) : 0) | (reasons & REASON_SYNC_BOOST ? BIT(5) : 0));
	for (i = 0; i < ARRAY_SIZE(times); i++)
		put64(at, FIRST_TIME + EACH * i, times[i] * 1000000ull);
}

/* NVML asks eleven times within what it takes for 20 ms; found by trying, each call has to carry 5 ms. */
static void pcie_counters(struct gsp_model *model, NV2080_CTRL_BUS_GET_PEX_UTIL_COUNTERS_PARAMS *answer)
{
	const u32 rates[] = { model->readings.pcie_sent, model->readings.pcie_received };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		if (answer->pexCounterMask & BIT(i))
			model->pcie_bytes[i] += rates[i] * 1024ull / 200;
		answer->pexCounters[i] = model->pcie_bytes[i];
	}
}

/* The question is which limit; the answer, degrees in 256ths. */
static void thermal_limit(const struct gsp_readings *readings, u8 *at)
{
	enum { SLOWDOWN = 4, SHUTDOWN = 22 };
	u32 asked = get32(at, 0), limit = 0;

	if (asked == SLOWDOWN)
		limit = readings->slowdown_limit;
	else if (asked == SHUTDOWN)
		limit = readings->shutdown_limit;
	put32(at, 4, limit << 8);
}

void gsp_read(struct gsp_model *model, u32 command, u8 *at, u32 bytes)
{
	const struct gsp_readings *readings = &model->readings;
	void *parameters = at;

	switch (command) {
	case NV2080_CTRL_CMD_GPU_QUERY_ECC_STATUS:
		ecc_status(readings, parameters);
		break;
	case NV2080_CTRL_CMD_ECC_GET_VOLATILE_COUNTS: {
		NV2080_CTRL_ECC_GET_VOLATILE_COUNTS_PARAMS *answer = parameters;

		answer->dramCorTot = readings->ecc_corrected;
		answer->dramUncTot = readings->ecc_uncorrected;
		break;
	}
	case NV2080_CTRL_CMD_ECC_GET_CLIENT_EXPOSED_COUNTERS: {
		NV2080_CTRL_ECC_GET_CLIENT_EXPOSED_COUNTERS_PARAMS *answer = parameters;

		answer->DRAM_CORRECTED = readings->ecc_corrected;
		answer->DRAM_UNCORRECTED = readings->ecc_uncorrected;
		break;
	}
	case NV2080_CTRL_CMD_FB_GET_REMAPPED_ROWS:
		remapped_rows(readings, parameters);
		break;
	case NV2080_CTRL_CMD_GPU_QUERY_ECC_CONFIGURATION: {
		NV2080_CTRL_GPU_QUERY_ECC_CONFIGURATION_PARAMS *answer = parameters;

		answer->currentConfiguration = answer->defaultConfiguration = NV2080_CTRL_GPU_ECC_CONFIGURATION_ENABLED;
		break;
	}
	case NV2080_CTRL_CMD_BUS_GET_PEX_COUNTERS: {
		NV2080_CTRL_BUS_GET_PEX_COUNTERS_PARAMS *answer = parameters;

		memset(answer->pexCounters, 0, sizeof(answer->pexCounters));
		/* By the bit of the mask that asks for it. */
		answer->pexCounters[ilog2(NV2080_CTRL_BUS_PEX_COUNTER_REPLAY_COUNT)] = readings->pcie_replays;
		break;
	}
	case NV2080_CTRL_CMD_BUS_GET_PEX_UTIL_COUNTERS:
		pcie_counters(model, parameters);
		break;
	case NV2080_CTRL_CMD_INTERNAL_GPU_GET_SMC_MODE: {
		NV2080_CTRL_INTERNAL_GPU_GET_SMC_MODE_PARAMS *answer = parameters;

		answer->smcMode = readings->mig_mode;
		break;
	}
	case CONTROL_POWER_SAMPLES:
		power_samples(readings, at);
		break;
	case CONTROL_POWER_INFO:
		/* Each kind of power reading there is. */
		put32(at, 0, ~0);
		break;
	case CONTROL_POWER_POLICIES:
		/* There is one. */
		put32(at, 4, 1);
		break;
	case CONTROL_POWER_LIMIT:
		put32(at, 4, readings->power_limit);
		break;
	case CONTROL_CLOCK_DOMAIN:
		clock_domain(at);
		break;
	case CONTROL_CLOCKS:
		clocks(readings, at);
		break;
	case CONTROL_CLOCK_RATIO:
		put32(at, 4, 1);
		put32(at, 8, 1);
		break;
	case CONTROL_HARDWARE_SLOWDOWN:
		hardware_slowdown(readings, at);
		break;
	case CONTROL_POLICIES:
		/* A mask of those that there are. */
		put32(at, 0x10, 0x3f);
		break;
	case CONTROL_POLICY_STATUS:
		policy_status(readings, at);
		break;
	case CONTROL_THERMAL_LIMIT:
		thermal_limit(readings, at);
		break;
	case CONTROL_THERMAL:
		thermal(readings, parameters, bytes);
		break;
	case CONTROL_PERF_STATE:
		/* A mask. */
		put32(at, 0, BIT(readings->performance_state));
		break;
	case CONTROL_CLOCK_DOMAINS:
		put32(at, 4, 0xff);
		break;
	case CONTROL_UTILIZATION:
		put32(at, 8, readings->gpu_utilization);
		put32(at, 24, readings->memory_utilization);
		break;
	}
}
