// SPDX-License-Identifier: GPL-2.0
/*
 * What the GSP answers. A call that is not here is answered with its own parameters, which is enough for most: what the
 * driver insists on was found by trying.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "gsp.h"
#include "layout.h"
#include "sdk.h"

static const char name[] = "NVIDIA H100 80GB HBM3";

#define VIDEO_MEMORY		(80ull << 30)
/* Its end is the GSP's own. */
#define RESERVED_MEMORY		(512ull << 20)
#define L2_CACHE_BYTES		(50 << 20)
#define HBM3			16
#define CHANNELS		2048
#define PARTITIONS		0x3ff

/* Runlists and engines: graphics, two copy engines. */
enum { ENGINE_TYPE_GR0 = 1, ENGINE_TYPE_COPY0 = 9, ENGINE_TYPE_COPY1 = 10 };

/* 00112233-4455-6677-8899-aabbccddeeff, and one more in the last byte for each further GPU. */
static u8 uuid_byte(const struct gsp_model *model, int nth)
{
	return 0x11 * nth + (nth == 15 ? model->index : 0);
}

static void memory_region(NV2080_CTRL_CMD_FB_GET_FB_REGION_FB_REGION_INFO *region, u64 base, u64 bytes, bool reserved)
{
	region->base = base;
	region->limit = base + bytes - 1;
	region->reserved = reserved ? bytes : 0;
	region->performance = reserved ? 0 : 100;
	region->supportCompressed = region->supportISO = !reserved;
}

#define INFO(field) (OFF_GspStaticConfigInfo__##field)

void gsp_static_info(const struct gsp_model *model, u8 *info)
{
	NV2080_CTRL_GPU_GET_GID_INFO_PARAMS *gid = (void *)(info + INFO(gidInfo));
	NV2080_CTRL_CMD_FB_GET_FB_REGION_INFO_PARAMS *regions = (void *)(info + INFO(fbRegionInfoParams));
	int i;

	memset(info, 0, SIZE_GspStaticConfigInfo);
	gid->flags = 2;
	gid->length = 16;
	for (i = 0; i < 16; i++)
		gid->data[i] = uuid_byte(model, i);
	/* Seven clusters of nine. */
	put32(info, INFO(gpcInfo), 0x7f);
	for (i = 0; i < 7; i++) {
		put32(info, INFO(tpcInfo) + 8 * i, i);
		put32(info, INFO(tpcInfo) + 8 * i + 4, 0x1ff);
	}
	regions->numFBRegions = 2;
	memory_region(&regions->fbRegion[0], 0, VIDEO_MEMORY - RESERVED_MEMORY, false);
	memory_region(&regions->fbRegion[1], VIDEO_MEMORY - RESERVED_MEMORY, RESERVED_MEMORY, true);
#if DRIVER_SERIES < 545
	put32(info, INFO(computeBranding), COMPUTE_BRANDING_TESLA);
#endif
	put64(info, INFO(fb_length), VIDEO_MEMORY);
	put32(info, INFO(fbio_mask), PARTITIONS);
	put32(info, INFO(fb_bus_width), 5120);
	put32(info, INFO(fb_ram_type), HBM3);
	put32(info, INFO(fbp_mask), PARTITIONS);
	put32(info, INFO(l2_cache_size), L2_CACHE_BYTES);
	memcpy(info + INFO(gpuNameString), name, sizeof(name));
	memcpy(info + INFO(gpuShortNameString), "GH100", 6);
	for (i = 0; name[i]; i++)
		info[INFO(gpuNameString_Unicode) + 2 * i] = name[i];
	info[INFO(bIsTesla)] = 1;
	put64(info, INFO(bar1PdeBase), 0x10000000);
	put64(info, INFO(bar2PdeBase), 0x10001000);
	info[INFO(bVbiosValid)] = 1;
	put32(info, INFO(hInternalClient), 0xc1e00001);
	put32(info, INFO(hInternalDevice), 0xabcd0001);
	put32(info, INFO(hInternalSubdevice), 0xabcd2080);
}

