//! Clocks, power, temperatures and fans.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Clocks, power, temperatures and fans.
    pub(super) const CLOCK: SIGNATURES;
    waiting nvmlDeviceGetAdaptiveClockInfoStatus(
        device: handle(NvmlDevice), adaptiveClockStatus: out,
    );
    waiting nvmlDeviceGetApplicationsClock(
        device: handle(NvmlDevice), clockType: value, clockMHz: out,
    );
    waiting nvmlDeviceGetAutoBoostedClocksEnabled(
        device: handle(NvmlDevice), isEnabled: out, defaultIsEnabled: out,
    );
    waiting nvmlDeviceGetClkMonStatus(device: handle(NvmlDevice), status: out);
    waiting nvmlDeviceGetClock(
        device: handle(NvmlDevice), clockType: value, clockId: value, clockMHz: out,
    );
    waiting nvmlDeviceGetClockInfo(device: handle(NvmlDevice), type_: value, clock: out);
    waiting nvmlDeviceGetClockOffsets(device: handle(NvmlDevice), info: versioned);
    waiting nvmlDeviceGetCoolerInfo(device: handle(NvmlDevice), coolerInfo: versioned);
    waiting nvmlDeviceGetCurrentClockFreqs(
        device: handle(NvmlDevice), currentClockFreqs: versioned,
    );
    waiting nvmlDeviceGetCurrentClocksEventReasons(
        device: handle(NvmlDevice), clocksEventReasons: out,
    );
    waiting nvmlDeviceGetCurrentClocksThrottleReasons(
        device: handle(NvmlDevice), clocksThrottleReasons: out,
    );
    waiting nvmlDeviceGetDefaultApplicationsClock(
        device: handle(NvmlDevice), clockType: value, clockMHz: out,
    );
    waiting nvmlDeviceGetDynamicPstatesInfo(device: handle(NvmlDevice), pDynamicPstatesInfo: out);
    waiting nvmlDeviceGetEnforcedPowerLimit(device: handle(NvmlDevice), limit: out);
    waiting nvmlDeviceGetFanControlPolicy_v2(device: handle(NvmlDevice), fan: value, policy: out);
    waiting nvmlDeviceGetFanSpeed(device: handle(NvmlDevice), speed: out);
    waiting nvmlDeviceGetFanSpeedRPM(device: handle(NvmlDevice), fanSpeed: versioned);
    waiting nvmlDeviceGetFanSpeed_v2(device: handle(NvmlDevice), fan: value, speed: out);
    waiting nvmlDeviceGetGpcClkMinMaxVfOffset(
        device: handle(NvmlDevice), minOffset: out, maxOffset: out,
    );
    waiting nvmlDeviceGetGpcClkVfOffset(device: handle(NvmlDevice), offset: out);
    waiting nvmlDeviceGetMarginTemperature(device: handle(NvmlDevice), marginTempInfo: versioned);
    waiting nvmlDeviceGetMaxClockInfo(device: handle(NvmlDevice), type_: value, clock: out);
    waiting nvmlDeviceGetMaxCustomerBoostClock(
        device: handle(NvmlDevice), clockType: value, clockMHz: out,
    );
    waiting nvmlDeviceGetMemClkMinMaxVfOffset(
        device: handle(NvmlDevice), minOffset: out, maxOffset: out,
    );
    waiting nvmlDeviceGetMemClkVfOffset(device: handle(NvmlDevice), offset: out);
    waiting nvmlDeviceGetMinMaxClockOfPState(
        device: handle(NvmlDevice), type_: value, pstate: value, minClockMHz: out,
        maxClockMHz: out,
    );
    waiting nvmlDeviceGetMinMaxFanSpeed(device: handle(NvmlDevice), minSpeed: out, maxSpeed: out);
    waiting nvmlDeviceGetNumFans(device: handle(NvmlDevice), numFans: out);
    waiting nvmlDeviceGetPerformanceModes(device: handle(NvmlDevice), perfModes: versioned);
    waiting nvmlDeviceGetPerformanceState(device: handle(NvmlDevice), pState: out);
    waiting nvmlDeviceGetPowerManagementDefaultLimit(
        device: handle(NvmlDevice), defaultLimit: out,
    );
    waiting nvmlDeviceGetPowerManagementLimit(device: handle(NvmlDevice), limit: out);
    waiting nvmlDeviceGetPowerManagementLimitConstraints(
        device: handle(NvmlDevice), minLimit: out, maxLimit: out,
    );
    waiting nvmlDeviceGetPowerManagementMode(device: handle(NvmlDevice), mode: out);
    waiting nvmlDeviceGetPowerMizerMode_v1(device: handle(NvmlDevice), powerMizerMode: out);
    waiting nvmlDeviceGetPowerSource(device: handle(NvmlDevice), powerSource: out);
    waiting nvmlDeviceGetPowerState(device: handle(NvmlDevice), pState: out);
    waiting nvmlDeviceGetPowerUsage(device: handle(NvmlDevice), power: out);
    waiting nvmlDeviceGetSupportedClocksEventReasons(
        device: handle(NvmlDevice), supportedClocksEventReasons: out,
    );
    waiting nvmlDeviceGetSupportedClocksThrottleReasons(
        device: handle(NvmlDevice), supportedClocksThrottleReasons: out,
    );
    waiting nvmlDeviceGetSupportedGraphicsClocks(
        device: handle(NvmlDevice), memoryClockMHz: value, count: inout, clocksMHz: out[*count]?,
    );
    waiting nvmlDeviceGetSupportedMemoryClocks(
        device: handle(NvmlDevice), count: inout, clocksMHz: out[*count]?,
    );
    // `size` is in bytes.
    waiting nvmlDeviceGetSupportedPerformanceStates(
        device: handle(NvmlDevice), pstates: out[bytes size], size: value,
    );
    waiting nvmlDeviceGetTargetFanSpeed(device: handle(NvmlDevice), fan: value, targetSpeed: out);
    waiting nvmlDeviceGetTemperature(device: handle(NvmlDevice), sensorType: value, temp: out);
    waiting nvmlDeviceGetTemperatureThreshold(
        device: handle(NvmlDevice), thresholdType: value, temp: out,
    );
    waiting nvmlDeviceGetTemperatureV(device: handle(NvmlDevice), temperature: versioned);
    waiting nvmlDeviceGetThermalSettings(
        device: handle(NvmlDevice), sensorIndex: value, pThermalSettings: out,
    );
    waiting nvmlDeviceGetTotalEnergyConsumption(device: handle(NvmlDevice), energy: out);
    waiting nvmlDeviceGetViolationStatus(
        device: handle(NvmlDevice), perfPolicyType: value, violTime: out,
    );
    waiting nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
        device: handle(NvmlDevice), currentProfiles: versioned,
    );
    waiting nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
        device: handle(NvmlDevice), profilesInfo: versioned,
    );
}
