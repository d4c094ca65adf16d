// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
/*
 * Calls into libcuda.so.1, by uprobes: one body for the three ways in which kernels offer them.
 * uprobe.session (Linux 6.13) keeps a word from a call's start to its end and can leave the end out;
 * uprobe.multi (6.6) and single uprobes find the start again in a table. aya-ebpf has no session
 * programs, hence C.
 */
#include "cuda_arguments.h"
#include "cuda_hist.h"

inlined void tell(u64 pid_tgid, u32 index, u32 result, u32 why, u64 latency_ns,
		  const struct api_start *start)
{
	struct api_record record = {
		.header = {
			.kind = RECORD_API,
			.cpu = bpf_get_smp_processor_id(),
			.boottime_ns = bpf_ktime_get_boot_ns(),
			.tgid = pid_tgid >> 32,
			.tid = (u32)pid_tgid,
		},
		.latency_ns = latency_ns,
		.bytes = start->size,
		.address = start->address,
		.function = index,
		.result = result,
		.why = why,
	};
	u64 flags = BPF_RB_NO_WAKEUP;

	bpf_get_current_comm(record.comm, sizeof(record.comm));
	/* The reader is woken for the first record after it has caught up, and then looks by itself. */
	if (bpf_ringbuf_query(&API_EVENTS, BPF_RB_AVAIL_DATA) == 0)
		flags = BPF_RB_FORCE_WAKEUP;
	count(bpf_ringbuf_output(&API_EVENTS, &record, sizeof(record), flags) ? COUNT_RING_FULL :
										  COUNT_SENT);
}

/* Keeps the arguments of a call until its end. */
inlined bool keep_words(struct pt_regs *ctx, u32 called)
{
	struct api_start_key key = { .pid_tgid = bpf_get_current_pid_tgid(), .called = called };
	struct api_words kept = { .words = ALL_ARGUMENTS(ctx) };

	/* A function of fewer arguments may be called with less of a stack. */
	bpf_probe_read_user(&kept.words[REGISTERS], 8 * (WORDS - REGISTERS),
			    (const void *)STACK_ARGUMENTS(ctx));
	return !bpf_map_update_elem(&API_WORDS, &key, &kept, BPF_ANY);
}

/* Tells of a call with its arguments. */
inlined void tell_call(u64 pid_tgid, u32 called, u32 result, u64 end_ns,
		       const struct api_start *start, const struct api_function *function)
{
	struct api_start_key key = { .pid_tgid = pid_tgid, .called = called };
	struct api_words *kept = bpf_map_lookup_elem(&API_WORDS, &key);
	u32 text = function->text_arg, given = function->given_arg, size = function->given_bytes;
	u64 flags = BPF_RB_NO_WAKEUP;
	struct api_call *call;
	char *place = 0;

	if (!kept) {
		count(COUNT_STARTS_UNSEEN);
		return;
	}
	if (text) {
		call = bpf_ringbuf_reserve(&API_EVENTS, sizeof(*call), 0);
		if (call)
			place = call->text;
	} else {
		call = bpf_ringbuf_reserve(&API_EVENTS, __builtin_offsetof(struct api_call, text), 0);
	}
	if (!call) {
		count(COUNT_RING_FULL);
		bpf_map_delete_elem(&API_WORDS, &key);
		return;
	}
	call->header = (struct header){
		.kind = RECORD_API_CALL,
		.cpu = bpf_get_smp_processor_id(),
		.boottime_ns = bpf_ktime_get_boot_ns(),
		.tgid = pid_tgid >> 32,
		.tid = (u32)pid_tgid,
	};
	call->start_ns = start->start_ns;
	call->end_ns = end_ns;
	call->bytes = start->size;
	call->address = start->address;
	call->function = called & 0xffff;
	call->result = result;
	for (int i = 0; i < WORDS; i++)
		call->words[i] = kept->words[i];
	for (int i = 0; i < GIVEN; i++)
		call->given[i] = 0;
	if (given && given <= WORDS && size && size <= sizeof(call->given) &&
	    bpf_probe_read_user(call->given, size, (const void *)kept->words[given - 1]))
		count(COUNT_UNREADABLE);
	if (place) {
		u32 at = text - 1;

		place[0] = 0;
		/* Verifiers before 6.8 do not see that it is not below 0, so it is compared as it is used. */
		asm volatile("" : "+r"(at));
		if (at < WORDS &&
		    bpf_probe_read_user_str(place, TEXT, (const void *)kept->words[at]) < 0)
			count(COUNT_UNREADABLE);
	}
	bpf_get_current_comm(call->comm, sizeof(call->comm));
	bpf_map_delete_elem(&API_WORDS, &key);
	if (bpf_ringbuf_query(&API_EVENTS, BPF_RB_AVAIL_DATA) == 0)
		flags = BPF_RB_FORCE_WAKEUP;
	bpf_ringbuf_submit(call, flags);
	count(COUNT_SENT);
}

