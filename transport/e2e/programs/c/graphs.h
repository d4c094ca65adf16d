// The part of the CUDA driver API that is about stream capture and graphs, for driver.h.
#ifndef GRAPHS_H
#define GRAPHS_H

typedef struct graph *CUgraph;
typedef struct graph_node *CUgraphNode;
typedef struct graph_exec *CUgraphExec;
typedef struct user_object *CUuserObject;

// CUDA_KERNEL_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUDA_HOST_NODE_PARAMS.
typedef struct {
    CUfunction function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    void **parameters, **extra;
    CUkernel kernel;
    CUcontext context;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct {
    CUdeviceptr target;
    size_t pitch;
    unsigned value, element_size;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;
typedef struct {
    CUhostFn function;
    void *data;
} CUDA_HOST_NODE_PARAMS;
// CUDA_MEM_ALLOC_NODE_PARAMS.
typedef struct {
    CUmemPoolProps pool;
    const void *accesses;
    size_t access_count, bytes;
    CUdeviceptr address;
} CUDA_MEM_ALLOC_NODE_PARAMS;
// CUgraphNodeParams: kind 13 is a conditional node.
typedef struct {
    int kind, reserved[3];
    union {
        uint64_t words[29];
        struct { CUgraph graph; int ownership; } child;
        struct { uint64_t handle; unsigned kind, count; CUgraph *bodies; CUcontext context; } conditional;
    } body;
    uint64_t more;
} CUgraphNodeParams;
typedef struct { unsigned result; CUgraphNode node, from; } CUgraphExecUpdateResultInfo;
typedef struct { uint64_t flags; CUstream upload; CUgraphNode wrong; unsigned result; } CUDA_GRAPH_INSTANTIATE_PARAMS;
// CUlaunchAttribute, CUlaunchConfig.
typedef struct { unsigned id; unsigned pad; uint64_t value[8]; } CUlaunchAttribute;
typedef struct {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    CUstream stream;
    CUlaunchAttribute *attributes;
    unsigned count;
} CUlaunchConfig;
enum { CU_STREAM_CAPTURE_MODE_GLOBAL = 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum { CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2, CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
       CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12 };

#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuGraphAddNode cuGraphAddNode_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags

FUNCTION(cuStreamGetCaptureInfo, CUstream stream, int *status, uint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
         size_t *count)
FUNCTION(cuStreamBeginCapture, CUstream stream, int mode)
FUNCTION(cuStreamEndCapture, CUstream stream, CUgraph *graph)
#ifndef STUB
#pragma weak cuStreamBeginCaptureToGraph // since CUDA 12.3
#endif
FUNCTION(cuStreamBeginCaptureToGraph, CUstream stream, CUgraph graph, const CUgraphNode *after, const void *edges,
         size_t count, int mode)
FUNCTION(cuThreadExchangeStreamCaptureMode, int *mode)
FUNCTION(cuGraphCreate, CUgraph *graph, unsigned flags)
FUNCTION(cuGraphClone, CUgraph *clone, CUgraph graph)
FUNCTION(cuGraphDestroy, CUgraph graph)
FUNCTION(cuGraphAddEmptyNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)
FUNCTION(cuGraphAddKernelNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         const CUDA_KERNEL_NODE_PARAMS *parameters)
FUNCTION(cuGraphAddMemcpyNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         const CUDA_MEMCPY3D *copy, CUcontext context)
FUNCTION(cuGraphAddMemsetNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
FUNCTION(cuGraphAddHostNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         const CUDA_HOST_NODE_PARAMS *host)
FUNCTION(cuGraphAddChildGraphNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         CUgraph child)
FUNCTION(cuGraphAddEventRecordNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         CUevent event)
FUNCTION(cuGraphAddEventWaitNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         CUevent event)
FUNCTION(cuGraphAddMemAllocNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
FUNCTION(cuGraphAddMemFreeNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
         CUdeviceptr address)
#ifndef STUB
#pragma weak cuGraphAddNode_v2 // since CUDA 12.3
#pragma weak cuGraphConditionalHandleCreate
#endif
FUNCTION(cuGraphAddNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, const void *edges, size_t count,
         CUgraphNodeParams *parameters)
FUNCTION(cuGraphConditionalHandleCreate, uint64_t *handle, CUgraph graph, CUcontext context, unsigned value,
         unsigned flags)
FUNCTION(cuGraphAddDependencies, CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
#ifndef STUB
#pragma weak cuGraphAddDependencies_v2 // since CUDA 12.3
#endif
FUNCTION(cuGraphAddDependencies_v2, CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *edges,
         size_t count)
FUNCTION(cuGraphRemoveDependencies, CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
FUNCTION(cuGraphGetNodes, CUgraph graph, CUgraphNode *nodes, size_t *count)
FUNCTION(cuGraphGetRootNodes, CUgraph graph, CUgraphNode *nodes, size_t *count)
FUNCTION(cuGraphGetEdges, CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
FUNCTION(cuGraphNodeGetType, CUgraphNode node, int *kind)
FUNCTION(cuGraphNodeGetDependencies, CUgraphNode node, CUgraphNode *nodes, size_t *count)
FUNCTION(cuGraphNodeGetDependentNodes, CUgraphNode node, CUgraphNode *nodes, size_t *count)
FUNCTION(cuGraphNodeFindInClone, CUgraphNode *found, CUgraphNode node, CUgraph clone)
FUNCTION(cuGraphChildGraphNodeGetGraph, CUgraphNode node, CUgraph *graph)
FUNCTION(cuGraphDestroyNode, CUgraphNode node)
FUNCTION(cuGraphKernelNodeGetParams, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
FUNCTION(cuGraphKernelNodeSetParams, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
FUNCTION(cuGraphKernelNodeSetAttribute, CUgraphNode node, int attribute, const uint64_t value[8])
FUNCTION(cuGraphKernelNodeGetAttribute, CUgraphNode node, int attribute, uint64_t value[8])
FUNCTION(cuGraphMemcpyNodeGetParams, CUgraphNode node, CUDA_MEMCPY3D *copy)
FUNCTION(cuGraphMemcpyNodeSetParams, CUgraphNode node, const CUDA_MEMCPY3D *copy)
FUNCTION(cuGraphHostNodeSetParams, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host)
FUNCTION(cuGraphMemsetNodeGetParams, CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *fill)
FUNCTION(cuGraphHostNodeGetParams, CUgraphNode node, CUDA_HOST_NODE_PARAMS *host)
FUNCTION(cuGraphInstantiate, CUgraphExec *exec, CUgraph graph, uint64_t flags)
FUNCTION(cuGraphInstantiateWithParams, CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
FUNCTION(cuGraphExecUpdate, CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
FUNCTION(cuGraphExecKernelNodeSetParams, CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
FUNCTION(cuGraphExecMemcpyNodeSetParams, CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
         CUcontext context)
FUNCTION(cuGraphExecMemsetNodeSetParams, CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill,
         CUcontext context)
FUNCTION(cuGraphExecHostNodeSetParams, CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host)
FUNCTION(cuGraphExecChildGraphNodeSetParams, CUgraphExec exec, CUgraphNode node, CUgraph child)
FUNCTION(cuGraphNodeSetEnabled, CUgraphExec exec, CUgraphNode node, unsigned enabled)
FUNCTION(cuGraphNodeGetEnabled, CUgraphExec exec, CUgraphNode node, unsigned *enabled)
FUNCTION(cuGraphUpload, CUgraphExec exec, CUstream stream)
FUNCTION(cuGraphLaunch, CUgraphExec exec, CUstream stream)
FUNCTION(cuGraphExecDestroy, CUgraphExec exec)
FUNCTION(cuGraphDebugDotPrint, CUgraph graph, const char *path, unsigned flags)
FUNCTION(cuUserObjectCreate, CUuserObject *object, void *data, CUhostFn destroy, unsigned count, unsigned flags)
FUNCTION(cuGraphRetainUserObject, CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
FUNCTION(cuLaunchKernelEx, const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)

#endif
