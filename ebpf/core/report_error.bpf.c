// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
/*
 * nv_report_error(struct pci_dev *, u32 error_number, const char *format, va_list): every Xid passes
 * through this function of the NVIDIA driver, also those that its log level keeps out of the kernel
 * log. Which GPU it is stands in struct pci_dev, whose layout differs between kernels: hence C, with
 * relocations that the loader resolves (CO-RE), which rustc cannot emit.
 *
 * The text is not read: it would have to be formatted from a va_list.
 */
#include "abi.h"

#define SEC(name) __attribute__((section(name), used))
#define relocated __attribute__((preserve_access_index))

/* linux/bpf.h */
enum {
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_get_current_comm)(void *buffer, u32 size) = (void *)16;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static long (*const bpf_probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*const bpf_probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;
static u64 (*const bpf_ktime_get_boot_ns)(void) = (void *)125;
static long (*const bpf_ringbuf_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
static u64 (*const bpf_ringbuf_query)(void *ring, u64 flags) = (void *)134;

/* The parts of kernel structures that are read. */
struct kobject {
	const char *name;
} relocated;

struct device {
	struct kobject kobj;
} relocated;

struct pci_dev {
	struct device dev;
} relocated;

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di;
	unsigned long si;
} relocated;
#define FIRST(ctx) ((ctx)->di)
#define SECOND(ctx) ((ctx)->si)
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	u64 regs[31];
} relocated;
#define pt_regs user_pt_regs
#define FIRST(ctx) ((ctx)->regs[0])
#define SECOND(ctx) ((ctx)->regs[1])
#else
#error "the registers that hold arguments are known for x86 and arm64 only"
#endif

/* Both maps are those of the other programs: the loader puts their descriptors in. */
struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[4096];
} EVENTS SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	u64 *value;
} COUNTERS SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct xid_record *value;
} CORE_SCRATCH SEC(".maps");

static inline void count(u32 counter)
{
	u64 *value = bpf_map_lookup_elem(&COUNTERS, &counter);

	if (value)
		*value += 1;
}

SEC("kprobe")
int report_error(struct pt_regs *ctx)
{
	const struct pci_dev *device = (const void *)FIRST(ctx);
	u32 zero = 0;
	struct xid_record *record = bpf_map_lookup_elem(&CORE_SCRATCH, &zero);
	u64 pid_tgid = bpf_get_current_pid_tgid();
	const char *name = 0;
	u64 flags = BPF_RB_NO_WAKEUP;

	if (!record)
		return 0;
	record->header.kind = RECORD_XID;
	record->header.cpu = bpf_get_smp_processor_id();
	record->header.boottime_ns = bpf_ktime_get_boot_ns();
	record->header.tgid = pid_tgid >> 32;
	record->header.tid = (u32)pid_tgid;
	record->code = (u32)SECOND(ctx);
	record->tracepoint = 0;
	record->device[0] = 0;
	record->text[0] = 0;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	/* The driver reports some errors without a device; the code is worth telling all the same. */
	if (device) {
		const void *from = __builtin_preserve_access_index(&device->dev.kobj.name);

		if (bpf_probe_read_kernel(&name, sizeof(name), from) ||
		    bpf_probe_read_kernel_str(record->device, sizeof(record->device), name) < 0)
			count(COUNTER_FIELD_READ_FAILED);
	}
	if (bpf_ringbuf_query(&EVENTS, BPF_RB_AVAIL_DATA) == 0)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&EVENTS, record, sizeof(*record), flags))
		count(COUNTER_EVENT_RING_FULL);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
