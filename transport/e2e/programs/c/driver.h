// The part of the CUDA driver API that these programs use, declared from its public documentation.
// With STUB defined it is the definition of an empty library to link against, as the real one is only
// found at run time; FUNCTION is the only list of names.
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult, CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct library *CUlibrary;
typedef struct kernel *CUkernel;
typedef struct link *CUlinkState;
typedef struct pool *CUmemoryPool;
typedef struct { unsigned char bytes[16]; } CUuuid;
typedef void (*CUhostFn)(void *);
typedef void (*CUstreamCallback)(CUstream, CUresult, void *);

// CUDA_MEMCPY2D. Kinds of memory: 1 host, 2 device.
typedef struct {
    size_t source_x, source_y;
    unsigned source_kind;
    const void *source_host;
    CUdeviceptr source_device;
    void *source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    unsigned target_kind;
    void *target_host;
    CUdeviceptr target_device;
    void *target_array;
    size_t target_pitch;
    size_t width, height;
} CUDA_MEMCPY2D;

typedef struct { char bytes[64]; } CUipcMemHandle;
typedef struct { char bytes[64]; } CUipcEventHandle;
typedef uint64_t CUmemGenericAllocationHandle;
// Kinds of places: 1 a device.
typedef struct {
    int kind, number;
} CUmemLocation;
// CUDA_MEMCPY3D_PEER.
typedef struct {
    size_t source_x, source_y, source_z, source_level;
    unsigned source_kind;
    const void *source_host;
    CUdeviceptr source_device;
    void *source_array;
    CUcontext source_context;
    size_t source_pitch, source_height;
    size_t target_x, target_y, target_z, target_level;
    unsigned target_kind;
    void *target_host;
    CUdeviceptr target_device;
    void *target_array;
    CUcontext target_context;
    size_t target_pitch, target_height;
    size_t width, height, depth;
} CUDA_MEMCPY3D_PEER;
typedef struct {
    void *affinity;
    int affinity_count;
    void *graphics;
} CUctxCreateParams;
// Kinds of allocations: 1 pinned.
typedef struct {
    int kind, handle_types;
    CUmemLocation location;
    void *windows;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;
// Accesses: 0 none, 1 read, 3 read and write.
typedef struct {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;
// Kinds of allocations: 1 pinned.
typedef struct {
    int kind, handle_types;
    CUmemLocation location;
    void *windows;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
} CUmemAllocationProp;

enum {
    CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_FILE_NOT_FOUND = 301, CUDA_ERROR_INVALID_HANDLE = 400, CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_ILLEGAL_ADDRESS = 700,
};
enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEMHOSTALLOC_WRITECOMBINED = 4 };
enum { CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2 };
enum { CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4 };
enum { CU_DEVICE_CPU = -1, CU_DEVICE_INVALID = -2 };
enum { CU_MEM_ADVISE_SET_READ_MOSTLY = 1, CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2, CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
       CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4, CU_MEM_ADVISE_SET_ACCESSED_BY = 5 };
enum { CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
       CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2,
       CU_EVENT_INTERPROCESS = 4 };
enum { CU_JIT_INFO_LOG_BUFFER = 3, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4, CU_JIT_ERROR_LOG_BUFFER = 5,
       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };
enum { CU_JIT_INPUT_CUBIN = 0, CU_JIT_INPUT_PTX = 1 };
enum { CU_POINTER_ATTRIBUTE_CONTEXT = 1, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
       CU_POINTER_ATTRIBUTE_HOST_POINTER = 4, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6, CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
       CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12, CU_POINTER_ATTRIBUTE_MAPPED = 13, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
       CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17 };
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

// The documented header renames these functions in the same way.
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpy2D cuMemcpy2D_v2
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#define cuMemsetD8 cuMemsetD8_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuMemsetD2D32 cuMemsetD2D32_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuCtxCreate cuCtxCreate_v2
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuLinkAddFile cuLinkAddFile_v2
#define cuGetProcAddress cuGetProcAddress_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2

#ifdef STUB
#define FUNCTION(name, ...) __attribute__((visibility("default"))) CUresult name(void) { return 999; }
#else
#define FUNCTION(name, ...) extern CUresult name(__VA_ARGS__);
#endif

FUNCTION(cuInit, unsigned flags)
FUNCTION(cuDriverGetVersion, int *version)
FUNCTION(cuGetErrorName, CUresult error, const char **name)
FUNCTION(cuGetErrorString, CUresult error, const char **text)
FUNCTION(cuGetProcAddress, const char *symbol, void **function, int version, uint64_t flags, int *status)
FUNCTION(cuDeviceGet, CUdevice *device, int ordinal)
FUNCTION(cuDeviceGetCount, int *count)
FUNCTION(cuDeviceGetName, char *name, int length, CUdevice device)
FUNCTION(cuDeviceGetUuid, CUuuid *uuid, CUdevice device)
FUNCTION(cuDeviceTotalMem, size_t *bytes, CUdevice device)
FUNCTION(cuDeviceGetAttribute, int *value, int attribute, CUdevice device)
FUNCTION(cuDeviceGetPCIBusId, char *text, int length, CUdevice device)
FUNCTION(cuDeviceGetByPCIBusId, CUdevice *device, const char *text)
FUNCTION(cuDeviceCanAccessPeer, int *can, CUdevice device, CUdevice peer)
FUNCTION(cuDevicePrimaryCtxRetain, CUcontext *context, CUdevice device)
FUNCTION(cuDevicePrimaryCtxRelease, CUdevice device)
FUNCTION(cuDevicePrimaryCtxReset, CUdevice device)
FUNCTION(cuDevicePrimaryCtxSetFlags, CUdevice device, unsigned flags)
FUNCTION(cuDevicePrimaryCtxGetState, CUdevice device, unsigned *flags, int *active)
FUNCTION(cuCtxCreate, CUcontext *context, unsigned flags, CUdevice device)
FUNCTION(cuCtxDestroy, CUcontext context)
#ifndef STUB
#pragma weak cuCtxCreate_v4 // since CUDA 12.5
#endif
FUNCTION(cuCtxCreate_v4, CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device)
FUNCTION(cuCtxAttach, CUcontext *context, unsigned flags)
FUNCTION(cuCtxDetach, CUcontext context)
FUNCTION(cuProfilerStart, void)
FUNCTION(cuProfilerStop, void)
FUNCTION(cuCtxPushCurrent, CUcontext context)
FUNCTION(cuCtxPopCurrent, CUcontext *context)
FUNCTION(cuCtxSetCurrent, CUcontext context)
FUNCTION(cuCtxGetCurrent, CUcontext *context)
FUNCTION(cuCtxGetDevice, CUdevice *device)
FUNCTION(cuCtxSynchronize, void)
FUNCTION(cuCtxGetApiVersion, CUcontext context, unsigned *version)
FUNCTION(cuCtxGetLimit, size_t *value, int limit)
FUNCTION(cuCtxGetStreamPriorityRange, int *least, int *greatest)
FUNCTION(cuModuleLoad, CUmodule *module, const char *file)
FUNCTION(cuModuleLoadData, CUmodule *module, const void *image)
FUNCTION(cuModuleLoadDataEx, CUmodule *module, const void *image, unsigned count, int *options, void **values)
FUNCTION(cuModuleLoadFatBinary, CUmodule *module, const void *image)
FUNCTION(cuModuleGetLoadingMode, int *mode)
FUNCTION(cuModuleUnload, CUmodule module)
FUNCTION(cuModuleGetFunction, CUfunction *function, CUmodule module, const char *name)
FUNCTION(cuModuleGetGlobal, CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
FUNCTION(cuLibraryLoadData, CUlibrary *library, const void *code, int *jit, void **jit_values, unsigned jit_count,
         int *options, void **values, unsigned count)
FUNCTION(cuLibraryLoadFromFile, CUlibrary *library, const char *file, int *jit, void **jit_values, unsigned jit_count,
         int *options, void **values, unsigned count)
FUNCTION(cuLibraryUnload, CUlibrary library)
FUNCTION(cuLibraryGetKernel, CUkernel *kernel, CUlibrary library, const char *name)
FUNCTION(cuLibraryGetModule, CUmodule *module, CUlibrary library)
FUNCTION(cuLibraryGetGlobal, CUdeviceptr *address, size_t *size, CUlibrary library, const char *name)
FUNCTION(cuLibraryGetManaged, CUdeviceptr *address, size_t *size, CUlibrary library, const char *name)
FUNCTION(cuLibraryGetUnifiedFunction, void **function, CUlibrary library, const char *symbol)
FUNCTION(cuKernelGetFunction, CUfunction *function, CUkernel kernel)
FUNCTION(cuLinkCreate, unsigned count, int *options, void **values, CUlinkState *state)
FUNCTION(cuLinkAddData, CUlinkState state, int kind, void *data, size_t size, const char *name, unsigned count,
         int *options, void **values)
FUNCTION(cuLinkAddFile, CUlinkState state, int kind, const char *path, unsigned count, int *options, void **values)
FUNCTION(cuLinkComplete, CUlinkState state, void **image, size_t *size)
FUNCTION(cuLinkDestroy, CUlinkState state)
FUNCTION(cuFuncGetAttribute, int *value, int attribute, CUfunction function)
FUNCTION(cuFuncSetAttribute, CUfunction function, int attribute, int value)
#ifndef STUB
#pragma weak cuFuncGetParamInfo // since CUDA 12.4
#endif
FUNCTION(cuFuncGetParamInfo, CUfunction function, size_t index, size_t *offset, size_t *size)
FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, CUfunction function, int threads, size_t shared)
FUNCTION(cuLaunchKernel, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
         unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **parameters, void **extra)
// Launches of before CUDA 4.0.
FUNCTION(cuFuncSetBlockShape, CUfunction function, int x, int y, int z)
FUNCTION(cuFuncSetSharedSize, CUfunction function, unsigned bytes)
FUNCTION(cuParamSetSize, CUfunction function, unsigned bytes)
FUNCTION(cuParamSeti, CUfunction function, int offset, unsigned value)
FUNCTION(cuParamSetf, CUfunction function, int offset, float value)
FUNCTION(cuParamSetv, CUfunction function, int offset, void *value, unsigned bytes)
FUNCTION(cuLaunchGridAsync, CUfunction function, int width, int height, CUstream stream)
FUNCTION(cuLaunchHostFunc, CUstream stream, CUhostFn function, void *data)
FUNCTION(cuMemGetInfo, size_t *free, size_t *total)
FUNCTION(cuMemAlloc, CUdeviceptr *address, size_t bytes)
FUNCTION(cuMemAllocPitch, CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element)
FUNCTION(cuMemFree, CUdeviceptr address)
FUNCTION(cuMemAllocAsync, CUdeviceptr *address, size_t bytes, CUstream stream)
FUNCTION(cuMemFreeAsync, CUdeviceptr address, CUstream stream)
FUNCTION(cuMemAddressReserve, CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted, uint64_t flags)
FUNCTION(cuMemAddressFree, CUdeviceptr address, size_t bytes)
FUNCTION(cuMemCreate, CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, uint64_t flags)
FUNCTION(cuMemRelease, CUmemGenericAllocationHandle handle)
FUNCTION(cuMemExportToShareableHandle, void *shareable, CUmemGenericAllocationHandle handle, int kind, uint64_t flags)
FUNCTION(cuMemImportFromShareableHandle, CUmemGenericAllocationHandle *handle, void *shareable, int kind)
FUNCTION(cuMemMap, CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, uint64_t flags)
FUNCTION(cuMemUnmap, CUdeviceptr address, size_t bytes)
FUNCTION(cuMemSetAccess, CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count)
FUNCTION(cuMemGetAccess, uint64_t *flags, const CUmemLocation *location, CUdeviceptr address)
FUNCTION(cuMemGetAllocationGranularity, size_t *granularity, const CUmemAllocationProp *prop, int option)
FUNCTION(cuMemGetAllocationPropertiesFromHandle, CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
FUNCTION(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle *handle, void *address)
FUNCTION(cuIpcGetMemHandle, CUipcMemHandle *handle, CUdeviceptr address)
FUNCTION(cuIpcOpenMemHandle, CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
FUNCTION(cuIpcCloseMemHandle, CUdeviceptr address)
FUNCTION(cuIpcGetEventHandle, CUipcEventHandle *handle, CUevent event)
FUNCTION(cuIpcOpenEventHandle, CUevent *event, CUipcEventHandle handle)
FUNCTION(cuMemPoolCreate, CUmemoryPool *pool, const CUmemPoolProps *props)
FUNCTION(cuMemPoolDestroy, CUmemoryPool pool)
FUNCTION(cuMemPoolGetAttribute, CUmemoryPool pool, int attribute, void *value)
FUNCTION(cuMemPoolSetAttribute, CUmemoryPool pool, int attribute, void *value)
FUNCTION(cuMemPoolGetAccess, int *flags, CUmemoryPool pool, CUmemLocation *location)
FUNCTION(cuMemPoolSetAccess, CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
FUNCTION(cuMemPoolTrimTo, CUmemoryPool pool, size_t bytes)
FUNCTION(cuDeviceGetDefaultMemPool, CUmemoryPool *pool, CUdevice device)
FUNCTION(cuDeviceGetMemPool, CUmemoryPool *pool, CUdevice device)
FUNCTION(cuDeviceSetMemPool, CUdevice device, CUmemoryPool pool)
FUNCTION(cuMemAllocFromPoolAsync, CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream)
FUNCTION(cuCtxEnablePeerAccess, CUcontext peer, unsigned flags)
FUNCTION(cuCtxDisablePeerAccess, CUcontext peer)
FUNCTION(cuDeviceGetP2PAttribute, int *value, int attribute, CUdevice source, CUdevice target)
FUNCTION(cuMemcpyPeerAsync, CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context,
         size_t bytes, CUstream stream)
FUNCTION(cuMemcpy3DPeer, const CUDA_MEMCPY3D_PEER *copy)
FUNCTION(cuMemcpy3DPeerAsync, const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
#ifndef STUB
#pragma weak cuMemGetDefaultMemPool // since CUDA 13.0
#pragma weak cuMemGetMemPool
#pragma weak cuMemSetMemPool
#endif
FUNCTION(cuMemGetDefaultMemPool, CUmemoryPool *pool, CUmemLocation *location, int kind)
FUNCTION(cuMemGetMemPool, CUmemoryPool *pool, CUmemLocation *location, int kind)
FUNCTION(cuMemSetMemPool, CUmemLocation *location, int kind, CUmemoryPool pool)
FUNCTION(cuMemAllocManaged, CUdeviceptr *address, size_t bytes, unsigned flags)
FUNCTION(cuMemPrefetchAsync, CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
FUNCTION(cuMemAdvise, CUdeviceptr address, size_t bytes, int advice, CUdevice device)
FUNCTION(cuMemRangeGetAttribute, void *data, size_t size, int attribute, CUdeviceptr address, size_t bytes)
FUNCTION(cuMemRangeGetAttributes, void **data, size_t *sizes, int *attributes, size_t count, CUdeviceptr address,
         size_t bytes)
FUNCTION(cuStreamAttachMemAsync, CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags)
FUNCTION(cuMemGetAddressRange, CUdeviceptr *base, size_t *size, CUdeviceptr address)
FUNCTION(cuMemAllocHost, void **address, size_t bytes)
FUNCTION(cuMemHostAlloc, void **address, size_t bytes, unsigned flags)
FUNCTION(cuMemFreeHost, void *address)
FUNCTION(cuMemHostRegister, void *address, size_t bytes, unsigned flags)
FUNCTION(cuMemHostUnregister, void *address)
FUNCTION(cuMemHostGetDevicePointer, CUdeviceptr *device, void *host, unsigned flags)
FUNCTION(cuMemHostGetFlags, unsigned *flags, void *address)
FUNCTION(cuPointerGetAttribute, void *value, int attribute, CUdeviceptr address)
FUNCTION(cuPointerGetAttributes, unsigned count, int *attributes, void **values, CUdeviceptr address)
FUNCTION(cuPointerSetAttribute, const void *value, int attribute, CUdeviceptr address)
FUNCTION(cuMemcpy, CUdeviceptr target, CUdeviceptr source, size_t bytes)
FUNCTION(cuMemcpyAsync, CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)
FUNCTION(cuMemcpyHtoD, CUdeviceptr target, const void *source, size_t bytes)
FUNCTION(cuMemcpyDtoH, void *target, CUdeviceptr source, size_t bytes)
FUNCTION(cuMemcpyDtoD, CUdeviceptr target, CUdeviceptr source, size_t bytes)
FUNCTION(cuMemcpyHtoDAsync, CUdeviceptr target, const void *source, size_t bytes, CUstream stream)
FUNCTION(cuMemcpyDtoHAsync, void *target, CUdeviceptr source, size_t bytes, CUstream stream)
FUNCTION(cuMemcpyDtoDAsync, CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)
FUNCTION(cuMemcpyPeer, CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context,
         size_t bytes)
FUNCTION(cuMemcpy2D, const CUDA_MEMCPY2D *copy)
FUNCTION(cuMemcpy2DAsync, const CUDA_MEMCPY2D *copy, CUstream stream)
FUNCTION(cuMemsetD8, CUdeviceptr address, unsigned char value, size_t count)
FUNCTION(cuMemsetD16, CUdeviceptr address, unsigned short value, size_t count)
FUNCTION(cuMemsetD32, CUdeviceptr address, unsigned value, size_t count)
FUNCTION(cuMemsetD2D32, CUdeviceptr address, size_t pitch, unsigned value, size_t width, size_t height)
FUNCTION(cuMemsetD8Async, CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
FUNCTION(cuMemsetD32Async, CUdeviceptr address, unsigned value, size_t count, CUstream stream)
FUNCTION(cuStreamCreate, CUstream *stream, unsigned flags)
FUNCTION(cuStreamCreateWithPriority, CUstream *stream, unsigned flags, int priority)
FUNCTION(cuStreamDestroy, CUstream stream)
FUNCTION(cuStreamSynchronize, CUstream stream)
FUNCTION(cuStreamQuery, CUstream stream)
FUNCTION(cuStreamWaitEvent, CUstream stream, CUevent event, unsigned flags)
FUNCTION(cuStreamAddCallback, CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
FUNCTION(cuStreamGetFlags, CUstream stream, unsigned *flags)
FUNCTION(cuStreamGetPriority, CUstream stream, int *priority)
FUNCTION(cuStreamGetCtx, CUstream stream, CUcontext *context)
FUNCTION(cuStreamIsCapturing, CUstream stream, int *status)
FUNCTION(cuEventCreate, CUevent *event, unsigned flags)
FUNCTION(cuEventDestroy, CUevent event)
FUNCTION(cuEventRecord, CUevent event, CUstream stream)
FUNCTION(cuEventSynchronize, CUevent event)
FUNCTION(cuEventQuery, CUevent event)
FUNCTION(cuEventElapsedTime, float *milliseconds, CUevent start, CUevent end)

#include "arrays.h"
#include "batches.h"
#include "graphs.h"

#endif
