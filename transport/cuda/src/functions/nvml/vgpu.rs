//! Which virtual GPUs there can be, and how a device is shared among them. Virtual GPUs themselves are of the server's
//! hypervisor, whoever may see their device.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Which virtual GPUs there can be, and how a device is shared among them.
    pub(super) const VGPU: SIGNATURES;
    waiting nvmlDeviceGetVgpuSchedulerCapabilities(
        device: handle(NvmlDevice), pCapabilities: out,
    );
    waiting nvmlDeviceGetVgpuSchedulerLog(device: handle(NvmlDevice), pSchedulerLog: out);
    waiting nvmlDeviceGetVgpuSchedulerState(device: handle(NvmlDevice), pSchedulerState: out);
    waiting nvmlGetVgpuDriverCapabilities(capability: value, capResult: out);
    waiting nvmlGetVgpuVersion(supported: out, current: out);
    waiting nvmlVgpuTypeGetBAR1Info(vgpuTypeId: value, bar1Info: versioned);
    waiting nvmlVgpuTypeGetCapabilities(vgpuTypeId: value, capability: value, capResult: out);
    // Texts whose length goes both ways are lists of characters.
    waiting nvmlVgpuTypeGetClass(vgpuTypeId: value, vgpuTypeClass: out[*size]?, size: inout);
    waiting nvmlVgpuTypeGetDeviceID(vgpuTypeId: value, deviceID: out, subsystemID: out);
    waiting nvmlVgpuTypeGetFbReservation(vgpuTypeId: value, fbReservation: out);
    waiting nvmlVgpuTypeGetFrameRateLimit(vgpuTypeId: value, frameRateLimit: out);
    waiting nvmlVgpuTypeGetFramebufferSize(vgpuTypeId: value, fbSize: out);
    waiting nvmlVgpuTypeGetGpuInstanceProfileId(vgpuTypeId: value, gpuInstanceProfileId: out);
    waiting nvmlVgpuTypeGetGspHeapSize(vgpuTypeId: value, gspHeapSize: out);
    waiting nvmlVgpuTypeGetLicense(
        vgpuTypeId: value, vgpuTypeLicenseString: out_string[size], size: value,
    );
    waiting nvmlVgpuTypeGetMaxInstances(
        device: handle(NvmlDevice), vgpuTypeId: value, vgpuInstanceCount: out,
    );
    waiting nvmlVgpuTypeGetMaxInstancesPerGpuInstance(pMaxInstance: versioned);
    waiting nvmlVgpuTypeGetMaxInstancesPerVm(vgpuTypeId: value, vgpuInstanceCountPerVm: out);
    waiting nvmlVgpuTypeGetName(vgpuTypeId: value, vgpuTypeName: out[*size]?, size: inout);
    waiting nvmlVgpuTypeGetNumDisplayHeads(vgpuTypeId: value, numDisplayHeads: out);
    waiting nvmlVgpuTypeGetResolution(
        vgpuTypeId: value, displayIndex: value, xdim: out, ydim: out,
    );
}
