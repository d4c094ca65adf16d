// SPDX-License-Identifier: GPL-2.0
/*
 * Where things lie in structures of NVIDIA's resource manager: compiled, with its own headers and flags, to assembly text
 * that holds a line "->NAME VALUE" each. Nothing of it is ever linked. build.sh makes layout.h of it, and gives SERIES, the
 * first number of the driver's version.
 */
#include "core/core.h"
#include "kernel/gpu/intr/engine_idx.h"
#include "gpu/eng_desc.h"
#include "gpu/gpu.h"
#include "gpu/gsp/kernel_gsp.h"
#include "gpu/gsp/gsp_init_args.h"
#include "gpu/gsp/gsp_static_config.h"
#include "libos_init_args.h"
#include "gsp/gspifpub.h"
#include "vgpu/rpc_headers.h"
#define RPC_STRUCTURES
#define RPC_GENERIC_UNION
#include "g_rpc-structures.h"
#undef RPC_STRUCTURES
#undef RPC_GENERIC_UNION
#define RPC_MESSAGE_STRUCTURES
#define RPC_MESSAGE_GENERIC_UNION
#include "g_rpc-message-header.h"
#undef RPC_MESSAGE_STRUCTURES
#undef RPC_MESSAGE_GENERIC_UNION
#include "gpu/gsp/message_queue.h"
#include "gpu/gsp/message_queue_priv.h"

#define VALUE(name, value) asm volatile("\n->" #name " %0" :: "i"((long)(value)))
#define OFFSET(type, field) VALUE(OFF_##type##__##field, NV_OFFSETOF(type, field))
#define SIZE(type) VALUE(SIZE_##type, sizeof(type))

