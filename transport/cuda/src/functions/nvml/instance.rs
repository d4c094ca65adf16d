//! Instances of a device in MIG mode.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Instances of a device in MIG mode.
    pub(super) const INSTANCE: SIGNATURES;
    // The structure without the placement.
    local nvmlComputeInstanceGetInfo(computeInstance: special, info: special);
    // The structures have handles in them.
    waiting(server) nvmlComputeInstanceGetInfo_v2(
        computeInstance: handle(NvmlComputeInstance), info: out,
    );
    waiting nvmlDeviceGetComputeInstanceId(device: handle(NvmlDevice), id: out);
    waiting nvmlDeviceGetGpuInstanceById(
        device: handle(NvmlDevice), id: value, gpuInstance: known(NvmlGpuInstance),
    );
    waiting nvmlDeviceGetGpuInstanceProfileInfoByIdV(
        device: handle(NvmlDevice), profileId: value, info: versioned,
    );
    waiting nvmlDeviceGetGpuInstanceId(device: handle(NvmlDevice), id: out);
    // NVML does not ask how many the list has room for.
    waiting(server) nvmlDeviceGetGpuInstancePossiblePlacements_v2(
        device: handle(NvmlDevice), profileId: value, placements: out[*count]?, count: inout,
    );
    waiting nvmlDeviceGetGpuInstanceProfileInfo(
        device: handle(NvmlDevice), profile: value, info: out,
    );
    waiting nvmlDeviceGetGpuInstanceProfileInfoV(
        device: handle(NvmlDevice), profile: value, info: versioned,
    );
    waiting nvmlDeviceGetGpuInstanceRemainingCapacity(
        device: handle(NvmlDevice), profileId: value, count: out,
    );
    waiting nvmlDeviceGetMaxMigDeviceCount(device: handle(NvmlDevice), count: out);
    waiting nvmlGpuInstanceGetComputeInstanceById(
        gpuInstance: handle(NvmlGpuInstance), id: value,
        computeInstance: known(NvmlComputeInstance),
    );
    waiting(server) nvmlGpuInstanceGetComputeInstancePossiblePlacements(
        gpuInstance: handle(NvmlGpuInstance), profileId: value, placements: out[*count]?,
        count: inout,
    );
    waiting nvmlGpuInstanceGetComputeInstanceProfileInfo(
        gpuInstance: handle(NvmlGpuInstance), profile: value, engProfile: value, info: out,
    );
    waiting nvmlGpuInstanceGetComputeInstanceProfileInfoV(
        gpuInstance: handle(NvmlGpuInstance), profile: value, engProfile: value, info: versioned,
    );
    waiting nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
        gpuInstance: handle(NvmlGpuInstance), profileId: value, count: out,
    );
    waiting(server) nvmlGpuInstanceGetInfo(gpuInstance: handle(NvmlGpuInstance), info: out);
}
