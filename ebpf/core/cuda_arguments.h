/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0 */
/*
 * What a call's arguments say.
 */
#ifndef GTRACE_CUDA_ARGUMENTS_H
#define GTRACE_CUDA_ARGUMENTS_H

#include "cuda_ledger.h"

/* One of a call's arguments, counted from 1; 0 for none. */
inlined u64 argument(const u64 *arguments, u32 number)
{
	switch (number) {
	case 1:
		return arguments[0];
	case 2:
		return arguments[1];
	case 3:
		return arguments[2];
	case 4:
		return arguments[3];
	case 5:
		return arguments[4];
	default:
		return 0;
	}
}

/* Whether a call's arguments are needed when it ends. */
inlined bool has_arguments(const struct api_function *function)
{
	return function->kind != KIND_PLAIN;
}

inlined void read_arguments(struct pt_regs *ctx, const struct api_function *function, u32 tgid,
			    struct api_start *start)
{
	const u64 arguments[5] = ARGUMENTS(ctx);
	u64 extent[3];

	start->address = arguments[0];
	switch (function->kind) {
	case KIND_BYTES:
		start->size = argument(arguments, function->size_arg);
		if (function->times_arg)
			start->size *= argument(arguments, function->times_arg);
		start->size <<= function->shift & 63;
		break;
	case KIND_ALLOC:
	case KIND_CREATE:
	case KIND_UNMAP:
		start->size = arguments[1];
		break;
	case KIND_ALLOC_PITCH:
		start->other = arguments[1];
		start->size = arguments[3];
		break;
	case KIND_FREE:
		take(tgid, start);
		break;
	case KIND_MAP:
		start->size = arguments[1];
		start->other = arguments[3];
		break;
	case KIND_INFO:
		start->other = arguments[1];
		break;
	/* CUDA_MEMCPY2D: WidthInBytes, Height. CUDA_MEMCPY3D: and Depth. */
	case KIND_COPY_2D:
		if (read_user(extent, 16, arguments[0] + 112))
			start->size = extent[0] * extent[1];
		break;
	case KIND_COPY_3D:
		if (read_user(extent, 24, arguments[0] + 176))
			start->size = extent[0] * extent[1] * extent[2];
		break;
	}
}

#endif
