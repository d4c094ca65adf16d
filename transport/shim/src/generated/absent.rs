//! Symbols of the CUDA driver API that are not supported.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! A program that is linked with `-lcuda` starts only if every symbol that it names is there, called
//! or not. `cuGetProcAddress` does not find these.
//!
//! Uses `crate::entry::absent(name, why) -> u32`, which answers NOT_SUPPORTED and tells of it once.

// The symbols' names, and pointers of C programs: each function trusts those that the API's
// documentation lets it trust, and that is the SAFETY of every block here.
#![allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_snake_case,
    unsafe_code,
    unused_imports,
    unused_variables
)]

use core::ffi::*;

use gtrace_cuda::types::driver::*;

use crate::entry;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiate() -> CUresult {
    entry::absent("cuGraphInstantiate", "it is older than CUDA 10")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpDeregisterCompleteCallback(
    callback: CUcoredumpCallbackHandle,
) -> CUresult {
    entry::absent(
        "cuCoredumpDeregisterCompleteCallback",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpDeregisterStartCallback(
    callback: CUcoredumpCallbackHandle,
) -> CUresult {
    entry::absent(
        "cuCoredumpDeregisterStartCallback",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpGetAttribute(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    entry::absent(
        "cuCoredumpGetAttribute",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpGetAttributeGlobal(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    entry::absent(
        "cuCoredumpGetAttributeGlobal",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpRegisterCompleteCallback(
    callback: CUcoredumpStatusCallback,
    userData: *mut c_void,
    callbackOut: *mut CUcoredumpCallbackHandle,
) -> CUresult {
    entry::absent(
        "cuCoredumpRegisterCompleteCallback",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpRegisterStartCallback(
    callback: CUcoredumpStatusCallback,
    userData: *mut c_void,
    callbackOut: *mut CUcoredumpCallbackHandle,
) -> CUresult {
    entry::absent(
        "cuCoredumpRegisterStartCallback",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpSetAttribute(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    entry::absent(
        "cuCoredumpSetAttribute",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpSetAttributeGlobal(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    entry::absent(
        "cuCoredumpSetAttributeGlobal",
        "the dump would be written by the server's process, with memory of nobody else's concern",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxFromGreenCtx(pContext: *mut CUcontext, hCtx: CUgreenCtx) -> CUresult {
    entry::absent("cuCtxFromGreenCtx", "there are no green contexts")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevResource(
    hCtx: CUcontext,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    entry::absent(
        "cuCtxGetDevResource",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDestroyExternalMemory(extMem: CUexternalMemory) -> CUresult {
    entry::absent(
        "cuDestroyExternalMemory",
        "there are no external objects, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDestroyExternalSemaphore(extSem: CUexternalSemaphore) -> CUresult {
    entry::absent(
        "cuDestroyExternalSemaphore",
        "there are no external objects, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevResourceGenerateDesc(
    phDesc: *mut CUdevResourceDesc,
    resources: *mut CUdevResource,
    nbResources: c_uint,
) -> CUresult {
    entry::absent(
        "cuDevResourceGenerateDesc",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevSmResourceSplit(
    result: *mut CUdevResource,
    nbGroups: c_uint,
    input: *const CUdevResource,
    remainder: *mut CUdevResource,
    flags: c_uint,
    groupParams: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS,
) -> CUresult {
    entry::absent(
        "cuDevSmResourceSplit",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevSmResourceSplitByCount(
    result: *mut CUdevResource,
    nbGroups: *mut c_uint,
    input: *const CUdevResource,
    remainder: *mut CUdevResource,
    flags: c_uint,
    minCount: c_uint,
) -> CUresult {
    entry::absent(
        "cuDevSmResourceSplitByCount",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCliqueCount(count: *mut usize, dev: CUdevice) -> CUresult {
    entry::absent(
        "cuDeviceGetCliqueCount",
        "the fabric is the server's, and clients cannot share memory by it",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCliqueInfo(
    cliqueInfo: *mut CUcliqueInfo,
    count: *mut usize,
    dev: CUdevice,
) -> CUresult {
    entry::absent(
        "cuDeviceGetCliqueInfo",
        "the fabric is the server's, and clients cannot share memory by it",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDevResource(
    device: CUdevice,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    entry::absent(
        "cuDeviceGetDevResource",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetFabricClusterUuid(
    uuid: *mut CUuuid,
    dev: CUdevice,
) -> CUresult {
    entry::absent(
        "cuDeviceGetFabricClusterUuid",
        "the fabric is the server's, and clients cannot share memory by it",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetLuid(
    luid: *mut c_char,
    deviceNodeMask: *mut c_uint,
    dev: CUdevice,
) -> CUresult {
    entry::absent("cuDeviceGetLuid", "it is for Windows")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceRegisterAsyncNotification(
    device: CUdevice,
    callbackFunc: CUasyncCallback,
    userData: *mut c_void,
    callback: *mut CUasyncCallbackHandle,
) -> CUresult {
    entry::absent(
        "cuDeviceRegisterAsyncNotification",
        "notifications of the server's driver are not passed on",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceUnregisterAsyncNotification(
    device: CUdevice,
    callback: CUasyncCallbackHandle,
) -> CUresult {
    entry::absent(
        "cuDeviceUnregisterAsyncNotification",
        "notifications of the server's driver are not passed on",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuExternalMemoryGetMappedBuffer(
    devPtr: *mut CUdeviceptr,
    extMem: CUexternalMemory,
    bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
) -> CUresult {
    entry::absent(
        "cuExternalMemoryGetMappedBuffer",
        "there is no external memory, as it cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuExternalMemoryGetMappedMipmappedArray(
    mipmap: *mut CUmipmappedArray,
    extMem: CUexternalMemory,
    mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
) -> CUresult {
    entry::absent(
        "cuExternalMemoryGetMappedMipmappedArray",
        "there is no external memory, as it cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetBlockShape(
    hfunc: CUfunction,
    x: c_int,
    y: c_int,
    z: c_int,
) -> CUresult {
    entry::absent(
        "cuFuncSetBlockShape",
        "deprecated since CUDA 4.0: launches say it themselves",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetSharedSize(hfunc: CUfunction, bytes: c_uint) -> CUresult {
    entry::absent(
        "cuFuncSetSharedSize",
        "deprecated since CUDA 4.0: launches say it themselves",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddBatchMemOpNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphAddBatchMemOpNode",
        "batched memory operations in graphs are not there yet; streams have them",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddExternalSemaphoresSignalNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphAddExternalSemaphoresSignalNode",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddExternalSemaphoresWaitNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphAddExternalSemaphoresWaitNode",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddNode_v3(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::absent(
        "cuGraphAddNode_v3",
        "nodes are added by the earlier form, which drivers of all versions have",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphBatchMemOpNodeGetParams(
    hNode: CUgraphNode,
    nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphBatchMemOpNodeGetParams",
        "batched memory operations in graphs are not there yet; streams have them",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphBatchMemOpNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphBatchMemOpNodeSetParams",
        "batched memory operations in graphs are not there yet; streams have them",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecBatchMemOpNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExecBatchMemOpNodeSetParams",
        "batched memory operations in graphs are not there yet; streams have them",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecExternalSemaphoresSignalNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExecExternalSemaphoresSignalNodeSetParams",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecExternalSemaphoresWaitNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExecExternalSemaphoresWaitNodeSetParams",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresSignalNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExternalSemaphoresSignalNodeGetParams",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresSignalNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExternalSemaphoresSignalNodeSetParams",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresWaitNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExternalSemaphoresWaitNodeGetParams",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresWaitNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    entry::absent(
        "cuGraphExternalSemaphoresWaitNodeSetParams",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::absent(
        "cuGraphNodeSetParams_v2",
        "nodes are changed by the earlier form, which drivers of all versions have",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsMapResources(
    count: c_uint,
    resources: *mut CUgraphicsResource,
    hStream: CUstream,
) -> CUresult {
    entry::absent(
        "cuGraphicsMapResources",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsResourceGetMappedMipmappedArray(
    pMipmappedArray: *mut CUmipmappedArray,
    resource: CUgraphicsResource,
) -> CUresult {
    entry::absent(
        "cuGraphicsResourceGetMappedMipmappedArray",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsResourceGetMappedPointer_v2(
    pDevPtr: *mut CUdeviceptr,
    pSize: *mut usize,
    resource: CUgraphicsResource,
) -> CUresult {
    entry::absent(
        "cuGraphicsResourceGetMappedPointer_v2",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsResourceSetMapFlags_v2(
    resource: CUgraphicsResource,
    flags: c_uint,
) -> CUresult {
    entry::absent(
        "cuGraphicsResourceSetMapFlags_v2",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsSubResourceGetMappedArray(
    pArray: *mut CUarray,
    resource: CUgraphicsResource,
    arrayIndex: c_uint,
    mipLevel: c_uint,
) -> CUresult {
    entry::absent(
        "cuGraphicsSubResourceGetMappedArray",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsUnmapResources(
    count: c_uint,
    resources: *mut CUgraphicsResource,
    hStream: CUstream,
) -> CUresult {
    entry::absent(
        "cuGraphicsUnmapResources",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsUnregisterResource(resource: CUgraphicsResource) -> CUresult {
    entry::absent(
        "cuGraphicsUnregisterResource",
        "a window system's objects are of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxCreate(
    phCtx: *mut CUgreenCtx,
    desc: CUdevResourceDesc,
    dev: CUdevice,
    flags: c_uint,
) -> CUresult {
    entry::absent(
        "cuGreenCtxCreate",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxDestroy(hCtx: CUgreenCtx) -> CUresult {
    entry::absent(
        "cuGreenCtxDestroy",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxGetDevResource(
    hCtx: CUgreenCtx,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    entry::absent(
        "cuGreenCtxGetDevResource",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxGetId(
    greenCtx: CUgreenCtx,
    greenCtxId: *mut c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuGreenCtxGetId",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxRecordEvent(hCtx: CUgreenCtx, hEvent: CUevent) -> CUresult {
    entry::absent(
        "cuGreenCtxRecordEvent",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxStreamCreate(
    phStream: *mut CUstream,
    greenCtx: CUgreenCtx,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    entry::absent(
        "cuGreenCtxStreamCreate",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxWaitEvent(hCtx: CUgreenCtx, hEvent: CUevent) -> CUresult {
    entry::absent(
        "cuGreenCtxWaitEvent",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuImportExternalMemory(
    extMem_out: *mut CUexternalMemory,
    memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
) -> CUresult {
    entry::absent(
        "cuImportExternalMemory",
        "handles of other APIs are descriptors of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuImportExternalSemaphore(
    extSem_out: *mut CUexternalSemaphore,
    semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
) -> CUresult {
    entry::absent(
        "cuImportExternalSemaphore",
        "handles of other APIs are descriptors of the program's machine, and the GPU is of another",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunch(f: CUfunction) -> CUresult {
    entry::absent(
        "cuLaunch",
        "deprecated since CUDA 4.0: cuLaunchKernel is there",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchCooperativeKernelMultiDevice(
    launchParamsList: *mut CUDA_LAUNCH_PARAMS,
    numDevices: c_uint,
    flags: c_uint,
) -> CUresult {
    entry::absent(
        "cuLaunchCooperativeKernelMultiDevice",
        "deprecated since CUDA 11.3, and gone with CUDA 13",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchGrid(
    f: CUfunction,
    grid_width: c_int,
    grid_height: c_int,
) -> CUresult {
    entry::absent(
        "cuLaunchGrid",
        "deprecated since CUDA 4.0: cuLaunchKernel is there",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchGridAsync(
    f: CUfunction,
    grid_width: c_int,
    grid_height: c_int,
    hStream: CUstream,
) -> CUresult {
    entry::absent(
        "cuLaunchGridAsync",
        "deprecated since CUDA 4.0: cuLaunchKernel is there",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointAddDevice(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointAddDevice",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointBindAddr(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
    offset: cuuint64_t,
    ptr: *mut c_void,
    size: cuuint64_t,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointBindAddr",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointBindMem(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
    offset: cuuint64_t,
    memHandle: CUmemGenericAllocationHandle,
    memOffset: cuuint64_t,
    size: cuuint64_t,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointBindMem",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointCreate(
    leId: CUlogicalEndpointId,
    prop: *const CUlogicalEndpointProp,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointCreate",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointDestroy(leId: CUlogicalEndpointId) -> CUresult {
    entry::absent(
        "cuLogicalEndpointDestroy",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointExport(
    handle: *mut c_void,
    leId: CUlogicalEndpointId,
    handleType: CUlogicalEndpointIpcHandleType,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointExport",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointGetLimits(
    bindAlignment: *mut cuuint64_t,
    maxSize: *mut cuuint64_t,
    prop: *const CUlogicalEndpointProp,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointGetLimits",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointIdRelease(
    baseLeId: CUlogicalEndpointId,
    count: cuuint32_t,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointIdRelease",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointIdReserve(
    baseLeId: *mut CUlogicalEndpointId,
    count: cuuint32_t,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointIdReserve",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointImport(
    leId: CUlogicalEndpointId,
    handle: *const c_void,
    handleType: CUlogicalEndpointIpcHandleType,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointImport",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointQuery(
    leId: CUlogicalEndpointId,
    count: cuuint32_t,
    queryStatus: *mut c_int,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointQuery",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointUnbind(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
    offset: cuuint64_t,
    size: cuuint64_t,
) -> CUresult {
    entry::absent(
        "cuLogicalEndpointUnbind",
        "memory of several machines under one fabric is not shared with clients",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsCurrent(
    iterator_out: *mut CUlogIterator,
    flags: c_uint,
) -> CUresult {
    entry::absent("cuLogsCurrent", "the log is that of the server's driver")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsDumpToFile(
    iterator: *mut CUlogIterator,
    pathToFile: *const c_char,
    flags: c_uint,
) -> CUresult {
    entry::absent("cuLogsDumpToFile", "the log is that of the server's driver")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsDumpToMemory(
    iterator: *mut CUlogIterator,
    buffer: *mut c_char,
    size: *mut usize,
    flags: c_uint,
) -> CUresult {
    entry::absent(
        "cuLogsDumpToMemory",
        "the log is that of the server's driver",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemBatchDecompressAsync(
    paramsArray: *mut CUmemDecompressParams,
    count: usize,
    flags: c_uint,
    errorIndex: *mut usize,
    stream: CUstream,
) -> CUresult {
    entry::absent(
        "cuMemBatchDecompressAsync",
        "decompression by the device is not there yet",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetHandleForAddressRange(
    handle: *mut c_void,
    dptr: CUdeviceptr,
    size: usize,
    handleType: CUmemRangeHandleType,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMemGetHandleForAddressRange",
        "a dma-buf would be a descriptor of the server's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetLocationInfo(
    ptr: CUdeviceptr,
    size: usize,
    summaryGranularity: usize,
    samplingGranularity: usize,
    location_out: *mut CUmemLocation,
) -> CUresult {
    entry::absent(
        "cuMemGetLocationInfo",
        "questions about places of memory of CUDA 13.1 and later are not there yet",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemMapArrayAsync(
    mapInfoList: *mut CUarrayMapInfo,
    count: c_uint,
    hStream: CUstream,
) -> CUresult {
    entry::absent("cuMemMapArrayAsync", "sparse arrays are not there yet")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolExportPointer(
    shareData_out: *mut CUmemPoolPtrExportData,
    ptr: CUdeviceptr,
) -> CUresult {
    entry::absent(
        "cuMemPoolExportPointer",
        "pools cannot be shared, as their handles are descriptors",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolExportToShareableHandle(
    handle_out: *mut c_void,
    pool: CUmemoryPool,
    handleType: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMemPoolExportToShareableHandle",
        "a descriptor would be one of the server's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolImportFromShareableHandle(
    pool_out: *mut CUmemoryPool,
    handle: *mut c_void,
    handleType: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMemPoolImportFromShareableHandle",
        "a descriptor would be one of the program's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolImportPointer(
    ptr_out: *mut CUdeviceptr,
    pool: CUmemoryPool,
    shareData: *mut CUmemPoolPtrExportData,
) -> CUresult {
    entry::absent(
        "cuMemPoolImportPointer",
        "pools cannot be shared, as their handles are descriptors",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DBatchAsync(
    numOps: usize,
    opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    failIdx: *mut usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    entry::absent(
        "cuMemcpy3DBatchAsync",
        "batches of copies in three dimensions are not there yet; each copy by itself is",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DBatchAsync_v2(
    numOps: usize,
    opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    entry::absent(
        "cuMemcpy3DBatchAsync_v2",
        "batches of copies in three dimensions are not there yet; each copy by itself is",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DWithAttributesAsync(
    op: *mut CUDA_MEMCPY3D_BATCH_OP,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    entry::absent(
        "cuMemcpy3DWithAttributesAsync",
        "copies in three dimensions with attributes are not there yet; those without are",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastAddDevice(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
) -> CUresult {
    entry::absent(
        "cuMulticastAddDevice",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindAddr(
    mcHandle: CUmemGenericAllocationHandle,
    mcOffset: usize,
    memptr: CUdeviceptr,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMulticastBindAddr",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindAddr_v2(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
    mcOffset: usize,
    memptr: CUdeviceptr,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMulticastBindAddr_v2",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindMem(
    mcHandle: CUmemGenericAllocationHandle,
    mcOffset: usize,
    memHandle: CUmemGenericAllocationHandle,
    memOffset: usize,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMulticastBindMem",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindMem_v2(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
    mcOffset: usize,
    memHandle: CUmemGenericAllocationHandle,
    memOffset: usize,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    entry::absent(
        "cuMulticastBindMem_v2",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastCreate(
    mcHandle: *mut CUmemGenericAllocationHandle,
    prop: *const CUmulticastObjectProp,
) -> CUresult {
    entry::absent(
        "cuMulticastCreate",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastGetGranularity(
    granularity: *mut usize,
    prop: *const CUmulticastObjectProp,
    option: CUmulticastGranularity_flags,
) -> CUresult {
    entry::absent(
        "cuMulticastGetGranularity",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastUnbind(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
    mcOffset: usize,
    size: usize,
) -> CUresult {
    entry::absent(
        "cuMulticastUnbind",
        "devices say that they have no multicast: it wants descriptors or a fabric to share memory by",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetSize(hfunc: CUfunction, numbytes: c_uint) -> CUresult {
    entry::absent(
        "cuParamSetSize",
        "deprecated since CUDA 4.0: launches carry their parameters",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetTexRef(
    hfunc: CUfunction,
    texunit: c_int,
    hTexRef: CUtexref,
) -> CUresult {
    entry::absent(
        "cuParamSetTexRef",
        "deprecated since CUDA 4.0: launches carry their parameters",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetf(hfunc: CUfunction, offset: c_int, value: f32) -> CUresult {
    entry::absent(
        "cuParamSetf",
        "deprecated since CUDA 4.0: launches carry their parameters",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSeti(hfunc: CUfunction, offset: c_int, value: c_uint) -> CUresult {
    entry::absent(
        "cuParamSeti",
        "deprecated since CUDA 4.0: launches carry their parameters",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetv(
    hfunc: CUfunction,
    offset: c_int,
    ptr: *mut c_void,
    numbytes: c_uint,
) -> CUresult {
    entry::absent(
        "cuParamSetv",
        "deprecated since CUDA 4.0: launches carry their parameters",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuProfilerInitialize(
    configFile: *const c_char,
    outputFile: *const c_char,
    outputMode: CUoutput_mode,
) -> CUresult {
    entry::absent(
        "cuProfilerInitialize",
        "drivers since CUDA 12 do not support it",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSignalExternalSemaphoresAsync(
    extSemArray: *const CUexternalSemaphore,
    paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    numExtSems: c_uint,
    stream: CUstream,
) -> CUresult {
    entry::absent(
        "cuSignalExternalSemaphoresAsync",
        "there are no external semaphores, as they cannot be imported",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCaptureToCig(
    hStream: CUstream,
    streamCigCaptureParams: *mut CUstreamCigCaptureParams,
) -> CUresult {
    entry::absent(
        "cuStreamBeginCaptureToCig",
        "graphics contexts are of the program's machine",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginRecaptureToGraph(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
    hGraph: CUgraph,
    callbackFunc: CUgraphRecaptureCallback,
    userData: *mut c_void,
) -> CUresult {
    entry::absent(
        "cuStreamBeginRecaptureToGraph",
        "recapture is not there yet",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCaptureToCig(hStream: CUstream) -> CUresult {
    entry::absent(
        "cuStreamEndCaptureToCig",
        "graphics contexts are of the program's machine",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevResource(
    hStream: CUstream,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    entry::absent(
        "cuStreamGetDevResource",
        "as a driver before CUDA 12.4: descriptions of resources are pointers into the driver's process",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeIm2colWide(
    tensorMap: *mut CUtensorMap,
    tensorDataType: CUtensorMapDataType,
    tensorRank: cuuint32_t,
    globalAddress: *mut c_void,
    globalDim: *const cuuint64_t,
    globalStrides: *const cuuint64_t,
    pixelBoxLowerCornerWidth: c_int,
    pixelBoxUpperCornerWidth: c_int,
    channelsPerPixel: cuuint32_t,
    pixelsPerColumn: cuuint32_t,
    elementStrides: *const cuuint32_t,
    interleave: CUtensorMapInterleave,
    mode: CUtensorMapIm2ColWideMode,
    swizzle: CUtensorMapSwizzle,
    l2Promotion: CUtensorMapL2promotion,
    oobFill: CUtensorMapFloatOOBfill,
) -> CUresult {
    entry::absent(
        "cuTensorMapEncodeIm2colWide",
        "it is not encoded here yet; the other forms of tensor maps are",
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuWaitExternalSemaphoresAsync(
    extSemArray: *const CUexternalSemaphore,
    paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    numExtSems: c_uint,
    stream: CUstream,
) -> CUresult {
    entry::absent(
        "cuWaitExternalSemaphoresAsync",
        "there are no external semaphores, as they cannot be imported",
    )
}
