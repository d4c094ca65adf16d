// Kernels for managed memory, as PTX: what is compiled from C has no managed variables.
#ifndef MANAGED_H
#define MANAGED_H

#include "common.h"

static const char managed_ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_counter = 5;\n"
    ".visible .global .attribute(.managed) .align 4 .b8 shared_text[9000];\n"
    ".visible .global .align 4 .u32 own_counter = 9;\n"
    // Adds `value` to each of `count` words.
    ".visible .entry add_each(.param .u64 words, .param .u32 count, .param .u32 value) {\n"
    "  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d0, [words]; ld.param.u32 %r0, [count]; ld.param.u32 %r1, [value];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p, %r5, %r0; @%p ret;\n"
    "  mul.wide.u32 %d1, %r5, 4; add.u64 %d2, %d0, %d1;\n"
    "  ld.global.u32 %r6, [%d2]; add.u32 %r6, %r6, %r1; st.global.u32 [%d2], %r6; ret; }\n"
    // Follows `next` (at 0) from `node` on, adds 1 to each `value` (at 8), and leaves the sum at `sum`.
    ".visible .entry walk(.param .u64 node, .param .u64 sum) {\n"
    "  .reg .pred %p; .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d0, [node]; ld.param.u64 %d1, [sum]; mov.u64 %d2, 0;\n"
    "more: setp.eq.u64 %p, %d0, 0; @%p bra done;\n"
    "  ld.u64 %d3, [%d0+8]; add.u64 %d2, %d2, %d3; add.u64 %d3, %d3, 1; st.u64 [%d0+8], %d3;\n"
    "  ld.u64 %d0, [%d0]; bra more;\n"
    "done: st.u64 [%d1], %d2; ret; }\n"
    // Adds 1 to the managed variable and to the other, and changes a byte of the managed array.
    ".visible .entry bump() {\n"
    "  .reg .b32 %r<4>;\n"
    "  ld.global.u32 %r0, [shared_counter]; add.u32 %r0, %r0, 1; st.global.u32 [shared_counter], %r0;\n"
    "  ld.global.u32 %r1, [own_counter]; add.u32 %r1, %r1, 1; st.global.u32 [own_counter], %r1;\n"
    "  mov.u32 %r2, 90; st.global.u8 [shared_text+8999], %r2; ret; }\n";

static inline CUmodule managed_module(void) {
    CUmodule module;
    CHECK(cuModuleLoadData(&module, managed_ptx));
    return module;
}

static inline void *managed(size_t bytes, unsigned flags) {
    CUdeviceptr address;
    CHECK(cuMemAllocManaged(&address, bytes, flags));
    return (void *)(uintptr_t)address;
}

static inline CUdeviceptr address_of(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
