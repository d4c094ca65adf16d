// SPDX-License-Identifier: GPL-2.0
/* NVLinks: which there are, how they are, and what they counted. Nothing is at their other ends. */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "gsp.h"
#include "sdk.h"

/* As GH100 has them: three units of six links. */
#define LINKS_OF_UNIT	6

/* 26.5625 GB/s each way, as NVLink 4 has: KiB/s, and Mbit/s of each of its two lanes. */
#define DATA_RATE_KIB	25939941
#define LINE_RATE_MBIT	106250
#define LANES		2

static u32 links(const struct gsp_model *model)
{
	return BIT(model->nvlinks) - 1;
}

static void devices(const struct gsp_model *model, NV2080_CTRL_NVLINK_GET_NVLINK_DEVICE_INFO_PARAMS *answer)
{
	u32 units = DIV_ROUND_UP(model->nvlinks, LINKS_OF_UNIT), i;

	answer->ioctrlMask = BIT(units) - 1;
	answer->ioctrlNumEntries = units;
	answer->ioctrlSize = units;
	answer->discoveredLinks = links(model);
	answer->ipVerNvlink = NV2080_CTRL_NVLINK_CAPS_NVLINK_VERSION_4_0;
	for (i = 0; i < model->nvlinks; i++) {
		answer->linkInfo[i].bValid = 1;
		answer->linkInfo[i].linkId = i;
		answer->linkInfo[i].ioctrlId = i / LINKS_OF_UNIT;
		answer->linkInfo[i].pllMasterLinkId = answer->linkInfo[i].pllSlaveLinkId = i;
		answer->linkInfo[i].ipVerDlPl = NV2080_CTRL_NVLINK_CAPS_NVLINK_VERSION_4_0;
	}
}

static void unit(const struct gsp_model *model, NV2080_CTRL_NVLINK_GET_IOCTRL_DEVICE_INFO_PARAMS *answer)
{
	u32 first = answer->ioctrlIdx * LINKS_OF_UNIT;

	answer->PublicId = answer->ioctrlIdx;
	answer->localDiscoveredLinks = links(model) >> first & (BIT(LINKS_OF_UNIT) - 1);
	answer->localGlobalLinkOffset = first;
	answer->numDevices = hweight32(answer->localDiscoveredLinks);
	/* There is a processor that trains them. */
	answer->ipRevisions.ipVerMinion = 1;
}

static void states(const struct gsp_model *model, NV2080_CTRL_NVLINK_GET_LINK_AND_CLOCK_INFO_PARAMS *answer)
{
	u32 i;

	answer->nvlinkRefClkSpeedKHz = 156250;
	for (i = 0; i < model->nvlinks; i++) {
		NV2080_CTRL_NVLINK_GET_LINK_AND_CLOCK_VALUES *link = &answer->linkInfo[i];
		bool active = READ_ONCE(model->readings.nvlink_active) & BIT(i);

		memset(link, 0, sizeof(*link));
		link->bLinkConnectedToPeer = active;
		link->subLinkWidth = LANES;
		link->linkState = active ? NV2080_CTRL_NVLINK_STATUS_LINK_STATE_ACTIVE :
					   NV2080_CTRL_NVLINK_STATUS_LINK_STATE_INIT;
		link->txSublinkState = active ? NV2080_CTRL_NVLINK_STATUS_SUBLINK_TX_STATE_HIGH_SPEED_1 :
						NV2080_CTRL_NVLINK_STATUS_SUBLINK_TX_STATE_OFF;
		link->rxSublinkState = active ? NV2080_CTRL_NVLINK_STATUS_SUBLINK_RX_STATE_HIGH_SPEED_1 :
						NV2080_CTRL_NVLINK_STATUS_SUBLINK_RX_STATE_OFF;
		link->nvlinkLineRateMbps = LINE_RATE_MBIT;
		link->nvlinkLinkClockMhz = LINE_RATE_MBIT / 64;
		link->nvlinkLinkClockKHz = link->nvlinkLinkClockMhz * 1000;
		link->nvlinkLinkDataRateKiBps = DATA_RATE_KIB;
	}
}

/* Each link has counted one more than the one before it, so that none passes for another. */
static void counters(const struct gsp_model *model, NV2080_CTRL_NVLINK_GET_COUNTERS_PARAMS *answer)
{
	const struct gsp_readings *readings = &model->readings;
	const struct {
		u32 bit, value;
	} counted[] = {
		{ NV2080_CTRL_NVLINK_COUNTER_DL_TX_ERR_REPLAY, readings->nvlink_replays },
		{ NV2080_CTRL_NVLINK_COUNTER_DL_TX_ERR_RECOVERY, readings->nvlink_recoveries },
		{ NV2080_CTRL_NVLINK_COUNTER_DL_RX_ERR_CRC_FLIT, readings->nvlink_crc },
	};
	u32 i, j;

	for (i = 0; i < model->nvlinks; i++) {
		memset(&answer->counters[i], 0, sizeof(answer->counters[i]));
		for (j = 0; j < ARRAY_SIZE(counted); j++)
			if (counted[j].value)
				answer->counters[i].value[ilog2(counted[j].bit)] = counted[j].value + i;
	}
}

bool gsp_nvlink(const struct gsp_model *model, u32 command, void *parameters)
{
	if (!model->nvlinks)
		return false;
	switch (command) {
	case NV2080_CTRL_CMD_NVLINK_GET_NVLINK_DEVICE_INFO:
		devices(model, parameters);
		return true;
	case NV2080_CTRL_CMD_NVLINK_GET_IOCTRL_DEVICE_INFO:
		unit(model, parameters);
		return true;
	case NV2080_CTRL_CMD_NVLINK_GET_LINK_AND_CLOCK_INFO:
		states(model, parameters);
		return true;
	case NV2080_CTRL_CMD_NVLINK_GET_COUNTERS:
		counters(model, parameters);
		return true;
	}
	return false;
}
