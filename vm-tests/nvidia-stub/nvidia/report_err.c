// SPDX-License-Identifier: MIT OR GPL-2.0
/* nv_report_error, through which every Xid of the driver passes. */
#include <linux/kernel.h>
#include <linux/slab.h>

#include "nv-stub.h"

#ifndef NVIDIA_STUB_FRONTEND
#define CREATE_TRACE_POINTS
#include "nv-tracepoint.h"
#endif

/*
 * `dev` is NULL for a GPU of the stub without PCI device. The message is that of the error alone, with
 * no pid or MIG instance. Drivers before 575.51.02 had no tracepoint to hand it to.
 */
NV_STUB_TRACED
void nv_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap)
{
	char *text = kvasprintf(GFP_KERNEL, format, ap);

	if (!text)
		return;
#ifndef NVIDIA_STUB_FRONTEND
	trace_nvidia_dev_xid(dev, error_number, text);
#endif
	kfree(text);
}
