"""cuda.core's objects: device, streams, events, memory resources, programs, linker, graphs."""

import hashlib
import warnings

import ptx_linked  # noqa: F401  before cuda.core
import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    EventOptions,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
    system,
)

warnings.simplefilter("ignore")
N = 10_000
SOURCE = r"""
extern "C" __global__ void scale(float* values, unsigned long long count, float by) {
    unsigned long long at = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (at < count) values[at] *= by;
}
template <typename T> __global__ void count_up(T* values, int count, T from) {
    for (int at = threadIdx.x + blockIdx.x * blockDim.x; at < count; at += blockDim.x * gridDim.x)
        values[at] = from + at;
}
"""


def view(buffer, kind):
    return np.from_dlpack(buffer).view(kind)


def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


device = Device(0)
device.set_current()
properties = device.properties
print(device.name, device.uuid, device.pci_bus_id, device.arch, len(Device.get_all_devices()))
print("properties", properties.max_threads_per_block, properties.warp_size, properties.max_grid_dim_x)
print("system", system.get_num_devices(), system.Device(index=0).name)

stream = device.create_stream()
low = device.create_stream(options=StreamOptions(nonblocking=False, priority=0))
print("streams", stream.is_nonblocking, low.is_nonblocking, low.priority, stream.device == device, stream == low)
timed = EventOptions(timing_enabled=True)
begun = stream.record(options=timed)

pinned = LegacyPinnedMemoryResource()
here = pinned.allocate(N * 4, stream=stream)
back = pinned.allocate(N * 4, stream=stream)
rng = np.random.default_rng(7)
values = view(here, np.float32)
values[:] = rng.random(N, dtype=np.float32)
there = device.allocate(N * 4, stream=stream)
there.copy_from(here, stream=stream)
other = there.copy_to(stream=stream)
other.copy_to(back, stream=stream)
ended = stream.record(options=timed)
ended.sync()
print("copied", digest(view(back, np.float32)) == digest(values), ended.is_done, ended - begun >= 0)
print("buffer", there.size, there.is_device_accessible, there.is_host_accessible, here.is_host_accessible)
other.fill(7, stream=stream)
other.copy_to(back, stream=stream)
stream.sync()
print("filled", set(view(back, np.uint8).tolist()))
other.fill(np.uint32(0xDEADBEEF), stream=stream)
other.copy_to(back, stream=stream)
stream.sync()
print("filled by words", {hex(word) for word in view(back, np.uint32).tolist()})

program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=device.arch and f"sm_{device.arch}", std="c++17"))
code = program.compile("ptx", name_expressions=("count_up<int>", "count_up<double>"))
scale = code.get_kernel("scale")
print("kernel", scale.num_arguments, [(one.offset, one.size) for one in scale.arguments_info])
attributes = scale.attributes
print("attributes", attributes.max_threads_per_block, attributes.shared_size_bytes, attributes.num_regs > 0)
occupancy = scale.occupancy
print("occupancy", occupancy.max_active_blocks_per_multiprocessor(128, 0), *occupancy.max_potential_block_size(0, 0))
config = LaunchConfig(grid=(N + 127) // 128, block=128)
launch(stream, config, scale, there, np.uint64(N), np.float32(3))
there.copy_to(back, stream=stream)
stream.sync()
print("launched", np.array_equal(view(back, np.float32), values * np.float32(3)))
for kind, name in ((np.int32, "count_up<int>"), (np.float64, "count_up<double>")):
    count = N * 4 // np.dtype(kind).itemsize
    launch(stream, LaunchConfig(grid=4, block=64), code.get_kernel(name), there, np.int32(count), kind(5))
    there.copy_to(back, stream=stream)
    stream.sync()
    print(name, np.array_equal(view(back, kind), np.arange(count) + kind(5)))

low.wait(stream)
low.wait(stream.record())
parts = [
    Program('extern "C" __device__ int twice(int x) { return 2 * x; }', "c++", ProgramOptions(relocatable_device_code=True)),
    Program(
        'extern "C" __device__ int twice(int x); extern "C" __global__ void all(int* v) { v[threadIdx.x] = twice(threadIdx.x); }',
        "c++",
        ProgramOptions(relocatable_device_code=True),
    ),
]
linker = Linker(*(part.compile("ptx") for part in parts), options=LinkerOptions())
linked = linker.link("cubin")
there.copy_from(here, stream=stream)
launch(stream, LaunchConfig(grid=1, block=256), linked.get_kernel("all"), there)
there.copy_to(back, stream=stream)
stream.sync()
print("linked", view(back, np.int32)[:256].sum(), digest(view(back, np.int32)[256:]) == digest(values[256:]))
again = ObjectCode.from_ptx(code.code, symbol_mapping=code.symbol_mapping)
print("of its bytes", again.get_kernel("scale").num_arguments)

builder = stream.create_graph_builder().begin_building()
launch(builder, config, scale, there, np.uint64(N), np.float32(1))
launch(builder, LaunchConfig(grid=4, block=64), code.get_kernel("count_up<int>"), there, np.int32(N), np.int32(9))
graph = builder.end_building().complete()
graph.upload(stream)
for _ in range(3):
    graph.launch(stream)
there.copy_to(back, stream=stream)
stream.sync()
print("a graph", np.array_equal(view(back, np.int32), np.arange(N) + 9))

resource = DeviceMemoryResource(device)
some = [resource.allocate(1 << size, stream=stream) for size in (8, 16, 20)]
print("pool", [one.size for one in some], resource.attributes.used_mem_current, resource.device_id)
for one in some:
    one.close(stream)
stream.sync()
print("empty", resource.attributes.used_mem_current, GraphMemoryResource(device).attributes.used_mem_current)
try:
    device.allocate(1 << 46, stream=stream)
except Exception as error:
    print("too much", type(error).__name__, "OUT_OF_MEMORY" in str(error))
try:
    launch(stream, LaunchConfig(grid=1, block=2048), scale, there, np.uint64(N), np.float32(3))
except Exception as error:
    print("too large a block", type(error).__name__)
for one in (there, other, here, back):
    one.close(stream)
device.sync()
print("closed", there.is_closed, stream.is_closed)
