"""Adds two vectors with cuda.bindings.driver, from the checked-in PTX, and checks the sum."""

import ctypes
import os
import pathlib
import sys

import numpy as np
from cuda.bindings import driver

N = 10_000


def check(result):
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"{error!r}")
    return values[0] if len(values) == 1 else values


def main():
    check(driver.cuInit(0))
    print("driver", check(driver.cuDriverGetVersion()), "devices", check(driver.cuDeviceGetCount()))
    device = check(driver.cuDeviceGet(0))
    print(check(driver.cuDeviceGetName(100, device)).split(b"\0")[0].decode())
    context = check(driver.cuDevicePrimaryCtxRetain(device))
    check(driver.cuCtxSetCurrent(context))
    ptx = pathlib.Path(os.environ["GTRACE_KERNELS"], "vector_add.ptx").read_bytes() + b"\0"
    module = check(driver.cuModuleLoadData(ptx))
    kernel = check(driver.cuModuleGetFunction(module, b"vector_add"))
    stream = check(driver.cuStreamCreate(0))

    random = np.random.default_rng(12)
    a, b = (random.random(N, dtype=np.float32) for _ in range(2))
    c = np.zeros(N, dtype=np.float32)
    on_device = [check(driver.cuMemAlloc(a.nbytes)) for _ in range(3)]
    check(driver.cuMemcpyHtoDAsync(on_device[0], a.ctypes.data, a.nbytes, stream))
    check(driver.cuMemcpyHtoDAsync(on_device[1], b.ctypes.data, b.nbytes, stream))
    values = tuple(int(pointer) for pointer in on_device) + (N,)
    types = (ctypes.c_void_p,) * 3 + (ctypes.c_uint,)
    check(driver.cuLaunchKernel(kernel, (N + 255) // 256, 1, 1, 256, 1, 1, 0, stream, (values, types), 0))
    check(driver.cuMemcpyDtoHAsync(c.ctypes.data, on_device[2], c.nbytes, stream))
    check(driver.cuStreamSynchronize(stream))
    if not np.array_equal(c, a + b):
        sys.exit("the sum differs")
    print("sum", float(c.astype(np.float64).sum()))

    error, = driver.cuMemFree(0x1234)
    print("a wrong free:", error.name)
    for pointer in on_device:
        check(driver.cuMemFree(pointer))
    check(driver.cuStreamDestroy(stream))
    check(driver.cuModuleUnload(module))
    check(driver.cuDevicePrimaryCtxRelease(device))


main()
