/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * What ebpf/abi/src/api.rs, counter.rs and hist.rs say in Rust. Sizes are asserted on both sides; a test compares
 * the bucket arithmetic.
 */
#ifndef GTRACE_CUDA_API_H
#define GTRACE_CUDA_API_H

#include "abi.h"

typedef int s32;
typedef _Bool bool;

/* hist.rs */
#define MIN_SHIFT 6
#define MAX_SHIFT 34
#define SUB_SHIFT 5
#define SUB (1u << SUB_SHIFT)
#define BUCKETS ((MAX_SHIFT - MIN_SHIFT) * SUB)

#define API_FUNCTIONS 1024
#define API_LIBRARIES 32

struct api_key {
	u32 tgid;
	u32 function;
};

struct api_hist {
	u64 untimed;
	u64 errors;
	u64 bytes;
	u64 sum_ns;
	u64 max_ns;
	u64 buckets[BUCKETS];
};

struct api_failure_key {
	struct api_key call;
	u32 result;
};

/* ApiKind */
enum {
	KIND_PLAIN = 0,
	KIND_BYTES = 1,
	KIND_ALLOC = 2,
	KIND_ALLOC_PITCH = 3,
	KIND_FREE = 4,
	KIND_CREATE = 5,
	KIND_RELEASE = 6,
	KIND_RETAIN = 7,
	KIND_MAP = 8,
	KIND_UNMAP = 9,
	KIND_INFO = 10,
	KIND_COPY_2D = 11,
	KIND_COPY_3D = 12,
};

struct api_function {
	u32 kind;
	u32 size_arg;
	u32 times_arg;
	u32 shift;
	u32 time_every;
	u32 event_every;
	u32 given_arg;
	u32 given_bytes;
	u32 text_arg;
};

struct api_config {
	u64 slow_ns;
	u32 tgid;
	u32 memory_events;
	u32 error_events;
	u32 calls;
	u32 generations[API_LIBRARIES];
	u32 trap_ns[2];
};

struct api_start {
	u64 start_ns;
	u64 size;
	u64 address;
	u64 other;
	u64 known;
};

struct api_start_key {
	u64 pid_tgid;
	u64 called;
};

/* Of a probe's cookie: function and library. A library may pass a call on to the same function of another. */
#define CALLED(cookie) ((u32)(cookie) & (0xffff | (API_LIBRARIES - 1) << 16))

/* Space */
enum { SPACE_ALLOCATION = 0, SPACE_HANDLE = 1, SPACE_MAPPING = 2 };

struct memory_key {
	u64 address;
	u32 tgid;
	u32 space;
};

struct memory {
	u64 size;
	u64 handle;
	u32 refs;
	u32 maps;
};

struct ledger {
	u64 allocated;
	u64 freed;
	u64 live;
	u64 peak;
	u64 allocations;
	u64 frees;
	u64 failed_allocations;
	u64 failed_frees;
	u64 unknown_frees;
	u64 replaced;
	u64 forgotten;
	u64 device_total;
	u64 device_free;
	u64 live_then;
};

/* why */
enum { WHY_ERROR = 1, WHY_SLOW = 2, WHY_MEMORY = 4, WHY_SAMPLED = 8 };

struct api_record {
	struct header header;
	u64 latency_ns;
	u64 bytes;
	u64 address;
	u32 function;
	u32 result;
	u32 why;
	u32 reserved;
	char comm[16];
};

#define WORDS 9
#define TEXT 128
#define GIVEN 5

struct api_words {
	u64 words[WORDS];
};

struct api_call {
	struct header header;
	u64 start_ns;
	u64 end_ns;
	u64 bytes;
	u64 address;
	u32 function;
	u32 result;
	u64 words[WORDS];
	u64 given[GIVEN];
	char comm[16];
	char text[TEXT];
};

/* RecordType::Api */
#define RECORD_API 8
/* RecordType::ApiCall */
#define RECORD_API_CALL 9

/* ApiCounter */
enum {
	COUNT_RING_FULL,
	COUNT_SENT,
	COUNT_HIST_KEYS_FULL,
	COUNT_STARTS_FULL,
	COUNT_STARTS_UNSEEN,
	COUNT_FAILURE_KEYS_FULL,
	COUNT_LEDGERS_FULL,
	COUNT_MEMORY_FULL,
	COUNT_UNREADABLE,
	COUNTERS_END,
};

_Static_assert(sizeof(struct api_key) == 8, "gtrace_abi::ApiKey");
_Static_assert(sizeof(struct api_hist) == 40 + 8 * 896, "gtrace_abi::ApiHist");
_Static_assert(sizeof(struct api_failure_key) == 12, "gtrace_abi::ApiFailureKey");
_Static_assert(sizeof(struct api_function) == 36, "gtrace_abi::ApiFunction");
_Static_assert(sizeof(struct api_config) == 24 + 4 * 32 + 8, "gtrace_abi::ApiConfig");
_Static_assert(sizeof(struct api_start) == 40, "gtrace_abi::ApiStart");
_Static_assert(sizeof(struct api_start_key) == 16, "gtrace_abi::ApiStartKey");
_Static_assert(sizeof(struct memory_key) == 16, "gtrace_abi::MemoryKey");
_Static_assert(sizeof(struct memory) == 24, "gtrace_abi::Memory");
_Static_assert(sizeof(struct ledger) == 14 * 8, "gtrace_abi::Ledger");
_Static_assert(sizeof(struct api_record) == 80, "gtrace_abi::ApiRecord");
_Static_assert(sizeof(struct api_words) == 72, "gtrace_abi::ApiWords");
_Static_assert(sizeof(struct api_call) == 192 + TEXT, "gtrace_abi::ApiCall");

#endif