/*
 * A call begins. Answers whether its end matters; `start` is filled in if so.
 */
inlined bool begins(struct pt_regs *ctx, u32 *called, struct api_start *start, bool *arguments)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 tgid = pid_tgid >> 32;
	u32 zero = 0;
	struct api_config *config = bpf_map_lookup_elem(&API_CONFIG, &zero);
	struct api_function *function;
	u32 index = cookie & 0xffff;

	*called = CALLED(cookie);
	if (!config ||
	    (u32)(cookie >> 32) != config->generations[(cookie >> 16) & (API_LIBRARIES - 1)])
		return 0;
	if (config->tgid && config->tgid != tgid)
		return 0;
	function = bpf_map_lookup_elem(&API_TABLE, &index);
	if (!function)
		return 0;
	if (function->time_every > 1 && bpf_get_prandom_u32() % function->time_every) {
		struct api_key key = { .tgid = tgid, .function = index };
		struct api_hist *hist = hist_of(&key);

		if (hist)
			add(&hist->untimed, 1);
		return 0;
	}
	*arguments = has_arguments(function);
	if (*arguments)
		read_arguments(ctx, function, tgid, start);
	if (config->calls) {
		if (!keep_words(ctx, *called)) {
			count(COUNT_STARTS_FULL);
			return 0;
		}
		*arguments = 1;
	}
	start->start_ns = bpf_ktime_get_ns();
	return 1;
}

/* What a call took, without what its probes add between the two clocks; a nanosecond at least. */
inlined u64 took(struct api_config *config, u64 cookie, u64 between)
{
	u64 trap = config->trap_ns[(cookie >> 31) & 1];

	return between > trap ? between - trap : 1;
}

/* A call has ended. */
inlined void ends(struct pt_regs *ctx, u64 cookie, struct api_start *start)
{
	u64 now = bpf_ktime_get_ns();
	u32 index = cookie & 0xffff;
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct api_key key = { .tgid = pid_tgid >> 32, .function = index };
	u32 result = RESULT(ctx);
	bool failed = result != 0 && result != CUDA_ERROR_NOT_READY;
	struct api_function *function = bpf_map_lookup_elem(&API_TABLE, &index);
	u32 zero = 0;
	struct api_config *config = bpf_map_lookup_elem(&API_CONFIG, &zero);
	struct api_hist *hist;
	bool of_memory;
	u64 latency;
	u32 bucket;
	u32 why = 0;

	if (!function || !config)
		return;
	latency = took(config, cookie, now - start->start_ns);
	of_memory = keep_books(key.tgid, function->kind, failed, start);
	hist = hist_of(&key);
	if (hist) {
		bucket = bucket_of(latency);
		if (bucket < BUCKETS)
			add(&hist->buckets[bucket], 1);
		add(&hist->sum_ns, latency);
		raise_to(&hist->max_ns, latency);
		if (failed)
			add(&hist->errors, 1);
		else if (start->size)
			add(&hist->bytes, start->size);
	}
	if (failed)
		count_failure(&key, result);
	if (config->calls) {
		tell_call(pid_tgid, CALLED(cookie), result, start->start_ns + latency, start, function);
		return;
	}
	if (failed) {
		if (config->error_events)
			why |= WHY_ERROR;
	}
	if (config->slow_ns && latency >= config->slow_ns)
		why |= WHY_SLOW;
	if (of_memory && config->memory_events)
		why |= WHY_MEMORY;
	if (function->event_every == 1 ||
	    (function->event_every && !(bpf_get_prandom_u32() % function->event_every)))
		why |= WHY_SAMPLED;
	if (why)
		tell(pid_tgid, index, result, why, latency, start);
}

