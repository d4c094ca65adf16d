/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * The tracked allocations of device memory.
 */
#ifndef GTRACE_CUDA_LEDGER_H
#define GTRACE_CUDA_LEDGER_H

#include "cuda_maps.h"

inlined struct ledger *ledger_of(u32 tgid)
{
	struct ledger *ledger = bpf_map_lookup_elem(&API_LEDGERS, &tgid);
	struct ledger empty = {};

	if (ledger)
		return ledger;
	bpf_map_update_elem(&API_LEDGERS, &tgid, &empty, BPF_NOEXIST);
	ledger = bpf_map_lookup_elem(&API_LEDGERS, &tgid);
	if (!ledger)
		count(COUNT_LEDGERS_FULL);
	return ledger;
}

/*
 * What is given back is taken out of the table before the driver gives it back: afterwards another
 * thread may already have been given the same address.
 */
inlined void take(u32 tgid, struct api_start *start)
{
	struct memory_key key = { .address = start->address, .tgid = tgid, .space = SPACE_ALLOCATION };
	struct memory *memory = bpf_map_lookup_elem(&API_MEMORY, &key);

	if (!memory)
		return;
	start->size = memory->size;
	start->known = bpf_map_delete_elem(&API_MEMORY, &key) == 0;
}

inlined void grown(struct ledger *ledger, u64 size)
{
	u64 live;

	add(&ledger->allocated, size);
	add(&ledger->allocations, 1);
	live = __sync_fetch_and_add(&ledger->live, size) + size;
	/* Frees that were counted before their allocations would make it wrap. */
	if ((long long)live > 0)
		raise_to(&ledger->peak, live);
}

inlined void shrunk(struct ledger *ledger, u64 size)
{
	add(&ledger->freed, size);
	add(&ledger->live, -size);
}

inlined void remember(struct ledger *ledger, struct memory_key *key, struct memory *memory)
{
	struct memory *before = bpf_map_lookup_elem(&API_MEMORY, key);

	if (before) {
		shrunk(ledger, before->size);
		add(&ledger->replaced, 1);
	}
	if (bpf_map_update_elem(&API_MEMORY, key, memory, BPF_ANY)) {
		add(&ledger->forgotten, 1);
		count(COUNT_MEMORY_FULL);
	}
}

/* Physical memory is given back when nothing refers to it and nothing maps it any more. */
inlined u64 gone(struct ledger *ledger, struct memory_key *key, struct memory *memory)
{
	u64 size = memory->size;

	if (*(volatile u32 *)&memory->refs || *(volatile u32 *)&memory->maps)
		return 0;
	if (bpf_map_delete_elem(&API_MEMORY, key))
		return 0;
	shrunk(ledger, size);
	add(&ledger->frees, 1);
	return size;
}

inlined void allocated(struct ledger *ledger, u32 tgid, u32 kind, struct api_start *start)
{
	struct memory_key key = { .tgid = tgid, .space = SPACE_ALLOCATION };
	struct memory memory = {};
	u64 pitch;

	if (!read_user(&key.address, 8, start->address))
		return;
	if (kind == KIND_ALLOC_PITCH) {
		if (!read_user(&pitch, 8, start->other))
			return;
		start->size *= pitch;
	}
	if (kind == KIND_CREATE) {
		key.space = SPACE_HANDLE;
		memory.refs = 1;
	}
	memory.size = start->size;
	start->address = key.address;
	grown(ledger, start->size);
	remember(ledger, &key, &memory);
}

inlined void freed(struct ledger *ledger, struct api_start *start)
{
	if (start->known) {
		shrunk(ledger, start->size);
		add(&ledger->frees, 1);
	} else if (start->address) {
		add(&ledger->unknown_frees, 1);
	}
}

/* A free that failed has freed nothing: what was taken out goes back. */
inlined void not_freed(struct ledger *ledger, u32 tgid, struct api_start *start)
{
	struct memory_key key = { .address = start->address, .tgid = tgid, .space = SPACE_ALLOCATION };
	struct memory memory = { .size = start->size };

	add(&ledger->failed_frees, 1);
	if (start->known)
		bpf_map_update_elem(&API_MEMORY, &key, &memory, BPF_NOEXIST);
	start->size = 0;
}

