//! Memory and its errors.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Memory and its errors.
    pub(super) const MEMORY: SIGNATURES;
    waiting nvmlDeviceGetBAR1MemoryInfo(device: handle(NvmlDevice), bar1Memory: out);
    waiting nvmlDeviceGetConfComputeMemSizeInfo(device: handle(NvmlDevice), memInfo: out);
    waiting nvmlDeviceGetConfComputeProtectedMemoryUsage(device: handle(NvmlDevice), memory: out);
    waiting nvmlDeviceGetDefaultEccMode(device: handle(NvmlDevice), defaultMode: out);
    waiting nvmlDeviceGetDetailedEccErrors(
        device: handle(NvmlDevice), errorType: value, counterType: value, eccCounts: out,
    );
    waiting nvmlDeviceGetDramEncryptionMode(
        device: handle(NvmlDevice), current: versioned, pending: versioned,
    );
    waiting nvmlDeviceGetEccMode(device: handle(NvmlDevice), current: out, pending: out);
    waiting nvmlDeviceGetMemoryBusWidth(device: handle(NvmlDevice), busWidth: out);
    waiting nvmlDeviceGetMemoryErrorCounter(
        device: handle(NvmlDevice), errorType: value, counterType: value, locationType: value,
        count: out,
    );
    waiting nvmlDeviceGetMemoryInfo(device: handle(NvmlDevice), memory: out);
    waiting nvmlDeviceGetMemoryInfo_v2(device: handle(NvmlDevice), memory: versioned);
    waiting nvmlDeviceGetRemappedRows(
        device: handle(NvmlDevice), corrRows: out, uncRows: out, isPending: out,
        failureOccurred: out,
    );
    waiting nvmlDeviceGetRemappedRows_v2(device: handle(NvmlDevice), info: out);
    waiting nvmlDeviceGetRepairStatus(device: handle(NvmlDevice), repairStatus: versioned);
    waiting nvmlDeviceGetRetiredPages(
        device: handle(NvmlDevice), cause: value, pageCount: inout, addresses: out[*pageCount]?,
    );
    waiting nvmlDeviceGetRetiredPagesPendingStatus(device: handle(NvmlDevice), isPending: out);
    waiting nvmlDeviceGetRetiredPages_v2(
        device: handle(NvmlDevice), cause: value, pageCount: inout, addresses: out[*pageCount]?,
        timestamps: out[*pageCount]?,
    );
    waiting nvmlDeviceGetRowRemapperHistogram(device: handle(NvmlDevice), values: out);
    waiting nvmlDeviceGetSramEccErrorStatus(device: handle(NvmlDevice), status: versioned);
    waiting nvmlDeviceGetTotalEccErrors(
        device: handle(NvmlDevice), errorType: value, counterType: value, eccCounts: out,
    );
    waiting nvmlDeviceGetUnrepairableMemoryFlag_v1(
        device: handle(NvmlDevice), unrepairableMemoryStatus: out,
    );
}
