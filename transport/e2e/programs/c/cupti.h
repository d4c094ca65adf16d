// The part of CUPTI that these programs use, declared from its public documentation.
#ifndef CUPTI_H
#define CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum { SUCCESS = 0, INVALID_PARAMETER = 1, INVALID_OPERATION = 7, END = 12, EMPTY = 18, INVALID_KIND = 21, NOT_SUPPORTED = 27 };
enum { MEMCPY = 1, MEMSET = 2, DRIVER = 4, KERNEL = 10, MARKER = 12, SYNCHRONIZATION = 38, EXTERNAL = 39, GRAPH = 51 };
// Callbacks for calls of the driver, the site of their end, and the number of cuLaunchKernel.
enum { DRIVER_CALLS = 1, EXIT = 1, LAUNCH_KERNEL = 307 };

typedef struct {
    uint32_t kind;
    uint8_t cache, shared;
    uint16_t registers;
    uint32_t partitioned[2];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local, local_total, correlation;
    int64_t number;
    const char *name;
} Kernel;

typedef struct {
    uint32_t kind;
    uint8_t copy, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
} Copy;

typedef struct {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
} Set;

typedef struct {
    uint32_t kind, function;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
} Call;

typedef struct {
    uint32_t kind, whose;
    uint64_t id;
    uint32_t correlation;
} External;

typedef struct {
    uint32_t kind, what;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
} Wait;

typedef struct {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
} Launched;

typedef struct {
    uint32_t site;
    const char *function;
    const void *arguments;
    int *result;
    const char *symbol;
    CUcontext context;
    uint32_t context_number;
    uint64_t *data;
    uint32_t correlation;
} Calling;

typedef void (*Callback)(void *, uint32_t, uint32_t, const Calling *);
typedef void (*Request)(uint8_t **, size_t *, size_t *);
typedef void (*Complete)(void *, uint32_t, uint8_t *, size_t, size_t);

#define CUPTI(function)                                                                                                \
    function(cuptiGetVersion, (uint32_t *))                                                                            \
    function(cuptiGetTimestamp, (uint64_t *))                                                                          \
    function(cuptiGetResultString, (int, const char **))                                                               \
    function(cuptiActivityRegisterCallbacks, (Request, Complete))                                                      \
    function(cuptiActivityEnable, (uint32_t))                                                                          \
    function(cuptiActivityDisable, (uint32_t))                                                                         \
    function(cuptiActivityFlushAll, (uint32_t))                                                                        \
    function(cuptiActivityFlushPeriod, (uint32_t))                                                                     \
    function(cuptiActivityGetNextRecord, (uint8_t *, size_t, uint8_t **))                                              \
    function(cuptiActivityGetNumDroppedRecords, (void *, uint32_t, size_t *))                                          \
    function(cuptiActivityPushExternalCorrelationId, (uint32_t, uint64_t))                                             \
    function(cuptiActivityPopExternalCorrelationId, (uint32_t, uint64_t *))                                            \
    function(cuptiSubscribe, (void **, Callback, void *))                                                              \
    function(cuptiEnableCallback, (uint32_t, void *, uint32_t, uint32_t))                                              \
    function(cuptiGetCallbackName, (uint32_t, uint32_t, const char **))                                                \
    function(cuptiUnsubscribe, (void *))                                                                               \
    function(cuptiGetGraphId, (CUgraph, uint32_t *))                                                                   \
    function(cuptiGetGraphExecId, (CUgraphExec, uint32_t *))                                                           \
    function(cuptiGetGraphNodeId, (CUgraphNode, uint64_t *))                                                           \
    function(cuptiProfilerInitialize, (void *))                                                                        \
    function(cuptiFinalize, (void))

#define POINTER(name, arguments) static int(*name) arguments;
CUPTI(POINTER)
#undef POINTER

#endif
