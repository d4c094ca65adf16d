/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * What the programs of CUDA calls keep. Programs of uprobes can be preempted, so that what is
 * counted is counted by atomic instructions everywhere.
 */
#ifndef GTRACE_CUDA_MAPS_H
#define GTRACE_CUDA_MAPS_H

#include "cuda_bpf.h"

/* All sizes are the loader's to change. */
struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct api_config *value;
} API_CONFIG SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[API_FUNCTIONS];
	u32 *key;
	struct api_function *value;
} API_TABLE SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[2048];
	struct api_key *key;
	struct api_hist *value;
} API_HISTS SEC(".maps");

/* A histogram of nothing, which is too large for the stack. */
struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct api_hist *value;
} API_EMPTY SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[2048];
	struct api_failure_key *key;
	u64 *value;
} API_FAILURES SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[8192];
	struct api_start_key *key;
	struct api_start *value;
} API_STARTS SEC(".maps");

/* Arguments of calls under way, where every call is reported. */
struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[1];
	struct api_start_key *key;
	struct api_words *value;
} API_WORDS SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[32768];
	struct memory_key *key;
	struct memory *value;
} API_MEMORY SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[1024];
	u32 *key;
	struct ledger *value;
} API_LEDGERS SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[COUNTERS_END];
	u32 *key;
	u64 *value;
} API_COUNTERS SEC(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 20];
} API_EVENTS SEC(".maps");

inlined void add(u64 *to, u64 n)
{
	__sync_fetch_and_add(to, n);
}

inlined void raise_to(u64 *to, u64 n)
{
	u64 seen = *(volatile u64 *)to;

	/* Bounded for the verifier: four lost races in a row leave a maximum that others just raised. */
	for (int i = 0; i < 4 && n > seen; i++) {
		u64 found = __sync_val_compare_and_swap(to, seen, n);

		if (found == seen)
			return;
		seen = found;
	}
}

inlined void count(u32 counter)
{
	u64 *value = bpf_map_lookup_elem(&API_COUNTERS, &counter);

	if (value)
		add(value, 1);
}

inlined bool read_user(void *to, u32 size, u64 from)
{
	if (!bpf_probe_read_user(to, size, (const void *)from))
		return 1;
	count(COUNT_UNREADABLE);
	return 0;
}

#endif
