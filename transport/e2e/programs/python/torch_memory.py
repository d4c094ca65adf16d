"""PyTorch's memory, streams and events, without kernels: copies that return as they went.

Tensors come from a generator with a fixed seed; what is printed is the same on any device.
"""

import hashlib

import torch

KINDS = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool)
SIZES = (0, 1, 7, 1000, 12_345, 262_144, 1_000_003)


def digest(tensor):
    return hashlib.sha256(tensor.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:16]


print("available", torch.cuda.is_available(), "devices", torch.cuda.device_count())
properties = torch.cuda.get_device_properties(0)
print(properties.name, properties.major, properties.minor, properties.total_memory, properties.multi_processor_count)

torch.manual_seed(7)
for kind in KINDS:
    for size in SIZES:
        here = (torch.rand(size) * 100).to(kind)
        there = here.to("cuda")
        back = there.cpu()
        assert back.dtype == kind and torch.equal(back, here), (kind, size)
        copied = torch.empty_like(there)
        copied.copy_(there)
        print(kind, size, digest(back), torch.equal(copied.cpu(), here))

pinned = torch.rand(100_000).pin_memory()
print("pinned", pinned.is_pinned())
stream, begun, ended = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
with torch.cuda.stream(stream):
    begun.record()
    there = pinned.to("cuda", non_blocking=True)
    back = torch.empty(100_000, pin_memory=True)
    back.copy_(there, non_blocking=True)
    ended.record()
ended.synchronize()
print("through a stream", torch.equal(back, pinned), begun.query(), begun.elapsed_time(ended) >= 0)
torch.cuda.current_stream().wait_event(ended)
stream.synchronize()

print("rows", torch.equal(torch.arange(12).reshape(3, 4).to("cuda").cpu(), torch.arange(12).reshape(3, 4)))
before = torch.cuda.memory_allocated()
large = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
print("allocated", torch.cuda.memory_allocated() - before)
del large
torch.cuda.empty_cache()
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    print("too much is refused")
torch.cuda.synchronize()
