// The part of the CUDA driver API that does several things of a kind at once, for driver.h.
#ifndef BATCHES_H
#define BATCHES_H

// CUmemcpyAttributes: orders 1 of the stream, 2 during the call, 3 whenever.
typedef struct {
    unsigned source_order;
    CUmemLocation source, target;
    unsigned flags;
} CUmemcpyAttributes;
// CUstreamBatchMemOpParams, a union of 48 bytes: operations 1 and 4 wait for words of 32 and 64 bits, 2 and 5 write them,
// 6 is a barrier.
typedef struct {
    unsigned operation, pad;
    CUdeviceptr address;
    uint64_t value;
    unsigned flags, pad2;
    CUdeviceptr alias;
    uint64_t pad3;
} CUstreamBatchMemOpParams;

#define cuStreamBatchMemOp cuStreamBatchMemOp_v2
#define cuStreamWaitValue32 cuStreamWaitValue32_v2
#define cuStreamWaitValue64 cuStreamWaitValue64_v2
#define cuStreamWriteValue32 cuStreamWriteValue32_v2
#define cuStreamWriteValue64 cuStreamWriteValue64_v2

#ifndef STUB
#pragma weak cuMemcpyBatchAsync // since CUDA 12.8
#pragma weak cuMemcpyBatchAsync_v2 // since CUDA 13.0
#pragma weak cuMemPrefetchBatchAsync
#pragma weak cuMemDiscardBatchAsync
#pragma weak cuMemDiscardAndPrefetchBatchAsync
#endif
FUNCTION(cuMemcpyBatchAsync, CUdeviceptr *targets, CUdeviceptr *sources, size_t *sizes, size_t count,
         CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count, size_t *failed, CUstream stream)
FUNCTION(cuMemcpyBatchAsync_v2, CUdeviceptr *targets, CUdeviceptr *sources, size_t *sizes, size_t count,
         CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count, CUstream stream)
FUNCTION(cuMemPrefetchBatchAsync, CUdeviceptr *addresses, size_t *sizes, size_t count, CUmemLocation *places,
         size_t *firsts, size_t place_count, uint64_t flags, CUstream stream)
FUNCTION(cuMemDiscardBatchAsync, CUdeviceptr *addresses, size_t *sizes, size_t count, uint64_t flags, CUstream stream)
FUNCTION(cuMemDiscardAndPrefetchBatchAsync, CUdeviceptr *addresses, size_t *sizes, size_t count, CUmemLocation *places,
         size_t *firsts, size_t place_count, uint64_t flags, CUstream stream)
FUNCTION(cuStreamBatchMemOp, CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags)
FUNCTION(cuStreamWaitValue32, CUstream stream, CUdeviceptr address, unsigned value, unsigned flags)
FUNCTION(cuStreamWaitValue64, CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags)
FUNCTION(cuStreamWriteValue32, CUstream stream, CUdeviceptr address, unsigned value, unsigned flags)
FUNCTION(cuStreamWriteValue64, CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags)

#endif
