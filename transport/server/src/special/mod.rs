//! Calls that are written by hand: those whose bytes travel as a bulk part, whose arguments are
//! memory of the client, or that exist only between client and server. What their frames carry
//! stands in [`gtrace_cuda::payload`].
//!
//! Calls of the driver are unsafe; every pointer given to it is to memory of this process that is
//! as large as the call says, and never a number that a client sent. Device addresses are the
//! driver's to check.

mod copies;
mod deferred_copies;
mod functions;
mod graphs;
mod host_memory;
mod hosts;
mod images;
mod launch;
mod linker;
mod nvml;
mod pitched;
mod shared_memory;
mod snapshot;
mod textures;

pub(crate) use copies::{
    Uploads, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2,
};
pub(crate) use deferred_copies::{defer_copy, settle_copies, take};
pub(crate) use functions::{cuLibraryGetKernel, cuModuleGetFunction};
pub(crate) use graphs::{
    capture_info, graph_copy, graph_host, graph_instantiate, graph_kernel, graph_memory,
    graph_node, graph_update,
};
pub(crate) use host_memory::{map_host, unmap_host};
pub(crate) use hosts::{cuLaunchHostFunc, cuStreamAddCallback, host_done, host_next};
pub(crate) use images::{cuLibraryLoadData, cuModuleLoadData, image};
pub(crate) use launch::{
    cuLaunchCooperativeKernel, cuLaunchKernel, cuLaunchKernelEx, cuOccupancyMaxActiveClusters,
    cuOccupancyMaxPotentialClusterSize,
};
pub(crate) use linker::{cuLinkAddData_v2, cuLinkComplete, cuLinkCreate_v2, cuLinkDestroy};
pub(crate) use nvml::{
    NVML_TIMEOUT, nvml_call, nvmlComputeInstanceGetInfo_v2,
    nvmlDeviceGetGpuInstancePossiblePlacements_v2, nvmlDeviceGetGpuInstances,
    nvmlDeviceGetProcessesUtilizationInfo, nvmlDeviceGetRunningProcessDetailList,
    nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts, nvmlDeviceGetVgpuInstancesUtilizationInfo,
    nvmlDeviceGetVgpuProcessesUtilizationInfo, nvmlEventSetWait_v2, nvmlGpmMetricsGet,
    nvmlGpuInstanceGetActiveVgpus, nvmlGpuInstanceGetComputeInstancePossiblePlacements,
    nvmlGpuInstanceGetComputeInstances, nvmlGpuInstanceGetCreatableVgpus, nvmlGpuInstanceGetInfo,
    nvmlGpuInstanceGetVgpuTypeCreatablePlacements, nvmlInit_v2, nvmlShutdown,
    nvmlSystemEventSetCreate, nvmlSystemEventSetFree, nvmlSystemEventSetWait,
    nvmlSystemRegisterEvents,
};
pub(crate) use pitched::{
    cuMemcpy2D_v2, cuMemcpy2DAsync_v2, cuMemcpy2DUnaligned_v2, cuMemcpy3D_v2, cuMemcpy3DAsync_v2,
};
pub(crate) use shared_memory::{export_memory, import_memory};
pub(crate) use snapshot::{devices, free, init, primary_is_active, set_current, snapshot};
pub(crate) use textures::{
    cuSurfObjectCreate, cuSurfObjectDestroy, cuTexObjectCreate, cuTexObjectDestroy,
};

use gtrace_cuda::payload::{self, DeferredCopy, HostFunction, Payload as _};
use gtrace_protocol::{Flags, OpId, Reader, op_id};

use crate::exec::{Code, Exec};

/// CUDA_SUCCESS
pub(crate) const SUCCESS: Code = 0;
/// CUDA_ERROR_INVALID_VALUE
pub(crate) const INVALID_VALUE: Code = 1;
/// CUDA_ERROR_INVALID_IMAGE
pub(crate) const INVALID_IMAGE: Code = 200;
/// CUDA_ERROR_NOT_SUPPORTED
pub(crate) const NOT_SUPPORTED: Code = 801;

/// Ok for success, else the code.
fn checked(status: u32) -> Result<(), Code> {
    match status {
        0 => Ok(()),
        status => Err(status.cast_signed()),
    }
}

/// The code of a result.
fn code_of(result: Result<(), Code>) -> Code {
    result.err().unwrap_or(SUCCESS)
}

/// A call has failed, made or not. Where the client waits for something else than the answer, that says so.
pub(crate) fn not_done(exec: &Exec, op: OpId, arguments: &[u8], code: Code) {
    const HOST_FUNCTION: OpId = op_id("cuLaunchHostFunc");
    const CALLBACK: OpId = op_id("cuStreamAddCallback");
    const GRAPH_LAUNCH: OpId = op_id("cuGraphLaunch");
    let mut r = Reader::new(arguments);
    match op {
        payload::DEFER_COPY => {
            if let Ok(copy) = DeferredCopy::read(&mut r) {
                exec.session.deferred_copies.failed(copy.ticket);
            }
        }
        HOST_FUNCTION | CALLBACK => {
            if let Ok(function) = HostFunction::read(&mut r) {
                let status = code.cast_unsigned();
                exec.session.hosts.failed(function.ticket, status);
            }
        }
        // A client that waits for the answer has it from there.
        GRAPH_LAUNCH if hosts::are_used() && !exec.request.flags.has(Flags::STRICT) => {
            if let Ok(launched) = r.u64() {
                exec.session.hosts.failed(launched, code.cast_unsigned());
            }
        }
        _ => {}
    }
}
