/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * nvidia:nvidia_dev_xid with the fields of the driver's own tracepoint (575.51.02 and later,
 * kernel-open/nvidia/nv-tracepoint.h). Unlike the driver's it bears a GPU without PCI device.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia

#if !defined(NV_STUB_TRACEPOINT_H) || defined(TRACE_HEADER_MULTI_READ)
#define NV_STUB_TRACEPOINT_H

#include <linux/pci.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

#ifndef NV_STUB_ASSIGN_STR
/* __assign_str takes the source from __string since 6.10. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define NV_STUB_ASSIGN_STR(field, source) __assign_str(field)
#else
#define NV_STUB_ASSIGN_STR(field, source) __assign_str(field, source)
#endif
#define NV_STUB_PCI_NAME(pdev) ((pdev) ? pci_name(pdev) : "(no PCI device)")
#endif

TRACE_EVENT(nvidia_dev_xid,
	TP_PROTO(const struct pci_dev *pdev, uint32_t error_code, const char *msg),
	TP_ARGS(pdev, error_code, msg),
	TP_STRUCT__entry(
		__string(dev, NV_STUB_PCI_NAME(pdev))
		__field(u32, error_code)
		__string(msg, msg)
	),
	TP_fast_assign(
		NV_STUB_ASSIGN_STR(dev, NV_STUB_PCI_NAME(pdev));
		__entry->error_code = error_code;
		NV_STUB_ASSIGN_STR(msg, msg);
	),
	TP_printk("Xid (PCI:%s): %u, %s", __get_str(dev), __entry->error_code, __get_str(msg))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nv-tracepoint
#include <trace/define_trace.h>
