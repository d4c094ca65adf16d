"""A workload of PyTorch, done so often that what one more step costs can be distinguished from two runs.

    torch_steps.py NAME STEPS
"""

import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

WARM_UP = 5


def matmul():
    a, b = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
    return lambda: a @ b


def item():
    ones = torch.ones(1000, device="cuda")
    return lambda: ones.sum().item()


def training():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, targets = torch.randn(32, 64, device="cuda"), torch.randint(0, 10, (32,)).cuda()

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def transformer():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).cuda()
    inputs = torch.randn(2, 16, 64, device="cuda")
    return lambda: layer(inputs)


def convolution():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).cuda()
    inputs = torch.randn(2, 3, 32, 32, device="cuda")
    return lambda: model(inputs).sum().backward()


def graph():
    a = torch.randn(64, 64, device="cuda")
    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(3):
            (a @ a).relu()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        (a @ a).relu()
    return captured.replay


WORKLOADS = {of.__name__: of for of in (matmul, item, training, transformer, convolution, graph)}

torch.manual_seed(0)
step = WORKLOADS[sys.argv[1]]()
for _ in range(WARM_UP):
    step()
torch.cuda.synchronize()
steps, begun = int(sys.argv[2]), time.perf_counter()
for _ in range(steps):
    step()
torch.cuda.synchronize()
if steps:
    print("step", (time.perf_counter() - begun) / steps, file=sys.stderr)
print("done")
