"""pycuda: memory, streams, page-locked memory, and a kernel from PTX."""

import sys

import numpy as np
import pycuda.driver as cuda

PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry twice(.param .u64 words, .param .u32 count)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [words];
    ld.param.u32 %r0, [count];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p, %r4, %r0;
    @%p ret;
    mul.wide.u32 %rd1, %r4, 4;
    add.u64 %rd2, %rd0, %rd1;
    ld.global.u32 %r5, [%rd2];
    add.u32 %r5, %r5, %r5;
    st.global.u32 [%rd2], %r5;
    ret;
}
"""

cuda.init()
device = cuda.Device(0)
print(device.name(), device.compute_capability(), device.total_memory(), "devices", cuda.Device.count())
context = device.make_context()
try:
    here = np.arange(100_000, dtype=np.uint32)
    there = cuda.to_device(here)
    module = cuda.module_from_buffer(PTX)
    twice = module.get_function("twice")
    twice(there, np.uint32(here.size), block=(128, 1, 1), grid=((here.size + 127) // 128, 1))
    print("twice", np.array_equal(cuda.from_device_like(there, here), 2 * here))
    stream = cuda.Stream()
    locked = cuda.pagelocked_empty(1000, np.uint32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    locked[:] = 7
    twice.prepare("PI")
    twice.prepared_async_call((8, 1), (128, 1, 1), stream, locked.base.get_device_pointer(), 1000)
    stream.synchronize()
    print("page-locked", set(locked.tolist()))
    begun, ended = cuda.Event(), cuda.Event()
    begun.record(stream)
    cuda.memcpy_htod_async(there, here, stream)
    ended.record(stream)
    ended.synchronize()
    print("an event", ended.query(), ended.time_since(begun) >= 0)
    try:
        cuda.mem_alloc(1 << 50)
    except cuda.MemoryError as error:
        print("out of memory:", error)
finally:
    context.pop()
    context.detach()
sys.stdout.flush()
