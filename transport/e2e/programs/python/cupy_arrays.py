"""CuPy's device, memory, streams, events, graphs and kernels, which NVRTC compiles to PTX here.

Its reductions with CUB are left out: those are machine code of GPUs in CuPy's own library.
"""

import hashlib
import os

# Before CuPy: read when it is imported.
os.environ.update(CUPY_COMPILE_WITH_PTX="1", CUPY_CACHE_IN_MEMORY="1", CUPY_ACCELERATORS="")

import cupy
import numpy as np
from cupy.cuda import runtime

N = 10_000


def digest(array):
    return hashlib.sha256(cupy.asnumpy(array).tobytes()).hexdigest()[:16]


properties = runtime.getDeviceProperties(0)
print(properties["name"].decode(), properties["totalGlobalMem"], properties["multiProcessorCount"])
device = cupy.cuda.Device(0)
print("device", device.compute_capability, device.pci_bus_id, runtime.getDeviceCount(), runtime.driverGetVersion())
print("limits", [device.attributes[name] for name in ("MaxThreadsPerBlock", "WarpSize", "MaxGridDimX")])

rng = np.random.default_rng(7)
for kind in (np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64, np.complex128, np.bool_):
    here = (rng.random((37, 11)) * 100).astype(kind)
    there = cupy.asarray(here)
    print(here.dtype, np.array_equal(there.get(), here), digest(there.T), there.strides)

a, b = rng.random(N), rng.random(N)
x, y = cupy.asarray(a), cupy.asarray(b)
print("elementwise", np.allclose(cupy.asnumpy(x * y + cupy.sqrt(x) - 3), a * b + np.sqrt(a) - 3))
reduced = [float(x.sum()), float(x.max()), float((x * y).mean())]
print("reduced", np.allclose(reduced, [a.sum(), a.max(), (a * b).mean()]), int(x.argmin()) == a.argmin())
print("indexed", np.array_equal(x[::-7][:5].get(), a[::-7][:5]), np.array_equal(x[x > 0.99].get(), a[a > 0.99]))
print("broadcast", np.array_equal((x[:20, None] < y[None, :30]).get(), a[:20, None] < b[None, :30]))
print("summed up", np.allclose(cupy.cumsum(x).get(), np.cumsum(a)))
print("chosen", np.array_equal(cupy.where(x > y, x, y).get(), np.maximum(a, b)))
whole = cupy.arange(24).reshape(4, 6)
whole[1:3, 2] = -1
print("written in part", whole.ravel().tolist(), whole.sum(axis=0).tolist())

source = r"""
extern "C" __global__ void fill(int* values, int n, int by) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) values[at] = at * by;
}
__constant__ int offsets[4];
extern "C" __global__ void moved(int* values, int n) {
    extern __shared__ int block[];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    block[threadIdx.x] = at < n ? values[at] : 0;
    __syncthreads();
    if (at < n) values[at] = block[blockDim.x - 1 - threadIdx.x] + offsets[at % 4];
}
"""
module = cupy.RawModule(code=source)
values = cupy.zeros(N, dtype=cupy.int32)
module.get_function("fill")((16,), (128,), (values, np.int32(N), np.int32(3)))
print("own kernel", np.array_equal(values.get(), np.arange(N) * 3))
offsets = cupy.ndarray(4, dtype=cupy.int32, memptr=module.get_global("offsets"))
offsets[:] = cupy.asarray([1, 10, 100, 1000], dtype=cupy.int32)
module.get_function("moved")((100,), (100,), (values, np.int32(N)), shared_mem=400)
expected = (np.arange(N) * 3).reshape(100, 100)[:, ::-1].ravel() + np.tile([1, 10, 100, 1000], N // 4)
print("constants and shared memory", np.array_equal(values.get(), expected))
kernel = module.get_function("moved")
print("of a kernel", kernel.max_threads_per_block, kernel.shared_size_bytes, kernel.max_dynamic_shared_size_bytes)
kernel.max_dynamic_shared_size_bytes = 65536
print("more", kernel.max_dynamic_shared_size_bytes)
squared = cupy.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = (x - y) * (x - y)", "squared")
print("elementwise kernel", np.allclose(squared(x, y).get(), (a - b) ** 2))
length = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length_of")
print("reduction kernel", np.allclose(float(length(x)), np.linalg.norm(a)))
try:
    cupy.RawKernel('extern "C" __global__ void wrong() { nothing(); }', "wrong").compile()
except cupy.cuda.compiler.CompileException as error:
    print("a wrong kernel", "identifier" in str(error))

stream, begun, ended = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Event(), cupy.cuda.Event()
pinned = cupy.cuda.alloc_pinned_memory(N * 8)
back = np.frombuffer(pinned, dtype=np.float64, count=N)
calls = []
with stream:
    begun.record()
    z = cupy.empty(N)
    z.set(a, stream=stream)
    z += 1
    z.get(stream=stream, out=back, blocking=False)
    stream.launch_host_func(calls.append, "called")
    ended.record()
stream.wait_event(ended)
ended.synchronize()
stream.synchronize()
print("in a stream", np.array_equal(back, a + 1), ended.done, stream.done, calls)
print("time", cupy.cuda.get_elapsed_time(begun, ended) >= 0)

other = cupy.cuda.Stream(non_blocking=True)
with other:
    w = cupy.zeros(N)
    other.synchronize()
    other.begin_capture()
    w += 2
    w *= 3
    graph = other.end_capture()
    for _ in range(3):
        graph.launch()
    other.synchronize()
print("a graph", float(w[0]), float(w[N - 1]))

pool = cupy.get_default_memory_pool()
del x, y, z, w, values
pool.free_all_blocks()
before = pool.total_bytes()
large = cupy.empty(16 << 20, dtype=cupy.uint8)
print("pool", pool.total_bytes() - before, pool.used_bytes() >= 16 << 20)
free, total = runtime.memGetInfo()
del large
pool.free_all_blocks()
print("given back", runtime.memGetInfo()[0] - free, runtime.memGetInfo()[1] == total)
try:
    cupy.empty(1 << 46, dtype=cupy.uint8)
except cupy.cuda.memory.OutOfMemoryError:
    print("too much is refused")
with cupy.cuda.using_allocator(cupy.cuda.MemoryAsyncPool().malloc):
    of_pool = cupy.arange(N)
    print("asynchronous pool", int(of_pool.sum()))
    del of_pool
with cupy.cuda.using_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc):
    managed = cupy.arange(N)
    managed += 1
    print("managed", int(managed.sum()))
    del managed
attributes = runtime.pointerGetAttributes(whole.data.ptr)
print("a pointer", attributes.device, attributes.type, attributes.devicePointer == whole.data.ptr)
try:
    runtime.memcpy(whole.data.ptr, 0x10, 8, runtime.memcpyDeviceToDevice)
    runtime.deviceSynchronize()
except runtime.CUDARuntimeError as error:
    print("a wild address", error.status)
