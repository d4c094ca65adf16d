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
    // The client keeps how many instances a profile can have: lists of them have room for as many.
    waiting(client) nvmlDeviceGetGpuInstanceProfileInfoByIdV(
        device: handle(NvmlDevice), profileId: value, info: versioned,
    );
    waiting nvmlDeviceGetGpuInstanceId(device: handle(NvmlDevice), id: out);
    // NVML does not ask how many the list has room for.
    waiting(by_hand) nvmlDeviceGetGpuInstancePossiblePlacements_v2(
        device: special, profileId: special, placements: special, count: special,
    );
    waiting(client) nvmlDeviceGetGpuInstanceProfileInfo(
        device: handle(NvmlDevice), profile: value, info: out,
    );
    waiting(client) nvmlDeviceGetGpuInstanceProfileInfoV(
        device: handle(NvmlDevice), profile: value, info: versioned,
    );
    waiting nvmlDeviceGetGpuInstanceRemainingCapacity(
        device: handle(NvmlDevice), profileId: value, count: out,
    );
    // Nor here.
    waiting(by_hand) nvmlDeviceGetGpuInstances(
        device: special, profileId: special, gpuInstances: special, count: special,
    );
    waiting nvmlDeviceGetMaxMigDeviceCount(device: handle(NvmlDevice), count: out);
    waiting nvmlGpuInstanceGetComputeInstanceById(
        gpuInstance: handle(NvmlGpuInstance), id: value,
        computeInstance: known(NvmlComputeInstance),
    );
    waiting(by_hand) nvmlGpuInstanceGetComputeInstancePossiblePlacements(
        gpuInstance: special, profileId: special, placements: special, count: special,
    );
    waiting(client) nvmlGpuInstanceGetComputeInstanceProfileInfo(
        gpuInstance: handle(NvmlGpuInstance), profile: value, engProfile: value, info: out,
    );
    waiting(client) nvmlGpuInstanceGetComputeInstanceProfileInfoV(
        gpuInstance: handle(NvmlGpuInstance), profile: value, engProfile: value, info: versioned,
    );
    waiting nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
        gpuInstance: handle(NvmlGpuInstance), profileId: value, count: out,
    );
    waiting(by_hand) nvmlGpuInstanceGetComputeInstances(
        gpuInstance: special, profileId: special, computeInstances: special, count: special,
    );
    waiting(server) nvmlGpuInstanceGetInfo(gpuInstance: handle(NvmlGpuInstance), info: out);
}