static u8 *memory_at(struct gsp_model *model, u32 aperture, u64 address)
{
	u64 number = address >> PAGE_SHIFT;
	u8 *page;

	if (aperture != APERTURE_VIDEO_MEMORY)
		return pfn_valid(number) ? phys_to_virt(address) : NULL;
	page = xa_load(&model->memory, number);
	if (!page) {
		page = (u8 *)get_zeroed_page(GFP_KERNEL);
		if (!page || xa_err(xa_store(&model->memory, number, page, GFP_KERNEL))) {
			free_page((unsigned long)page);
			return NULL;
		}
	}
	return page + offset_in_page(address);
}

void gsp_forget_memory(struct gsp_model *model)
{
	unsigned long number;
	void *page;

	xa_for_each(&model->memory, number, page)
		free_page((unsigned long)page);
	xa_destroy(&model->memory);
}

/* The driver was configured so that it has no other way to video memory. */
static void transfer(struct gsp_model *model, NV2080_CTRL_INTERNAL_MEMMGR_MEMORY_TRANSFER_WITH_GSP_PARAMS *wish)
{
	u64 from = wish->src.baseAddr + wish->src.offset, to = wish->dst.baseAddr + wish->dst.offset;
	u64 left = wish->transferSize, bytes;

	for (; left; left -= bytes, from += bytes, to += bytes) {
		u8 *target = memory_at(model, wish->dst.aperture, to), *source;

		bytes = min_t(u64, left, PAGE_SIZE - offset_in_page(to));
		if (wish->memop == NV2080_CTRL_MEMMGR_MEMORY_OP_MEMSET) {
			if (target)
				memset(target, wish->value, bytes);
			continue;
		}
		bytes = min_t(u64, bytes, PAGE_SIZE - offset_in_page(from));
		source = memory_at(model, wish->src.aperture, from);
		if (target && source)
			memcpy(target, source, bytes);
	}
}

struct engine {
	const char *name;
	u32 description, type, interrupt, fault;
};

static const struct engine engines[] = {
	{ "GR0", ENG_GR0, ENGINE_TYPE_GR0, INTR_GR0, 384 },
	{ "CE0", ENG_CE0, ENGINE_TYPE_COPY0, INTR_CE0, 400 },
	{ "CE1", ENG_CE1, ENGINE_TYPE_COPY1, INTR_CE0 + 1, 401 },
};

/* Each engine has a runlist and a PBDMA unit of its own. The words are those of ENGINE_INFO_TYPE. */
static void device_table(NV2080_CTRL_FIFO_GET_DEVICE_INFO_TABLE_PARAMS *table)
{
	u32 i;

	table->numEntries = ARRAY_SIZE(engines);
	table->bMore = 0;
	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		const struct engine *engine = &engines[i];
		NV2080_CTRL_FIFO_DEVICE_ENTRY *entry = &table->entries[i];
		bool copies = engine->type != ENGINE_TYPE_GR0;
		const u32 words[] = {
			engine->description, i, engine->type, i, engine->fault, 0, 1, i, engine->interrupt,
			copies ? 19 : 0, copies ? engine->type - ENGINE_TYPE_COPY0 : 0,
			0xc00000 + 0x400 * i, 1, 0, 0xd00000 + 0x4000 * i,
		};

		memset(entry, 0, sizeof(*entry));
		memcpy(entry->engineData, words, sizeof(words));
		entry->numPbdmas = 1;
		entry->pbdmaIds[0] = i;
		entry->pbdmaFaultIds[0] = 32 + i;
		strscpy(entry->engineName, engine->name, sizeof(entry->engineName));
	}
}

