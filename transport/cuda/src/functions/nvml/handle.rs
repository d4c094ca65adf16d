//! Devices: how many, and how to get their handles.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Devices: how many, and how to get their handles.
    pub(super) const HANDLE: SIGNATURES;
    waiting nvmlDeviceGetCount(deviceCount: out);
    waiting nvmlDeviceGetCount_v2(deviceCount: out);
    waiting nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
        migDevice: handle(NvmlDevice), device: known(NvmlDevice),
    );
    waiting nvmlDeviceGetHandleByIndex(index: value, device: known(NvmlDevice));
    waiting nvmlDeviceGetHandleByIndex_v2(index: value, device: known(NvmlDevice));
    waiting nvmlDeviceGetHandleByPciBusId(pciBusId: in_string, device: known(NvmlDevice));
    waiting nvmlDeviceGetHandleByPciBusId_v2(pciBusId: in_string, device: known(NvmlDevice));
    waiting nvmlDeviceGetHandleBySerial(serial: in_string, device: known(NvmlDevice));
    waiting nvmlDeviceGetHandleByUUID(uuid: in_string, device: known(NvmlDevice));
    waiting nvmlDeviceGetHandleByUUIDV(uuid: in, device: known(NvmlDevice));
    waiting nvmlDeviceGetMigDeviceHandleByIndex(
        device: handle(NvmlDevice), index: value, migDevice: known(NvmlDevice),
    );
    waiting nvmlDeviceIsMigDeviceHandle(device: handle(NvmlDevice), isMigDevice: out);
}