/* Keeps a start until the end. */
inlined bool keep(u32 called, struct api_start *start)
{
	struct api_start_key key = { .pid_tgid = bpf_get_current_pid_tgid(), .called = called };

	if (!bpf_map_update_elem(&API_STARTS, &key, start, BPF_ANY))
		return 1;
	count(COUNT_STARTS_FULL);
	return 0;
}

inlined bool kept(u32 called, struct api_start *start)
{
	struct api_start_key key = { .pid_tgid = bpf_get_current_pid_tgid(), .called = called };
	struct api_start *found = bpf_map_lookup_elem(&API_STARTS, &key);

	if (!found)
		return 0;
	*start = *found;
	bpf_map_delete_elem(&API_STARTS, &key);
	return 1;
}

/* In the word of a session: the call's arguments are in the table. No clock reaches that far. */
#define ARGUMENTS_KEPT (1ull << 63)

SEC("uprobe.session")
int cuda_session(struct pt_regs *ctx)
{
	struct api_start start = {};
	u64 *word = bpf_session_cookie();
	bool arguments = 0;
	u32 called = 0;
	u64 cookie;

	if (!bpf_session_is_return()) {
		/* 1 leaves the end of this call alone. */
		if (!begins(ctx, &called, &start, &arguments))
			return 1;
		*word = start.start_ns | (arguments ? ARGUMENTS_KEPT : 0);
		return arguments && !keep(called, &start);
	}
	cookie = bpf_get_attach_cookie(ctx);
	start.start_ns = *word & ~ARGUMENTS_KEPT;
	if ((*word & ARGUMENTS_KEPT) && !kept(CALLED(cookie), &start)) {
		count(COUNT_STARTS_UNSEEN);
		return 0;
	}
	ends(ctx, cookie, &start);
	return 0;
}

inlined int pair_begins(struct pt_regs *ctx)
{
	struct api_start start = {};
	bool arguments = 0;
	u32 called = 0;

	if (begins(ctx, &called, &start, &arguments))
		keep(called, &start);
	return 0;
}

inlined int pair_ends(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	struct api_start start;

	if (kept(CALLED(cookie), &start))
		ends(ctx, cookie, &start);
	return 0;
}

SEC("uprobe.multi")
int cuda_multi(struct pt_regs *ctx)
{
	return pair_begins(ctx);
}

SEC("uretprobe.multi")
int cuda_multi_end(struct pt_regs *ctx)
{
	return pair_ends(ctx);
}

SEC("uprobe")
int cuda_single(struct pt_regs *ctx)
{
	return pair_begins(ctx);
}

SEC("uretprobe")
int cuda_single_end(struct pt_regs *ctx)
{
	return pair_ends(ctx);
}

/*
 * What any tracer pays that is reported about a call's start and end: nothing but the kernel's traps, and with a
 * look at the clock each time. They measure, and count nothing.
 */
SEC("uprobe.session")
int cuda_empty(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

SEC("uprobe.session")
int cuda_clock(struct pt_regs *ctx)
{
	u64 *word = bpf_session_cookie();
	u64 now = bpf_ktime_get_ns();

	(void)ctx;
	*word = bpf_session_is_return() ? now - *word : now;
	return 0;
}

/* For the test that the arithmetic is that of user space: replaces a value by its bucket. */
struct bucket_query {
	u64 value;
};

SEC("syscall")
int cuda_bucket(struct bucket_query *query)
{
	query->value = bucket_of(query->value);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
