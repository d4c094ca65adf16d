/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What nvidia_uvm takes from nvidia: the rules that tests set, and the counters. */
#ifndef NV_STUB_SHARED_H
#define NV_STUB_SHARED_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * A function that tracers attach to by name: it must exist once, under exactly that name, and be
 * called.
 */
#define NV_STUB_TRACED	noinline __used __noclone

/* Numbers of the device nodes in the counters: a GPU's minor, or one of these. */
#define NV_STUB_NODE_CTL	255
#define NV_STUB_NODE_UVM	256

/* What was answered. */
enum nv_stub_op {
	NV_STUB_OP_OPEN,
	NV_STUB_OP_CLOSE,
	NV_STUB_OP_RM_CONTROL,		/* code: control command */
	NV_STUB_OP_RM_ALLOC,		/* code: class */
	NV_STUB_OP_RM_FREE,
	NV_STUB_OP_CARD_INFO,
	NV_STUB_OP_CHECK_VERSION_STR,
	NV_STUB_OP_SYS_PARAMS,
	NV_STUB_OP_UVM,			/* code: UVM call number */
	NV_STUB_OP_ERRNO,		/* code: ioctl number, status: errno */
};

void nv_stub_count(u16 node, enum nv_stub_op op, u32 code, u32 status);
bool nv_stub_take_status(u32 code, u32 *status);
void nv_stub_pause(u32 nr);

#endif
