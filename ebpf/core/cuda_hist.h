/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * Histograms of latencies, and failures by CUresult.
 */
#ifndef GTRACE_CUDA_HIST_H
#define GTRACE_CUDA_HIST_H

#include "cuda_maps.h"

/* hist.rs: bucket_of. */
inlined u32 bucket_of(u64 ns)
{
	u32 exponent = 0;
	u64 rest = ns;

	if (ns < (1ull << MIN_SHIFT))
		return 0;
	if (ns >= (1ull << MAX_SHIFT))
		return BUCKETS - 1;
	if (rest >> 32) {
		rest >>= 32;
		exponent += 32;
	}
	if (rest >> 16) {
		rest >>= 16;
		exponent += 16;
	}
	if (rest >> 8) {
		rest >>= 8;
		exponent += 8;
	}
	if (rest >> 4) {
		rest >>= 4;
		exponent += 4;
	}
	if (rest >> 2) {
		rest >>= 2;
		exponent += 2;
	}
	if (rest >> 1)
		exponent += 1;
	return ((exponent - MIN_SHIFT) << SUB_SHIFT) +
	       ((u32)(ns >> (exponent - SUB_SHIFT)) & (SUB - 1));
}

/* The histogram of a key, made if it is not there. */
inlined struct api_hist *hist_of(struct api_key *key)
{
	struct api_hist *hist = bpf_map_lookup_elem(&API_HISTS, key);
	u32 zero = 0;
	void *empty;

	if (hist)
		return hist;
	empty = bpf_map_lookup_elem(&API_EMPTY, &zero);
	if (!empty)
		return 0;
	/* Two threads may race to insert; either way it is there afterwards, or the map is full. */
	bpf_map_update_elem(&API_HISTS, key, empty, BPF_NOEXIST);
	hist = bpf_map_lookup_elem(&API_HISTS, key);
	if (hist)
		return hist;
	count(COUNT_HIST_KEYS_FULL);
	/* The loader has put these in: what is lost is whose the call was. */
	key->tgid = 0;
	hist = bpf_map_lookup_elem(&API_HISTS, key);
	if (hist)
		return hist;
	key->function = ~0u;
	return bpf_map_lookup_elem(&API_HISTS, key);
}

inlined void count_failure(struct api_key *call, u32 result)
{
	struct api_failure_key key = { .call = *call, .result = result };
	u64 *failures = bpf_map_lookup_elem(&API_FAILURES, &key);
	u64 zero = 0;

	if (!failures) {
		bpf_map_update_elem(&API_FAILURES, &key, &zero, BPF_NOEXIST);
		failures = bpf_map_lookup_elem(&API_FAILURES, &key);
	}
	if (failures)
		add(failures, 1);
	else
		count(COUNT_FAILURE_KEYS_FULL);
}

#endif
