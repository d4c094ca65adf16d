// SPDX-License-Identifier: GPL-2.0
/* The engine for graphics and compute: how it is built. The driver makes contexts by that, which nothing ever runs in. */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/sizes.h>

#include "gsp.h"
#include "sdk.h"

/* Clusters, pairs of multiprocessors in each, multiprocessors in each of these. */
#define GPCS		7
#define TPCS		9
#define SMS		2

/* Each of the buffers of a context: on a GPU they differ, from kilobytes to megabytes. */
#define BUFFER_BYTES	SZ_64K

static void masks(NV2080_CTRL_INTERNAL_STATIC_GR_GET_FLOORSWEEPING_MASKS_PARAMS *answer)
{
	NV2080_CTRL_INTERNAL_STATIC_GR_FLOORSWEEPING_MASKS *of_first = &answer->floorsweepingMasks[0];
	u32 i;

	of_first->gpcMask = of_first->physGpcMask = of_first->physGfxGpcMask = BIT(GPCS) - 1;
	for (i = 0; i < GPCS; i++) {
		of_first->tpcMask[i] = BIT(TPCS) - 1;
		of_first->tpcCount[i] = TPCS;
		of_first->mmuPerGpc[i] = 1;
		of_first->numPesPerGpc[i] = 3;
	}
	of_first->numGfxTpc = GPCS * TPCS;
}

static void order(NV2080_CTRL_INTERNAL_STATIC_GR_GET_GLOBAL_SM_ORDER_PARAMS *answer)
{
	NV2080_CTRL_INTERNAL_STATIC_GR_GLOBAL_SM_ORDER *of_first = &answer->globalSmOrder[0];
	u32 i;

	of_first->numSm = GPCS * TPCS * SMS;
	of_first->numTpc = GPCS * TPCS;
	for (i = 0; i < of_first->numSm; i++) {
		u32 tpc = i / SMS;

		of_first->globalSmId[i].gpcId = of_first->globalSmId[i].virtualGpcId = tpc / TPCS;
		of_first->globalSmId[i].localTpcId = of_first->globalSmId[i].migratableTpcId = tpc % TPCS;
		of_first->globalSmId[i].localSmId = i % SMS;
		of_first->globalSmId[i].globalTpcId = tpc;
	}
}

static void properties(NV2080_CTRL_INTERNAL_STATIC_GR_GET_INFO_PARAMS *answer)
{
	static const struct {
		u32 index, value;
	} known[] = {
		{ NV0080_CTRL_GR_INFO_INDEX_SM_VERSION, NV2080_CTRL_GR_INFO_SM_VERSION_9_0 },
		{ NV0080_CTRL_GR_INFO_INDEX_MAX_WARPS_PER_SM, 64 },
		{ NV0080_CTRL_GR_INFO_INDEX_MAX_THREADS_PER_WARP, 32 },
		{ NV0080_CTRL_GR_INFO_INDEX_MAX_SP_PER_SM, 128 },
		{ NV0080_CTRL_GR_INFO_INDEX_LITTER_NUM_GPCS, GPCS },
		{ NV0080_CTRL_GR_INFO_INDEX_LITTER_NUM_TPC_PER_GPC, TPCS },
		{ NV0080_CTRL_GR_INFO_INDEX_LITTER_NUM_SM_PER_TPC, SMS },
		{ NV0080_CTRL_GR_INFO_INDEX_SHADER_PIPE_COUNT, GPCS },
		{ NV0080_CTRL_GR_INFO_INDEX_SHADER_PIPE_SUB_COUNT, GPCS * TPCS },
		{ NV0080_CTRL_GR_INFO_INDEX_GPU_CORE_COUNT, GPCS * TPCS * SMS * 128 },
		{ NV0080_CTRL_GR_INFO_INDEX_MAX_SUBCONTEXT_COUNT, 64 },
		{ NV0080_CTRL_GR_INFO_INDEX_MAX_LEGACY_SUBCONTEXT_COUNT, 2 },
	};
	u32 i;

	for (i = 0; i < NV0080_CTRL_GR_INFO_MAX_SIZE; i++)
		answer->engineInfo[0].infoList[i].index = i;
	for (i = 0; i < ARRAY_SIZE(known); i++)
		answer->engineInfo[0].infoList[known[i].index].data = known[i].value;
}

static void buffers(NV2080_CTRL_INTERNAL_STATIC_GR_GET_CONTEXT_BUFFERS_INFO_PARAMS *answer)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(answer->engineContextBuffersInfo[0].engine); i++) {
		answer->engineContextBuffersInfo[0].engine[i].size = BUFFER_BYTES;
		answer->engineContextBuffersInfo[0].engine[i].alignment = SZ_4K;
	}
}

bool gsp_graphics(u32 command, void *parameters)
{
	switch (command) {
	case NV2080_CTRL_CMD_INTERNAL_STATIC_KGR_GET_FLOORSWEEPING_MASKS:
		masks(parameters);
		return true;
	case NV2080_CTRL_CMD_INTERNAL_STATIC_KGR_GET_GLOBAL_SM_ORDER:
		order(parameters);
		return true;
	case NV2080_CTRL_CMD_INTERNAL_STATIC_KGR_GET_INFO:
		properties(parameters);
		return true;
	case NV2080_CTRL_CMD_INTERNAL_STATIC_KGR_GET_CONTEXT_BUFFERS_INFO:
		buffers(parameters);
		return true;
	}
	return false;
}
