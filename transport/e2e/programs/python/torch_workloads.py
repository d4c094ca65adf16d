"""Workloads of PyTorch whose results are compared between a GPU here and the same remote GPU.

    torch_workloads.py NAME [STEPS]

Prints `value NAME HEX` for each number that came of it, bit by bit, and `step SECONDS`, the median time of a step
once all is warm. NAME is one of those at the end of this file; STEPS is how often it is done.
"""

import os
import statistics
import struct
import sys
import time

# Before torch: cuBLAS is deterministic with workspaces of a fixed size only (cuBLAS, "Results reproducibility").
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = "cuda"
WARM_UP = 3


def value(name, number):
    print(f"value {name} {struct.pack('>d', float(number)).hex()}", flush=True)


def timed(steps, step):
    """Does `step` so often, each time waiting for the device, and says how long it took."""
    times = []
    for number in range(WARM_UP + steps):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        result = step(number)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
        if result is not None:
            value(f"loss {number}", result.item())
    print(f"step {statistics.median(times[WARM_UP:]):.9f}", flush=True)


def trained(model, inputs, targets, loss_of, steps):
    model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(_):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    timed(steps, step)
    with torch.no_grad():
        value("parameters", sum(p.double().sum() for p in model.parameters()).item())


def mlp(steps):
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    inputs = torch.randn(128, 784).to(DEVICE)
    targets = torch.randint(0, 10, (128,)).to(DEVICE)
    trained(model, inputs, targets, F.cross_entropy, steps)


def transformer(steps):
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(256, 64))
    inputs = torch.randn(8, 128, 256).to(DEVICE)
    targets = torch.randint(0, 64, (8 * 128,)).to(DEVICE)
    trained(model, inputs, targets, lambda out, to: F.cross_entropy(out.flatten(0, 1), to), steps)


class Block(nn.Module):
    """A basic block of a residual network."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(after)
        self.beside = nn.Sequential()
        if stride != 1 or before != after:
            self.beside = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        out = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(out)) + self.beside(x))


def resnet(steps):
    """ResNet-18 for images of 64 by 64."""
    blocks = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for width, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
        blocks += [Block(before, width, stride), Block(width, width, 1)]
        before = width
    model = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100))
    inputs = torch.randn(16, 3, 64, 64).to(DEVICE)
    targets = torch.randint(0, 100, (16,)).to(DEVICE)
    trained(model, inputs, targets, F.cross_entropy, steps)


def graph(steps):
    """A CUDA graph that is captured once and replayed."""
    model = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256)).to(DEVICE)
    inputs = torch.randn(64, 256).to(DEVICE)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(WARM_UP):
            model(inputs)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(captured):
        output = model(inputs)

    def step(number):
        inputs.fill_(number / 16)
        captured.replay()
        return output.double().sum()

    timed(steps, step)


def cublas(steps):
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        a, b = (torch.randn(512, 512).to(DEVICE, kind) for _ in range(2))
        value(f"product {kind}", (a @ b).double().sum().item())
        batch = torch.bmm(a.view(8, 64, 512), b.view(8, 512, 64))
        value(f"batch {kind}", batch.double().sum().item())
    big = torch.randn(1024, 1024).to(DEVICE)
    timed(steps, lambda _: (big @ big).double().sum())


def cudnn(steps):
    image = torch.randn(8, 32, 56, 56).to(DEVICE)
    weight = torch.randn(64, 32, 3, 3).to(DEVICE)
    value("enabled", torch.backends.cudnn.is_acceptable(image))
    timed(steps, lambda _: F.conv2d(image, weight, padding=1).double().sum())


def triton(steps):
    import triton as compiler
    from triton import language as tl

    @compiler.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)

    n = 1 << 20
    x, y = (torch.randn(n).to(DEVICE) for _ in range(2))
    out = torch.empty_like(x)

    def step(_):
        add[(compiler.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
        return out.double().sum()

    timed(steps, step)
    value("as PyTorch adds", torch.equal(out, x + y))


def copies(steps):
    """Memory there and back, bit by bit, pageable and page-locked."""
    for kind in (torch.float32, torch.float64, torch.float16, torch.int8, torch.int64, torch.bool):
        for count in (0, 1, 7, 1000, 1 << 20):
            there = torch.randint(0, 2, (count,)).to(kind)
            value(f"{kind} {count}", torch.equal(there, there.to(DEVICE).cpu()))
    locked = torch.randn(1 << 20).pin_memory()
    back = torch.empty(1 << 20, pin_memory=True)
    back.copy_(locked.to(DEVICE, non_blocking=True), non_blocking=True)
    torch.cuda.synchronize()
    value("page-locked", torch.equal(locked, back))

    def step(_):
        back.copy_(locked.to(DEVICE, non_blocking=True), non_blocking=True)

    timed(steps, step)


WORKLOADS = {
    function.__name__: function
    for function in (copies, cublas, cudnn, mlp, transformer, resnet, graph, triton)
}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in WORKLOADS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(WORKLOADS)} [STEPS]")
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = False
    WORKLOADS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 20)


if __name__ == "__main__":
    main()
