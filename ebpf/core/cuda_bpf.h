/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * The kernel's helpers, and a call's registers.
 */
#ifndef GTRACE_CUDA_BPF_H
#define GTRACE_CUDA_BPF_H

#include "cuda_api.h"

#define SEC(name) __attribute__((section(name), used))
#define inlined static inline __attribute__((always_inline))

/* linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
					 u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_get_current_comm)(void *buffer, u32 size) = (void *)16;
static long (*const bpf_probe_read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*const bpf_probe_read_user_str)(void *to, u32 size, const void *from) = (void *)114;
static u64 (*const bpf_ktime_get_boot_ns)(void) = (void *)125;
static long (*const bpf_ringbuf_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *data, u64 flags) = (void *)132;
static u64 (*const bpf_ringbuf_query)(void *ring, u64 flags) = (void *)134;
static u64 (*const bpf_get_attach_cookie)(void *ctx) = (void *)174;

/* Only where there are sessions; the programs that do without are loaded all the same. */
extern bool bpf_session_is_return(void) __attribute__((section(".ksyms"), weak));
extern u64 *bpf_session_cookie(void) __attribute__((section(".ksyms"), weak));

/*
 * The verifier lets registers be read at constant offsets only; a compiler that may choose makes one
 * read of two, at an offset that depends.
 */
#define READ(place) (*(volatile unsigned long *)&(place))

/* asm/ptrace.h: what user space sees, the same in every kernel. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax,
		ip, cs, flags, sp, ss;
};
#define REGISTERS 6
#define ALL_ARGUMENTS(ctx)                                                            \
	{ READ(ctx->di), READ(ctx->si), READ(ctx->dx), READ(ctx->cx), READ(ctx->r8),   \
	  READ(ctx->r9) }
/* Above the return address. */
#define STACK_ARGUMENTS(ctx) (READ(ctx->sp) + 8)
#define ARGUMENTS(ctx) { READ(ctx->di), READ(ctx->si), READ(ctx->dx), READ(ctx->cx), READ(ctx->r8) }
#define RESULT(ctx) ((u32)(ctx)->ax)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	u64 regs[31];
	u64 sp;
};
#define REGISTERS 8
#define ALL_ARGUMENTS(ctx)                                                            \
	{ READ(ctx->regs[0]), READ(ctx->regs[1]), READ(ctx->regs[2]), READ(ctx->regs[3]), \
	  READ(ctx->regs[4]), READ(ctx->regs[5]), READ(ctx->regs[6]), READ(ctx->regs[7]) }
#define STACK_ARGUMENTS(ctx) READ(ctx->sp)
#define ARGUMENTS(ctx)                                                                \
	{ READ(ctx->regs[0]), READ(ctx->regs[1]), READ(ctx->regs[2]), READ(ctx->regs[3]), \
	  READ(ctx->regs[4]) }
#define RESULT(ctx) ((u32)(ctx)->regs[0])
#else
#error "the registers that hold arguments are known for x86 and arm64 only"
#endif

/* cuda.h: an answer of queries, not an error. */
#define CUDA_ERROR_NOT_READY 600

#endif
