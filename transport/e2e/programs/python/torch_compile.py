"""A model that torch.compile makes with Inductor and Triton: forward and backward, to their end.

Triton's ptxas makes machine code of a GPU, so that launches are skipped: what is computed is not looked at, but how often
kernels were made and launched is.
"""

import os
import tempfile

# Before torch: nothing of another run is used again.
cache = tempfile.TemporaryDirectory()
os.environ.update(TORCHINDUCTOR_CACHE_DIR=cache.name, TRITON_CACHE_DIR=cache.name, TORCHINDUCTOR_COMPILE_THREADS="1")

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor import metrics

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10)).cuda()
compiled = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.randn(32, 64, device="cuda")
for _ in range(3):
    optimizer.zero_grad()
    loss = compiled(inputs).square().mean()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
print("gradients", [tuple(one.grad.shape) for one in model.parameters()])
print("graphs", counters["stats"]["unique_graphs"], "breaks", sum(counters["graph_break"].values()))
print("kernels", metrics.generated_kernel_count)
