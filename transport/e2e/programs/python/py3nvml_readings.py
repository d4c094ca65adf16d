"""py3nvml, which asks NVML for the first versions of its functions."""

from py3nvml import py3nvml as nvml

nvml.nvmlInit()
count = nvml.nvmlDeviceGetCount()
print("devices", count, "driver", nvml.nvmlSystemGetDriverVersion())
READINGS = [
    "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetIndex", "nvmlDeviceGetMinorNumber", "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetBAR1MemoryInfo", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetPowerManagementLimitConstraints", "nvmlDeviceGetPerformanceState",
    "nvmlDeviceGetFanSpeed", "nvmlDeviceGetEccMode", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetComputeMode",
    "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses", "nvmlDeviceGetCurrPcieLinkGeneration",
    "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetGpuOperationMode", "nvmlDeviceGetDriverModel", "nvmlDeviceGetSerial",
    "nvmlDeviceGetBoardId", "nvmlDeviceGetVbiosVersion", "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDisplayMode",
    "nvmlDeviceGetBridgeChipInfo", "nvmlDeviceGetMultiGpuBoard", "nvmlDeviceGetBrand", "nvmlDeviceGetCurrentClocksThrottleReasons",
    "nvmlDeviceGetSupportedEventTypes", "nvmlDeviceGetAccountingMode", "nvmlDeviceGetInforomImageVersion",
]  # fmt: skip
for index in range(count):
    device = nvml.nvmlDeviceGetHandleByIndex(index)
    for name in READINGS:
        function = getattr(nvml, name, None)
        if function is None:
            print(index, name, "is not in py3nvml")
            continue
        try:
            answer = function(device)
        except nvml.NVMLError as error:
            answer = error
        if hasattr(answer, "_fields_"):
            answer = {field: getattr(answer, field) for field, *_ in answer._fields_}
        print(index, name, answer)
nvml.nvmlShutdown()
