// What the kernels share: clang's names for the special registers and for the address spaces.
#ifndef COMMON_H
#define COMMON_H

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

#if __clang_major__ >= 21
#define KERNEL __attribute__((device_kernel))
#else
#define KERNEL __attribute__((nvptx_kernel))
#endif
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))
#define NOINLINE __attribute__((noinline))

#define TID __nvvm_read_ptx_sreg_tid_x()
#define TID_Y __nvvm_read_ptx_sreg_tid_y()
#define NTID __nvvm_read_ptx_sreg_ntid_x()
#define CTAID __nvvm_read_ptx_sreg_ctaid_x()
#define CTAID_Y __nvvm_read_ptx_sreg_ctaid_y()
#define NCTAID __nvvm_read_ptx_sreg_nctaid_x()
#define INDEX (CTAID * NTID + TID)
#define BARRIER() __syncthreads()



#endif
