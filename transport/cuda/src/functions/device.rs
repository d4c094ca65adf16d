//! Devices and the driver itself. A device does not change while a session lasts, so the client
//! answers from a snapshot.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Devices and the driver itself.
    pub const DEVICE: SIGNATURES;
    local cuInit;
    local cuDriverGetVersion;
    local cuGetErrorName(error: value, pStr: special);
    local cuGetErrorString(error: value, pStr: special);
    // Pointers of the client's process.
    local cuGetProcAddress;
    local cuGetProcAddress_v2;
    local cuGetExportTable;

    local cuDeviceGet;
    local cuDeviceGetCount;
    local cuDeviceGetName(name: out_string[len], len: value, dev: value);
    local cuDeviceGetUuid(uuid: out, dev: value);
    local cuDeviceGetUuid_v2(uuid: out, dev: value);
    local cuDeviceTotalMem_v2(bytes: out, dev: value);
    local cuDeviceGetAttribute(pi: out, attrib: value, dev: value);
    local cuDeviceGetPCIBusId(pciBusId: out_string[len], len: value, dev: value);
    local cuDeviceGetByPCIBusId(dev: out, pciBusId: in_string);
    local cuDeviceComputeCapability(major: out, minor: out, dev: value);
    local cuDeviceGetProperties(prop: out, dev: value);
    local cuDeviceCanAccessPeer(canAccessPeer: out, dev: value, peerDev: value);
    waiting cuDeviceGetP2PAttribute(
        value: out, attrib: value, srcDevice: value, dstDevice: value,
    );
    waiting cuDeviceGetTexture1DLinearMaxWidth(
        maxWidthInElements: out, format: value, numChannels: value, dev: value,
    );
    waiting cuDeviceGetExecAffinitySupport(pi: out, type_: value, dev: value);
    waiting cuDeviceGetHostAtomicCapabilities(
        capabilities: out[count], operations: in[count], count: value, dev: value,
    );
    waiting cuDeviceGetP2PAtomicCapabilities(
        capabilities: out[count], operations: in[count], count: value,
        srcDevice: value, dstDevice: value,
    );
    // Every attribute of graph memory is a cuuint64_t.
    waiting cuDeviceGetGraphMemAttribute(device: value, attr: value, value: out[8]);
    waiting cuDeviceSetGraphMemAttribute(device: value, attr: value, value: in[8]);
    waiting cuDeviceGraphMemTrim(device: value);
    one_way cuProfilerStart();
    one_way cuProfilerStop();
    one_way cuFlushGPUDirectRDMAWrites(target: value, scope: value);

    // The driver's own log goes to the server's operator.
    local cuLogsRegisterCallback;
    local cuLogsUnregisterCallback;
}