/* Vectors: faults and access counters are in a leaf of their own, which the UVM driver takes over. */
static void interrupt_table(NV2080_CTRL_INTERNAL_INTR_GET_KERNEL_TABLE_PARAMS *table)
{
	static const u32 kinds[] = {
		INTR_TMR, INTR_FIFO, INTR_BUS, INTR_GSP, INTR_REPLAYABLE_FAULT, INTR_NON_REPLAYABLE_FAULT,
		INTR_ACCESS_CNTR, INTR_INFO_FAULT, INTR_NON_REPLAYABLE_FAULT_ERROR, INTR_REPLAYABLE_FAULT_ERROR,
		INTR_CPU_DOORBELL, INTR_PRIV_DOORBELL, INTR_TMR_SWRL, INTR_GR0, INTR_CE0, INTR_CE0 + 1,
	};
	/* By category, NV2080_INTR_CATEGORY. */
	static const u8 subtrees[] = { 3, 4, 0, 5, 2, 1, 3 };
	u32 i;

	table->tableLen = ARRAY_SIZE(kinds);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		u32 kind = kinds[i];
		bool of_uvm = kind == INTR_ACCESS_CNTR || kind == INTR_REPLAYABLE_FAULT;
		bool of_engine = kind == INTR_GR0 || kind == INTR_CE0 || kind == INTR_CE0 + 1;

		table->table[i].engineIdx = kind;
		table->table[i].pmcIntrMask = 0;
		table->table[i].vectorStall = kind == INTR_GSP ? GSP_VECTOR : (of_uvm ? 64 : 192) + i;
		table->table[i].vectorNonStall = of_engine ? i : ~0u;
	}
	for (i = 0; i < ARRAY_SIZE(subtrees); i++)
		table->subtreeMap[i].subtreeStart = table->subtreeMap[i].subtreeEnd = subtrees[i];
}

static void bars(const struct gsp_model *model, NV2080_CTRL_BUS_GET_PCI_BAR_INFO_PARAMS *info)
{
	/* As PCI counts them: BAR0, 1 and 3. */
	static const int numbers[] = { 0, 1, 3 };
	u32 i;

	info->pciBarCount = ARRAY_SIZE(numbers);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		u64 bytes = pci_resource_len(model->pci, numbers[i]);

		info->pciBarInfo[i].barSizeBytes = bytes;
		info->pciBarInfo[i].barSize = bytes >> 20;
		info->pciBarInfo[i].barOffset = pci_resource_start(model->pci, numbers[i]);
	}
}

static void chip(const struct gsp_model *model, NV2080_CTRL_INTERNAL_GPU_GET_CHIP_INFO_PARAMS *info)
{
	u32 i;

#if DRIVER_SERIES < 545
	info->bar1Size = model->bar1_mib;
#endif
	info->pciDeviceId = model->device << 16 | PCI_VENDOR_ID_NVIDIA;
	info->pciSubDeviceId = model->subsystem << 16 | PCI_VENDOR_ID_NVIDIA;
	info->pciRevisionId = 0xa1;
	for (i = 0; i < ARRAY_SIZE(info->regBases); i++)
		info->regBases[i] = ~0;
	/* Graphics, timer, MASTER, virtual function. */
	info->regBases[1] = 0x400000;
	info->regBases[2] = 0x9000;
	info->regBases[3] = 0;
	info->regBases[4] = 0xbb0000;
}

static void name_string(NV2080_CTRL_GPU_GET_NAME_STRING_PARAMS *answer)
{
	u32 i;

	for (i = 0; i < sizeof(name); i++) {
		if (answer->gpuNameStringFlags & NV2080_CTRL_GPU_GET_NAME_STRING_FLAGS_TYPE_UNICODE)
			answer->gpuNameString.unicode[i] = name[i];
		else
			answer->gpuNameString.ascii[i] = name[i];
	}
}

static void gid(const struct gsp_model *model, NV2080_CTRL_GPU_GET_GID_INFO_PARAMS *answer)
{
	int i, length = 0;

	if (answer->flags & 2) {
		answer->length = 16;
		for (i = 0; i < 16; i++)
			answer->data[i] = uuid_byte(model, i);
		return;
	}
	length = sprintf(answer->data, "GPU");
	for (i = 0; i < 16; i++)
		length += sprintf(answer->data + length, i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				  uuid_byte(model, i));
	answer->length = length + 1;
}

/* The highest bit of an index asks for what the GSP knows of it: nothing. */
static void gpu_info(NV2080_CTRL_GPU_GET_INFO_V2_PARAMS *list)
{
	u32 i;

	for (i = 0; i < min_t(u32, list->gpuInfoListSize, ARRAY_SIZE(list->gpuInfoList)); i++) {
		if (!(list->gpuInfoList[i].index & BIT(31)))
			continue;
		list->gpuInfoList[i].index &= ~BIT(31);
		list->gpuInfoList[i].data = 0;
	}
}

