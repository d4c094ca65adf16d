"""Events of devices and of the system, units, metrics between two samples (GPM), lists of processes, and instances of MIG by their
numbers and profiles, as nvidia-ml-py asks for them. The faults of the CPU emulator are set by a file that its process reads
(GTRACE_SOFTGPU_CONTROL).
"""

import ctypes
import os
import threading
import time

import pynvml as nvml

CONTROL = os.environ["CONTROL_FILE"]
XID = nvml.nvmlEventTypeXidCriticalError


def report(text):
    with open(CONTROL + ".new", "w") as file:
        file.write(text)
    os.replace(CONTROL + ".new", CONTROL)


def refused(call, *arguments):
    try:
        call(*arguments)
    except nvml.NVMLError as error:
        return str(error)
    raise SystemExit(f"{call.__name__} was not refused")


report("")
nvml.nvmlInit()
device = nvml.nvmlDeviceGetHandleByIndex(1)

events = nvml.nvmlEventSetCreate()
print("other events:", refused(nvml.nvmlDeviceRegisterEvents, device, nvml.nvmlEventTypePState, events))
nvml.nvmlDeviceRegisterEvents(device, XID, events)
print("no event:", refused(nvml.nvmlEventSetWait, events, 0), refused(nvml.nvmlEventSetWait, events, 30))
for code, after in ((31, 0.0), (79, 1.3)):
    later = threading.Timer(after, report, [f"1/xid:{code}"])
    later.start()
    event = nvml.nvmlEventSetWait(events, 20000)
    later.join()
    print("event:", event.eventType == XID, event.eventData, "of device", nvml.nvmlDeviceGetIndex(event.device))
first = ctypes.create_string_buffer(b"\xa5" * 64)
report("1/xid:48")
print("first version:", nvml.nvmlLib.nvmlEventSetWait(events, first, 20000), first.raw[24:32] == b"\xa5" * 8)
nvml.nvmlEventSetFree(events)
print("a set that has ended:", refused(nvml.nvmlEventSetWait, events, 0))

CREATE, FREE = nvml.nvmlSystemEventSetCreateRequest_v1, nvml.nvmlSystemEventSetFreeRequest_v1
REGISTER, WAIT = nvml.nvmlSystemRegisterEventRequest_v1, nvml.nvmlSystemEventSetWaitRequest_v1
happened = (nvml.c_nvmlSystemEventData_v1_t * 2)()
system = nvml.nvmlSystemEventSetCreate(CREATE)
nvml.nvmlSystemRegisterEvents(REGISTER, 3, system)
print("other events of the system:", refused(nvml.nvmlSystemRegisterEvents, REGISTER, 4, system))
began = time.monotonic()
print("no event of the system:", nvml.nvmlSystemEventSetWait(WAIT, system, 1200, happened, 2), time.monotonic() - began >= 1.2)
print("no room for events:", refused(nvml.nvmlSystemEventSetWait, WAIT, system, 0, happened, 0))
request = nvml.c_nvmlSystemEventSetWaitRequest_v1_t()
request.version = WAIT + 1
print("another version:", nvml.nvmlLib.nvmlSystemEventSetWait(ctypes.byref(request)), nvml.nvmlLib.nvmlSystemEventSetWait(None))
nvml.nvmlSystemEventSetFree(FREE, system)
print("a system's set that has ended:", refused(nvml.nvmlSystemEventSetFree, FREE, system))

print("units:", nvml.nvmlUnitGetCount(), refused(nvml.nvmlUnitGetHandleByIndex, 0))
unit = ctypes.c_void_p(1)
print("no unit:", refused(nvml.nvmlUnitGetUnitInfo, unit), nvml.nvmlLib.nvmlUnitSetLedState(unit, 0))
print("no virtual GPU:", refused(nvml.nvmlVgpuInstanceGetType, 1))


def metrics(take):
    samples = [nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()]
    get = nvml.c_nvmlGpmMetricsGet_t()
    get.version, get.numMetrics = nvml.NVML_GPM_METRICS_GET_VERSION, 2
    get.sample1, get.sample2 = samples
    get.metrics[0].metricId, get.metrics[1].metricId = 2, nvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL
    print("nothing was sampled:", refused(nvml.nvmlGpmMetricsGet, get))
    take(samples[0])
    time.sleep(0.02)
    take(samples[1])
    nvml.nvmlGpmMetricsGet(get)
    known, unknown = get.metrics[0], get.metrics[1]
    info = known.metricInfo
    print("metric:", known.nvmlReturn, 0 <= known.value <= 100, info.shortName, info.longName, info.unit)
    print("unknown metric:", unknown.nvmlReturn, unknown.metricInfo.shortName)
    get.sample1, get.sample2 = samples[1], samples[0]
    print("the wrong way round:", refused(nvml.nvmlGpmMetricsGet, get))
    for sample in samples:
        nvml.nvmlGpmSampleFree(sample)
    print("a sample that has ended:", refused(take, samples[0]))