inlined void released(struct ledger *ledger, u32 tgid, struct api_start *start)
{
	struct memory_key key = { .address = start->address, .tgid = tgid, .space = SPACE_HANDLE };
	struct memory *memory = bpf_map_lookup_elem(&API_MEMORY, &key);

	if (!memory) {
		add(&ledger->unknown_frees, 1);
		return;
	}
	__sync_fetch_and_add(&memory->refs, -1);
	start->size = gone(ledger, &key, memory);
}

inlined void retained(u32 tgid, struct api_start *start)
{
	struct memory_key key = { .tgid = tgid, .space = SPACE_HANDLE };
	struct memory *memory;

	if (!read_user(&key.address, 8, start->address))
		return;
	memory = bpf_map_lookup_elem(&API_MEMORY, &key);
	if (memory)
		__sync_fetch_and_add(&memory->refs, 1);
}

inlined void mapped(struct ledger *ledger, u32 tgid, struct api_start *start)
{
	struct memory_key handle = { .address = start->other, .tgid = tgid, .space = SPACE_HANDLE };
	struct memory_key key = { .address = start->address, .tgid = tgid, .space = SPACE_MAPPING };
	struct memory mapping = { .size = start->size, .handle = start->other };
	struct memory *memory = bpf_map_lookup_elem(&API_MEMORY, &handle);

	if (!memory)
		return;
	if (bpf_map_update_elem(&API_MEMORY, &key, &mapping, BPF_ANY)) {
		add(&ledger->forgotten, 1);
		count(COUNT_MEMORY_FULL);
		return;
	}
	__sync_fetch_and_add(&memory->maps, 1);
}

/* One call may unmap what several calls have mapped one after the other. */
#define MAPPINGS 64

inlined void unmapped(struct ledger *ledger, u32 tgid, struct api_start *start)
{
	struct memory_key key = { .address = start->address, .tgid = tgid, .space = SPACE_MAPPING };
	u64 left = start->size;

	for (int i = 0; i < MAPPINGS; i++) {
		struct memory *mapping = bpf_map_lookup_elem(&API_MEMORY, &key);
		struct memory_key handle = { .tgid = tgid, .space = SPACE_HANDLE };
		struct memory *memory;
		u64 size;

		if (!mapping)
			return;
		size = mapping->size;
		handle.address = mapping->handle;
		if (size == 0 || size > left)
			return;
		bpf_map_delete_elem(&API_MEMORY, &key);
		memory = bpf_map_lookup_elem(&API_MEMORY, &handle);
		if (memory) {
			__sync_fetch_and_add(&memory->maps, -1);
			gone(ledger, &handle, memory);
		}
		left -= size;
		key.address += size;
		if (!left)
			return;
	}
}

inlined void told_memory(struct ledger *ledger, struct api_start *start)
{
	u64 free_bytes, total;

	if (!start->address || !start->other || !read_user(&free_bytes, 8, start->address) ||
	    !read_user(&total, 8, start->other))
		return;
	ledger->live_then = *(volatile u64 *)&ledger->live;
	ledger->device_free = free_bytes;
	ledger->device_total = total;
}

/* Keeps the tracked allocations of device memory; whether the call was about it. */
inlined bool keep_books(u32 tgid, u32 kind, bool failed, struct api_start *start)
{
	struct ledger *ledger;

	if (kind < KIND_ALLOC || kind > KIND_INFO)
		return 0;
	ledger = ledger_of(tgid);
	if (!ledger)
		return 0;
	if (kind == KIND_ALLOC || kind == KIND_ALLOC_PITCH || kind == KIND_CREATE) {
		if (failed)
			add(&ledger->failed_allocations, 1);
		else
			allocated(ledger, tgid, kind, start);
		return 1;
	}
	if (kind == KIND_FREE) {
		if (failed)
			not_freed(ledger, tgid, start);
		else
			freed(ledger, start);
		return 1;
	}
	if (failed) {
		if (kind == KIND_RELEASE)
			add(&ledger->failed_frees, 1);
		return kind == KIND_RELEASE;
	}
	switch (kind) {
	case KIND_RELEASE:
		released(ledger, tgid, start);
		return 1;
	case KIND_RETAIN:
		retained(tgid, start);
		break;
	case KIND_MAP:
		mapped(ledger, tgid, start);
		break;
	case KIND_UNMAP:
		unmapped(ledger, tgid, start);
		break;
	case KIND_INFO:
		told_memory(ledger, start);
		break;
	}
	return 0;
}

#endif