static void apply_patches(const struct gsp_model *model, u32 command, u8 *at, u32 bytes)
{
	u32 count = smp_load_acquire(&model->patch_count), i, word, offset;

	for (i = 0; i < count; i++) {
		const struct gsp_patch *patch = &model->patches[i];

		if (patch->command != command)
			continue;
		for (word = 0; word < patch->words; word++) {
			offset = patch->offset + word * sizeof(u32);
			if (offset + sizeof(u32) > bytes)
				break;
			put32(at, offset, patch->value + word * patch->step);
		}
	}
}

void gsp_control(struct gsp_model *model, u32 command, u8 *at, u32 bytes)
{
	void *parameters = at;

	switch (command) {
	case NV2080_CTRL_CMD_INTERNAL_MEMMGR_MEMORY_TRANSFER_WITH_GSP:
		transfer(model, parameters);
		break;
	case NV2080_CTRL_CMD_FIFO_GET_DEVICE_INFO_TABLE:
		device_table(parameters);
		break;
	case NV2080_CTRL_CMD_INTERNAL_INTR_GET_KERNEL_TABLE:
		interrupt_table(parameters);
		break;
	case NV2080_CTRL_CMD_BUS_GET_PCI_BAR_INFO:
		bars(model, parameters);
		break;
	case NV2080_CTRL_CMD_INTERNAL_GPU_GET_CHIP_INFO:
		chip(model, parameters);
		break;
	case NV2080_CTRL_CMD_GPU_GET_NAME_STRING:
		name_string(parameters);
		break;
	case NV2080_CTRL_CMD_GPU_GET_INFO_V2:
		gpu_info(parameters);
		break;
	case NV2080_CTRL_CMD_GPU_GET_GID_INFO:
		gid(model, parameters);
		break;
	case NV2080_CTRL_CMD_INTERNAL_FIFO_GET_NUM_CHANNELS: {
		NV2080_CTRL_INTERNAL_FIFO_GET_NUM_CHANNELS_PARAMS *answer = parameters;

		answer->numChannels = CHANNELS;
		break;
	}
	case NV2080_CTRL_CMD_GPU_GET_ENGINES_V2: {
		NV2080_CTRL_GPU_GET_ENGINES_V2_PARAMS *answer = parameters;

		for (answer->engineCount = 0; answer->engineCount < ARRAY_SIZE(engines); answer->engineCount++)
			answer->engineList[answer->engineCount] = engines[answer->engineCount].type;
		break;
	}
	case NV2080_CTRL_CMD_INTERNAL_GMMU_GET_STATIC_INFO: {
		NV2080_CTRL_INTERNAL_GMMU_GET_STATIC_INFO_PARAMS *answer = parameters;

		answer->replayableFaultBufferSize = answer->nonReplayableFaultBufferSize = 0x40000;
		answer->replayableShadowFaultBufferMetadataSize = 0x1000;
		answer->nonReplayableShadowFaultBufferMetadataSize = 0x1000;
		break;
	}
	case NV2080_CTRL_CMD_INTERNAL_MEMSYS_GET_STATIC_CONFIG: {
		NV2080_CTRL_INTERNAL_MEMSYS_GET_STATIC_CONFIG_PARAMS *answer = parameters;

		answer->l2CacheSize = L2_CACHE_BYTES;
		answer->bFbpaPresent = 1;
		answer->comprPageSize = 65536;
		answer->comprPageShift = 16;
#if DRIVER_SERIES < 545
		answer->maximumBlacklistPages = 64;
#endif
		answer->ramType = HBM3;
		answer->ltcCount = 10;
		answer->ltsPerLtcCount = 4;
		break;
	}
	case NV2080_CTRL_CMD_CE_GET_FAULT_METHOD_BUFFER_SIZE:
		put32(at, 0, 0x1000);
		break;
	default:
		if (!gsp_nvlink(model, command, parameters) && !gsp_graphics(command, parameters))
			gsp_read(model, command, at, bytes);
		break;
	}
	apply_patches(model, command, at, bytes);
}
