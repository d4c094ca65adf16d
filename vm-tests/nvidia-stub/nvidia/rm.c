// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The resource manager's side of an ioctl. In the driver it lies in an object that was built without
 * the kernel's function tracing; Kbuild takes the same away from this file.
 */
#include <linux/atomic.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "nv-stub.h"

static u32 new_handle(u32 class)
{
	static atomic_t handles = ATOMIC_INIT(0);
	u32 serial = atomic_inc_return(&handles) & 0xfffff;

	switch (class) {
	case NV01_ROOT:
	case NV01_ROOT_NON_PRIV:
	case NV01_ROOT_CLIENT:
		return 0xc1d00000 | serial;
	default:
		return 0xcaf00000 | serial;
	}
}

static NV_STATUS alloc_memory(struct nv_file *file, const struct nvos_alloc *arg)
{
	struct nv_memory_allocation_params params;

	if (!arg->pAllocParms)
		return NV_ERR_INVALID_ARGUMENT;
	if (copy_from_user(&params, u64_to_user_ptr(arg->pAllocParms), sizeof(params)))
		return NV_ERR_INVALID_ADDRESS;
	return nv_vram_alloc(file, arg->hRoot, arg->hObjectNew, params.size);
}

static NV_STATUS rm_alloc(struct nv_file *file, void *kdata, u32 size)
{
	u32 status_offset = nv_stub_alloc_status_offset(size);
	struct nvos_alloc *arg = kdata;
	NV_STATUS status;

	if (!status_offset)
		return NV_ERR_INVALID_ARGUMENT;
	nv_stub_pause(NV_ESC_RM_ALLOC);
	if (!nv_stub_take_status(arg->hClass, &status)) {
		if (!arg->hObjectNew)
			arg->hObjectNew = new_handle(arg->hClass);
		status = arg->hClass == NV01_MEMORY_LOCAL_USER ? alloc_memory(file, arg) : NV_OK;
	}
	memcpy(kdata + status_offset, &status, sizeof(status));
	return NV_OK;
}

static NV_STATUS rm_control(struct nvos54 *arg, u32 size)
{
	if (size != sizeof(*arg))
		return NV_ERR_INVALID_ARGUMENT;
	nv_stub_pause(NV_ESC_RM_CONTROL);
	if (!nv_stub_take_status(arg->cmd, &arg->status))
		arg->status = NV_OK;
	return NV_OK;
}

static NV_STATUS rm_free(struct nv_file *file, struct nvos00 *arg, u32 size)
{
	if (size != sizeof(*arg))
		return NV_ERR_INVALID_ARGUMENT;
	nv_stub_pause(NV_ESC_RM_FREE);
	nv_vram_free(file, arg->hRoot, arg->hObjectOld);
	arg->status = NV_OK;
	return NV_OK;
}

/*
 * Answers a call whose argument is in kernel memory. NV_OK says that the call was understood; what
 * came of it stands in the argument's status, as in the driver's escape.c.
 */
NV_STUB_TRACED
NV_STATUS rm_ioctl(void *sp, void *nv, void *nvfp, u32 cmd, void *kdata, u32 size)
{
	switch (cmd) {
	case NV_ESC_RM_CONTROL:
		return rm_control(kdata, size);
	case NV_ESC_RM_ALLOC:
		return rm_alloc(nvfp, kdata, size);
	case NV_ESC_RM_FREE:
		return rm_free(nvfp, kdata, size);
	default:
		return NV_ERR_GENERIC;
	}
}
