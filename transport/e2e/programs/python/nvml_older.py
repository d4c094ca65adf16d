"""NVML as old programs use it, by ctypes: how much the first versions of functions write, and what functions answer that
would change the device.
"""

import ctypes

nvml = ctypes.CDLL("libnvidia-ml.so.1")
MARK = 0xA5


def written(name, *arguments):
    """The bytes in front of the first that the function leaves as they are."""
    room = (ctypes.c_ubyte * 256)(*[MARK] * 256)
    code = getattr(nvml, name)(*arguments, room)
    length = max((at + 1 for at in range(256) if room[at] != MARK), default=0)
    print(f"{name} {code}, {length} bytes", bytes(room[:length]).hex())


def answered(name, *arguments):
    print(name, getattr(nvml, name)(*arguments))


device = ctypes.c_void_p()
answered("nvmlDeviceSetPersistenceMode", device, 1)
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
written("nvmlDeviceGetPciInfo", device)
written("nvmlDeviceGetPciInfo_v2", device)
written("nvmlDeviceGetPciInfo_v3", device)
written("nvmlDeviceGetAttributes", device)
written("nvmlDeviceGetNvLinkRemotePciInfo", device, 0)
written("nvmlGetBlacklistDeviceCount")
answered("nvmlDeviceGetPciInfo", device, None)
for name in ("PersistenceMode", "ComputeMode", "EccMode", "PowerManagementLimit", "GpuOperationMode", "AccountingMode"):
    answered(f"nvmlDeviceSet{name}", device, 1)
answered("nvmlDeviceSetGpuLockedClocks", device, 500, 600)
answered("nvmlDeviceResetGpuLockedClocks", device)
answered("nvmlDeviceClearEccErrorCounts", device, 0)
answered("nvmlDeviceSetCpuAffinity", device)
pending = (ctypes.c_uint * 2)()
answered("nvmlDeviceGetGpuOperationMode", device, ctypes.byref(pending), ctypes.byref(pending, 4))
answered("nvmlDeviceGetGpuInstanceProfileInfo", device, 0, ctypes.byref((ctypes.c_ubyte * 256)()))
answered("nvmlDeviceValidateInforom", device)
answered("nvmlVgpuTypeGetLicense", 1, ctypes.byref((ctypes.c_ubyte * 256)()), 256)
answered("nvmlUnitGetHandleByIndex", 0, ctypes.byref(device))
answered("nvmlShutdown")
answered("nvmlDeviceSetPersistenceMode", device, 1)
