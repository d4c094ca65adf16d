/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * What ebpf/abi says in Rust, for the programs in C. Sizes and offsets are asserted on both sides.
 */
#ifndef GTRACE_ABI_H
#define GTRACE_ABI_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

/* RecordType::Xid */
#define RECORD_XID 7
/* Counter::EventRingFull, Counter::FieldReadFailed: places in the map COUNTERS */
#define COUNTER_EVENT_RING_FULL 1
#define COUNTER_FIELD_READ_FAILED 5

struct header {
	u32 kind;
	u32 cpu;
	u64 boottime_ns;
	u32 tgid;
	u32 tid;
};

struct xid_record {
	struct header header;
	u32 code;
	u32 tracepoint;
	char device[32];
	char comm[16];
	char text[256];
};

_Static_assert(sizeof(struct header) == 24, "gtrace_abi::Header");
_Static_assert(sizeof(struct xid_record) == 24 + 8 + 32 + 16 + 256, "gtrace_abi::XidRecord");

#endif