print("GPM:", nvml.nvmlGpmQueryDeviceSupport(device).isSupportedDevice)
metrics(lambda sample: nvml.nvmlGpmSampleGet(device, sample))

DETAILS = 1 << 24 | 24
print("no process:", nvml.nvmlDeviceGetRunningProcessDetailList(device, DETAILS, 0))
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 1) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(3 << 20)) == 0
[process] = nvml.nvmlDeviceGetRunningProcessDetailList(device, DETAILS, 0)
print("process:", process.pid > 0, process.usedGpuMemory >= 3 << 20, process.gpuInstanceId)
print("those that draw:", nvml.nvmlDeviceGetRunningProcessDetailList(device, DETAILS, 1))
print("another version:", refused(nvml.nvmlDeviceGetRunningProcessDetailList, device, DETAILS + 1, 0))
[use] = nvml.nvmlDeviceGetProcessesUtilizationInfo(device, 0)
print("use:", use.pid == process.pid, use.smUtil <= 100, use.timeStamp > 0)

print("not in MIG mode:", refused(nvml.nvmlDeviceGetGpuInstanceById, device, 1))
report("1/mig:1g.1gb,1/mig:1c.3g.2gb+2c.3g.2gb")
while nvml.nvmlDeviceGetMigMode(device)[0] == 0:
    time.sleep(0.01)
print("in MIG mode:", refused(nvml.nvmlGpmSampleGet, device, nvml.nvmlGpmSampleAlloc()))
print("no such instance:", refused(nvml.nvmlDeviceGetGpuInstanceById, device, 5))
gpu_instance = nvml.nvmlDeviceGetGpuInstanceById(device, 2)
info = nvml.nvmlGpuInstanceGetInfo(gpu_instance)
print("GPU instance:", nvml.nvmlDeviceGetIndex(info.device), info.id, info.profileId, info.placement.start, info.placement.size)
for profile in range(6):
    try:
        found = nvml.nvmlDeviceGetGpuInstanceProfileInfo(device, profile, version=1)
    except nvml.NVMLError as error:
        print("profile", profile, error)
    else:
        print("profile", profile, found.id, found.sliceCount, found.instanceCount, found.memorySizeMB)
compute_instance = nvml.nvmlGpuInstanceGetComputeInstanceById(gpu_instance, 1)
info = nvml.nvmlComputeInstanceGetInfo(compute_instance)
same = ctypes.cast(info.gpuInstance, ctypes.c_void_p).value == ctypes.cast(gpu_instance, ctypes.c_void_p).value
print("compute instance:", nvml.nvmlDeviceGetIndex(info.device), same, info.id, info.profileId, info.placement.start, info.placement.size)
print("another:", refused(nvml.nvmlGpuInstanceGetComputeInstanceById, gpu_instance, 2))
found = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(gpu_instance, 1, 0, version=1)
print("its profile:", found.id, found.sliceCount, found.instanceCount)


def listed(name, of, profile, expected):
    handles, count = (ctypes.c_void_p * 7)(), ctypes.c_uint(99)
    code = getattr(nvml.nvmlLib, name)(of, profile, handles, ctypes.byref(count))
    same = handles[0] == ctypes.cast(expected, ctypes.c_void_p).value
    print(f"{name} of profile {profile}:", code, count.value, same)


listed("nvmlDeviceGetGpuInstances", device, 9, gpu_instance)
listed("nvmlDeviceGetGpuInstances", device, 0, gpu_instance)
listed("nvmlDeviceGetGpuInstances", device, 77, gpu_instance)
listed("nvmlGpuInstanceGetComputeInstances", gpu_instance, 1, compute_instance)
print("no list:", nvml.nvmlLib.nvmlDeviceGetGpuInstances(device, 9, None, ctypes.byref(ctypes.c_uint())))
metrics(lambda sample: nvml.nvmlGpmMigSampleGet(device, 2, sample))
assert cuda.cuCtxDestroy_v2(context) == 0
nvml.nvmlShutdown()
