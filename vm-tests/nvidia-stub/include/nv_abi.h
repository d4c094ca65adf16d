/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What NVIDIA's user space and driver say to each other, as far as the stub decodes it. Sources:
 * NVIDIA/open-gpu-kernel-modules, src/common/sdk/nvidia/inc/nvos.h, src/common/unix/common or
 * arch/nvalloc/unix/include/{nv_escape.h,nv-ioctl.h,nv-ioctl-numbers.h}, nvstatuscodes.h, and
 * kernel-open/nvidia-uvm/{uvm_ioctl.h,uvm_linux_ioctl.h}. Field names are NVIDIA's.
 */
#ifndef NV_ABI_H
#define NV_ABI_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

typedef u32 NV_STATUS;

#define NV_OK				0x00000000
#define NV_ERR_ILLEGAL_ACTION		0x00000016
#define NV_ERR_INSERT_DUPLICATE_NAME	0x00000019
#define NV_ERR_INVALID_ADDRESS		0x0000001e
#define NV_ERR_INVALID_ARGUMENT		0x0000001f
#define NV_ERR_NO_MEMORY		0x00000051
#define NV_ERR_GENERIC			0x0000ffff

#define NV_IOCTL_MAGIC			'F'
#define NV_ESC_RM_FREE			0x29
#define NV_ESC_RM_CONTROL		0x2a
#define NV_ESC_RM_ALLOC			0x2b
#define NV_ESC_CARD_INFO		200
#define NV_ESC_CHECK_VERSION_STR	210
#define NV_ESC_IOCTL_XFER_CMD		211
#define NV_ESC_SYS_PARAMS		214

/* Largest argument that NV_ESC_IOCTL_XFER_CMD may carry, bytes (nv-ioctl.h). */
#define NV_ABSOLUTE_MAX_IOCTL_SIZE	16384

#define NV_MAJOR			195
#define NV_MINOR_CTL			255
/* Highest minor of a GPU; 248 to 254 belong to others (nv-chardev-numbers.h). */
#define NV_MINOR_GPU_MAX		247

#define NV01_ROOT			0x00000000
#define NV01_ROOT_NON_PRIV		0x00000001
#define NV01_MEMORY_LOCAL_USER		0x00000040
#define NV01_ROOT_CLIENT		0x00000041

/* NV_ESC_RM_FREE */
struct nvos00 {
	u32 hRoot;
	u32 hObjectParent;
	u32 hObjectOld;
	u32 status;
};
static_assert(sizeof(struct nvos00) == 16);

/* NV_ESC_RM_CONTROL */
struct nvos54 {
	u32 hClient;
	u32 hObject;
	u32 cmd;
	u32 flags;
	u64 params;
	u32 paramsSize;
	u32 status;
};
static_assert(sizeof(struct nvos54) == 32);
static_assert(offsetof(struct nvos54, status) == 28);

/*
 * NV_ESC_RM_ALLOC: the fields that stand at the same place in NVOS21 and NVOS64 of every driver. What
 * follows, and where the status is, depends on the version: see nv_stub_alloc_status_offset().
 */
struct nvos_alloc {
	u32 hRoot;
	u32 hObjectParent;
	u32 hObjectNew;
	u32 hClass;
	u64 pAllocParms;
};
static_assert(sizeof(struct nvos_alloc) == 24);

/* NV_MEMORY_ALLOCATION_PARAMS up to the last field that the stub reads. */
struct nv_memory_allocation_params {
	u32 owner;
	u32 type;
	u32 flags;
	u32 width;
	u32 height;
	s32 pitch;
	u32 attr;
	u32 attr2;
	u32 format;
	u32 comprCovg;
	u32 zcullCovg;
	u64 rangeLo;
	u64 rangeHi;
	u64 size;
};
static_assert(offsetof(struct nv_memory_allocation_params, size) == 64);

/* NV_ESC_IOCTL_XFER_CMD */
struct nv_ioctl_xfer {
	u32 cmd;
	u32 size;
	u64 ptr;
};
static_assert(sizeof(struct nv_ioctl_xfer) == 16);

#define NV_RM_API_VERSION_STRING_LENGTH		64
#define NV_RM_API_VERSION_CMD_RELAXED		'1'
#define NV_RM_API_VERSION_CMD_QUERY		'2'
#define NV_RM_API_VERSION_REPLY_RECOGNIZED	1

/* NV_ESC_CHECK_VERSION_STR */
struct nv_ioctl_rm_api_version {
	u32 cmd;
	u32 reply;
	char versionString[NV_RM_API_VERSION_STRING_LENGTH];
};
static_assert(sizeof(struct nv_ioctl_rm_api_version) == 72);

/* An element of NV_ESC_CARD_INFO's array. */
struct nv_ioctl_card_info {
	u8 valid;
	struct {
		u32 domain;
		u8 bus;
		u8 slot;
		u8 function;
		u16 vendor_id;
		u16 device_id;
	} pci_info;
	u32 gpu_id;
	u16 interrupt_line;
	u64 reg_address;
	u64 reg_size;
	u64 fb_address;
	u64 fb_size;
	u32 minor_number;
	u8 dev_name[10];
};
static_assert(offsetof(struct nv_ioctl_card_info, gpu_id) == 16);
static_assert(sizeof(struct nv_ioctl_card_info) == 72);

/* NV_ESC_SYS_PARAMS */
struct nv_ioctl_sys_params {
	u64 memblock_size;
};

/* UVM ioctls are bare numbers: no direction, type or size in them. */
#define UVM_INITIALIZE			0x30000001
#define UVM_DEINITIALIZE		0x30000002
#define UVM_REGISTER_GPU_VASPACE	25
#define UVM_FREE			34
#define UVM_REGISTER_GPU		37
#define UVM_MIGRATE			51
#define UVM_MM_INITIALIZE		75

struct uvm_initialize_params {
	u64 flags;
	u32 rmStatus;
};
static_assert(sizeof(struct uvm_initialize_params) == 16);

struct uvm_mm_initialize_params {
	s32 uvmFd;
	u32 rmStatus;
};
static_assert(sizeof(struct uvm_mm_initialize_params) == 8);

struct uvm_register_gpu_vaspace_params {
	u8 gpuUuid[16];
	s32 rmCtrlFd;
	u32 hClient;
	u32 hVaSpace;
	u32 rmStatus;
};
static_assert(offsetof(struct uvm_register_gpu_vaspace_params, rmStatus) == 28);

struct uvm_free_params {
	u64 base;
	u64 length;
	u32 rmStatus;
};
static_assert(sizeof(struct uvm_free_params) == 24);

struct uvm_register_gpu_params {
	u8 gpu_uuid[16];
	u8 numaEnabled;
	s32 numaNodeId;
	s32 rmCtrlFd;
	u32 hClient;
	u32 hSmcPartRef;
	u32 rmStatus;
};
static_assert(offsetof(struct uvm_register_gpu_params, rmStatus) == 36);

struct uvm_migrate_params {
	u64 base;
	u64 length;
	u8 destinationUuid[16];
	u32 flags;
	u64 semaphoreAddress;
	u32 semaphorePayload;
	s32 cpuNumaNode;
	u64 userSpaceStart;
	u64 userSpaceLength;
	u32 rmStatus;
};
static_assert(offsetof(struct uvm_migrate_params, rmStatus) == 72);
static_assert(sizeof(struct uvm_migrate_params) == 80);

#endif
