"""JAX on the GPU by default: arrays there and back, and compiled functions with their gradients.

XLA's kernels are machine code of a GPU, so that launches are skipped: what is computed is not looked at, but where it is and
of which shape. What is copied is compared. With the argument `profiled`, jax.profiler sees the steps: the GPU's side is there by
gtrace's CUPTI.
"""

import contextlib
import glob
import gzip
import json
import os
import sys
import tempfile

# As much as is asked for, not three quarters of the device at once.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import numpy as np
from jax import numpy as jnp
from jax._src import hardware_utils

# JAX takes a GPU only where one of the driver's device files exists. This stands for `ln -s /dev/null /dev/nvidiactl`, which a
# user makes; a test does not, as others on this host look for these files too.
if not hardware_utils.has_visible_nvidia_gpu():
    hardware_utils._NVIDIA_GPU_DEVICES = ["/dev/null"]

print("backend", jax.default_backend(), "devices", len(jax.devices()), jax.devices()[0].platform)
here = np.arange(100_000, dtype=np.float32)
there = jax.device_put(here)
print("there", {device.platform for device in there.devices()}, "and back", np.array_equal(np.asarray(there), here))


@jax.jit
def loss(weights, inputs):
    return jnp.square(jnp.tanh(inputs @ weights)).mean()


weights, inputs = jax.device_put(np.ones((64, 8), np.float32)), jax.device_put(np.ones((16, 64), np.float32))
step = jax.jit(lambda weights: weights - 0.1 * jax.grad(loss)(weights, inputs))
PROFILED = sys.argv[1:] == ["profiled"]
with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder) if PROFILED else contextlib.nullcontext():
        for _ in range(3):
            weights = step(weights)
        weights.block_until_ready()
    if PROFILED and "libcupti" in os.environ.get("LD_PRELOAD", ""):
        [file] = glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True)
        with gzip.open(file) as trace:
            events = json.load(trace)["traceEvents"]
        kernels = [event for event in events if "kernel_details" in event.get("args", {})]
        assert len(kernels) >= 3 and all(event["dur"] > 0 for event in kernels), kernels
print("a step", weights.shape, weights.dtype, {device.platform for device in weights.devices()})
