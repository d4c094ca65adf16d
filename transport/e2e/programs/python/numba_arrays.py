"""Numba's device, memory, streams, events and kernels that it compiles itself, as PTX that the driver links."""

import gc
import hashlib
import math
import warnings

import ptx_linked  # noqa: F401  before numba
import numpy as np
from numba import cuda, float32, int64

warnings.simplefilter("ignore")
N = 10_000


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


@cuda.jit
def add(a, b, out):
    at = cuda.grid(1)
    if at < out.size:
        out[at] = a[at] + b[at]


@cuda.jit
def multiply(a, b, out):
    """Matrices in tiles of shared memory."""
    of_a, of_b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(a.shape[1] // 8):
        of_a[x, y] = a[row, y + tile * 8]
        of_b[x, y] = b[x + tile * 8, column]
        cuda.syncthreads()
        for at in range(8):
            total += of_a[x, at] * of_b[at, y]
        cuda.syncthreads()
    out[row, column] = total


@cuda.jit
def histogram(values, counts):
    for at in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[at] % counts.size, 1)


@cuda.jit(device=True)
def smooth(x):
    return math.sqrt(x) * math.cos(x)


@cuda.jit
def with_stack(values, out):
    last = cuda.local.array(4, int64)
    at = cuda.grid(1)
    if at < out.size:
        for step in range(4):
            last[step] = values[at] * (step + 1)
        out[at] = last[0] + last[3] + int64(smooth(float(values[at])) > 0)


@cuda.jit
def fails(values):
    if cuda.grid(1) == 3:
        values[values.size * 1_000_000_000] = 1


@cuda.reduce
def total(a, b):
    return a + b


@cuda.jit
def across_warp(values, out):
    value = values[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = value


device = cuda.get_current_device()
print(device.name, device.compute_capability, device.MAX_THREADS_PER_BLOCK, device.WARP_SIZE, device.uuid)
print("devices", len(cuda.gpus), "driver", cuda.cudadrv.driver.driver.get_version())

rng = np.random.default_rng(7)
a, b = rng.random(N, dtype=np.float32), rng.random(N, dtype=np.float32)
out = np.zeros(N, dtype=np.float32)
add[math.ceil(N / 128), 128](a, b, out)
print("arrays of the host", np.array_equal(out, a + b), digest(out))

for kind in (np.int8, np.uint16, np.int32, np.float64, np.complex64, np.bool_):
    here = (rng.random((37, 11)) * 100).astype(kind)
    there = cuda.to_device(here)
    print(here.dtype, np.array_equal(there.copy_to_host(), here), there.shape, there.strides, there.nbytes)
there = cuda.to_device(np.arange(24).reshape(4, 6))
print("part", there[1:3, 2:5].copy_to_host().tolist(), there[:, 1].copy_to_host().tolist(), int(there[2, 3]))
there[1:3, 2] = -1
print("written in part", there.copy_to_host().ravel().tolist())
print("another shape", there.reshape(2, 12).copy_to_host().shape, there.ravel().copy_to_host().sum())

stream, begun, ended = cuda.stream(), cuda.event(), cuda.event()
pinned = cuda.pinned_array(N, dtype=np.float32)
pinned[:] = a
with stream.auto_synchronize():
    begun.record(stream)
    on_device = cuda.to_device(pinned, stream=stream)
    result = cuda.device_array(N, dtype=np.float32, stream=stream)
    add[math.ceil(N / 256), 256, stream](on_device, on_device, result)
    back = result.copy_to_host(stream=stream)
    ended.record(stream)
print("in a stream", np.array_equal(back, a + a), ended.query(), cuda.event_elapsed_time(begun, ended) >= 0)
ended.wait(stream)
with cuda.pinned(a):
    print("pinned", np.array_equal(cuda.to_device(a, stream=stream).copy_to_host(stream=stream), a))
stream.synchronize()

mapped = cuda.mapped_array(N, dtype=np.float32)
mapped[:] = b
add[math.ceil(N / 128), 128](mapped, on_device, mapped)
cuda.synchronize()
print("mapped", np.array_equal(mapped, a + b), cuda.cudadrv.driver.device_memory_size(mapped))
managed = cuda.managed_array(N, dtype=np.float32)
managed[:] = a
add[math.ceil(N / 128), 128](managed, managed, managed)
cuda.synchronize()
print("managed", np.array_equal(managed, a + a))

left, right = rng.random((64, 64), dtype=np.float32), rng.random((64, 64), dtype=np.float32)
product = cuda.device_array((64, 64), dtype=np.float32)
multiply[(8, 8), (8, 8)](cuda.to_device(left), cuda.to_device(right), product)
print("matrices", np.allclose(product.copy_to_host(), left @ right), digest(product.copy_to_host()))
values, counts = rng.integers(0, 1000, N), np.zeros(17, dtype=np.int64)
histogram[16, 64](values, counts)
print("counted", counts.tolist(), np.array_equal(counts, np.bincount(values % 17)))
stacked = np.zeros(N, dtype=np.int64)
with_stack[math.ceil(N / 64), 64](values, stacked)
expected = values * 5 + (np.sqrt(values) * np.cos(values) > 0)
print("with a stack", np.array_equal(stacked, expected))
print("sum", total(values), values.sum())
warps = np.zeros(8, dtype=np.int64)
across_warp[2, 128](values[:256], warps)
print("across a warp", np.array_equal(warps, values[:256].reshape(8, 32).sum(axis=1)))
kernel = next(iter(add.overloads.values()))
print("of a kernel", kernel.regs_per_thread > 0, kernel.shared_mem_per_block, kernel.max_threads_per_block)

gc.collect()
cuda.current_context().deallocations.clear()
before = cuda.current_context().get_memory_info()
large = cuda.device_array(64 << 20, dtype=np.uint8)
after = cuda.current_context().get_memory_info()
print("memory", before.total == after.total, before.free - after.free)
del large
try:
    cuda.device_array(1 << 46, dtype=np.uint8)
except cuda.cudadrv.driver.CudaAPIError as error:
    print("too much", error.code.name)

with cuda.gpus[0]:
    print("of this device", cuda.get_current_device().id)
try:
    fails[1, 32](on_device)
    cuda.synchronize()
except cuda.cudadrv.driver.CudaAPIError as error:
    print("a wild address", error.code.name)
