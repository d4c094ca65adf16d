"""What nvidia-ml-py reports about each device. Lines that begin with `~` may change from run to run."""

import pynvml as nvml


def show(name, call, *arguments, changing=False):
    try:
        value = call(*arguments)
    except nvml.NVMLError as error:
        value = error
    else:
        if hasattr(value, "_fields_"):
            value = {field[0]: getattr(value, field[0]) for field in value._fields_}
        if isinstance(value, list):
            value = len(value)
    print(f"{'~' if changing else ' '} {name}: {value}")


nvml.nvmlInit()
show("driver", nvml.nvmlSystemGetDriverVersion)
show("NVML", nvml.nvmlSystemGetNVMLVersion)
show("CUDA", nvml.nvmlSystemGetCudaDriverVersion_v2)
count = nvml.nvmlDeviceGetCount()
print("  devices", count)
for index in range(count):
    device = nvml.nvmlDeviceGetHandleByIndex(index)
    for name in ["Name", "UUID", "Serial", "MinorNumber", "Brand", "Architecture", "CudaComputeCapability", "PciInfo",
                 "Attributes", "PersistenceMode", "ComputeMode", "PowerManagementLimit",
                 "PowerManagementLimitConstraints", "EnforcedPowerLimit", "MultiGpuBoard", "DisplayActive",
                 "DisplayMode", "EccMode", "MigMode", "NumGpuCores", "MemoryBusWidth", "VbiosVersion",
                 "MaxPcieLinkGeneration", "MaxPcieLinkWidth", "CurrPcieLinkGeneration", "CurrPcieLinkWidth"]:
        show(name, getattr(nvml, f"nvmlDeviceGet{name}"), device)
    for name in ["UtilizationRates", "PowerUsage", "PerformanceState", "FanSpeed", "CurrentClocksThrottleReasons",
                 "ComputeRunningProcesses", "TotalEnergyConsumption"]:
        show(name, getattr(nvml, f"nvmlDeviceGet{name}"), device, changing=True)
    show("temperature", nvml.nvmlDeviceGetTemperature, device, nvml.NVML_TEMPERATURE_GPU, changing=True)
    for clock in range(4):
        show(f"maximal clock {clock}", nvml.nvmlDeviceGetMaxClockInfo, device, clock)
        show(f"clock {clock}", nvml.nvmlDeviceGetClockInfo, device, clock, changing=True)
    memory = nvml.nvmlDeviceGetMemoryInfo(device)
    print("  memory", memory.total)
    print("~ free", memory.free, "used", memory.used)
    if memory.free > memory.total or memory.used > memory.total:
        raise SystemExit("more memory is free or used than there is")
    uuid = nvml.nvmlDeviceGetUUID(device)
    if nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByUUID(uuid)) != index:
        raise SystemExit(f"{uuid} is another device")
    for source in range(2):
        show(f"ECC errors {source}", nvml.nvmlDeviceGetTotalEccErrors, device, source, 0)
try:
    nvml.nvmlDeviceGetHandleByIndex(count)
except nvml.NVMLError as error:
    print("  one more:", error)
else:
    raise SystemExit("there is a device more than counted")
nvml.nvmlShutdown()
try:
    nvml.nvmlDeviceGetCount()
except nvml.NVMLError as error:
    print("  after the end:", error)