void layout(void)
{
	VALUE(DRIVER_SERIES, SERIES);
	SIZE(GspStaticConfigInfo);
	OFFSET(GspStaticConfigInfo, gidInfo);
	OFFSET(GspStaticConfigInfo, gpcInfo);
	OFFSET(GspStaticConfigInfo, tpcInfo);
	OFFSET(GspStaticConfigInfo, fbRegionInfoParams);
#if SERIES < 545 /* Known with 535 and 555. */
	OFFSET(GspStaticConfigInfo, computeBranding);
	VALUE(COMPUTE_BRANDING_TESLA, COMPUTE_BRANDING_TYPE_TESLA);
#endif
	OFFSET(GspStaticConfigInfo, fb_length);
	OFFSET(GspStaticConfigInfo, fbio_mask);
	OFFSET(GspStaticConfigInfo, fb_bus_width);
	OFFSET(GspStaticConfigInfo, fb_ram_type);
	OFFSET(GspStaticConfigInfo, fbp_mask);
	OFFSET(GspStaticConfigInfo, l2_cache_size);
	OFFSET(GspStaticConfigInfo, gpuNameString);
	OFFSET(GspStaticConfigInfo, gpuShortNameString);
	OFFSET(GspStaticConfigInfo, gpuNameString_Unicode);
	OFFSET(GspStaticConfigInfo, bIsTesla);
	OFFSET(GspStaticConfigInfo, bar1PdeBase);
	OFFSET(GspStaticConfigInfo, bar2PdeBase);
	OFFSET(GspStaticConfigInfo, bVbiosValid);
	OFFSET(GspStaticConfigInfo, hInternalClient);
	OFFSET(GspStaticConfigInfo, hInternalDevice);
	OFFSET(GspStaticConfigInfo, hInternalSubdevice);
	VALUE(APERTURE_VIDEO_MEMORY, ADDR_FBMEM);

	VALUE(OFF_GSP_FMC_BOOT_PARAMS__bootArgsOffset, NV_OFFSETOF(GSP_FMC_BOOT_PARAMS, gspRmParams.bootArgsOffset));
	SIZE(LibosMemoryRegionInitArgument);
	OFFSET(LibosMemoryRegionInitArgument, id8);
	OFFSET(LibosMemoryRegionInitArgument, pa);
	OFFSET(MESSAGE_QUEUE_INIT_ARGUMENTS, sharedMemPhysAddr);
	OFFSET(MESSAGE_QUEUE_INIT_ARGUMENTS, pageTableEntryCount);
	OFFSET(MESSAGE_QUEUE_INIT_ARGUMENTS, cmdQueueOffset);
	OFFSET(MESSAGE_QUEUE_INIT_ARGUMENTS, statQueueOffset);

	VALUE(ELEMENT_HEADER_BYTES, GSP_MSG_QUEUE_ELEMENT_HDR_SIZE);
	SIZE(rpc_message_header_v);
	OFFSET(rpc_gsp_rm_control_v03_00, cmd);
	OFFSET(rpc_gsp_rm_control_v03_00, status);
	OFFSET(rpc_gsp_rm_control_v03_00, paramsSize);
	OFFSET(rpc_gsp_rm_control_v03_00, params);
	OFFSET(rpc_gsp_rm_alloc_v03_00, hClass);
	OFFSET(rpc_gsp_rm_alloc_v03_00, status);
	SIZE(rpc_os_error_log_v17_00);
	OFFSET(rpc_os_error_log_v17_00, exceptType);
	OFFSET(rpc_os_error_log_v17_00, chid);
	OFFSET(rpc_os_error_log_v17_00, errString);

	VALUE(EVENT_INIT_DONE, NV_VGPU_MSG_EVENT_GSP_INIT_DONE);
	VALUE(EVENT_OS_ERROR_LOG, NV_VGPU_MSG_EVENT_OS_ERROR_LOG);
	VALUE(FUNCTION_STATIC_INFO, NV_VGPU_MSG_FUNCTION_GET_GSP_STATIC_INFO);
	VALUE(FUNCTION_SET_SYSTEM_INFO, NV_VGPU_MSG_FUNCTION_GSP_SET_SYSTEM_INFO);
	VALUE(FUNCTION_SET_REGISTRY, NV_VGPU_MSG_FUNCTION_SET_REGISTRY);
	VALUE(FUNCTION_UNLOADING, NV_VGPU_MSG_FUNCTION_UNLOADING_GUEST_DRIVER);
	VALUE(FUNCTION_CONTROL, NV_VGPU_MSG_FUNCTION_GSP_RM_CONTROL);
	VALUE(FUNCTION_ALLOC, NV_VGPU_MSG_FUNCTION_GSP_RM_ALLOC);

	VALUE(ENG_GR0, ENG_GR(0));
	VALUE(ENG_CE0, ENG_CE(0));
	VALUE(ENG_CE1, ENG_CE(1));
	VALUE(INTR_GR0, MC_ENGINE_IDX_GR);
	VALUE(INTR_CE0, MC_ENGINE_IDX_CE0);
	VALUE(INTR_GSP, MC_ENGINE_IDX_GSP);
	VALUE(INTR_TMR, MC_ENGINE_IDX_TMR);
	VALUE(INTR_FIFO, MC_ENGINE_IDX_FIFO);
	VALUE(INTR_BUS, MC_ENGINE_IDX_BUS);
	VALUE(INTR_REPLAYABLE_FAULT, MC_ENGINE_IDX_REPLAYABLE_FAULT);
	VALUE(INTR_NON_REPLAYABLE_FAULT, MC_ENGINE_IDX_NON_REPLAYABLE_FAULT);
	VALUE(INTR_ACCESS_CNTR, MC_ENGINE_IDX_ACCESS_CNTR);
	VALUE(INTR_CPU_DOORBELL, MC_ENGINE_IDX_CPU_DOORBELL);
	VALUE(INTR_INFO_FAULT, MC_ENGINE_IDX_INFO_FAULT);
	VALUE(INTR_NON_REPLAYABLE_FAULT_ERROR, MC_ENGINE_IDX_NON_REPLAYABLE_FAULT_ERROR);
	VALUE(INTR_REPLAYABLE_FAULT_ERROR, MC_ENGINE_IDX_REPLAYABLE_FAULT_ERROR);
	VALUE(INTR_PRIV_DOORBELL, MC_ENGINE_IDX_PRIV_DOORBELL);
	VALUE(INTR_TMR_SWRL, MC_ENGINE_IDX_TMR_SWRL);
}
