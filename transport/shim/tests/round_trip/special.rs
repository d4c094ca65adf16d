//! What is written by hand on both sides does not travel here.

use gtrace_protocol::{Reader, Writer};

use crate::exec::{CallError, Code, Exec};

macro_rules! not_here {
    ($($name:ident)*) => {$(
        pub(crate) fn $name(
            _: &mut Exec,
            _: &mut Reader<'_>,
            _: &mut Writer,
        ) -> Result<Code, CallError> {
            Ok(801)
        }
    )*};
}

not_here! {
    cuSurfObjectCreate cuSurfObjectDestroy cuTexObjectCreate cuTexObjectDestroy
    cuLaunchCooperativeKernel cuLaunchHostFunc cuLaunchKernel cuLaunchKernelEx cuLibraryGetKernel
    cuLibraryLoadData cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
    cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DAsync_v2 cuMemcpy3D_v2
    cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuModuleGetFunction
    cuModuleLoadData cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize
    cuStreamAddCallback nvmlComputeInstanceGetInfo_v2 nvmlDeviceGetGpuInstancePossiblePlacements_v2
    nvmlDeviceGetGpuInstances nvmlDeviceGetProcessesUtilizationInfo
    nvmlDeviceGetVgpuInstancesUtilizationInfo nvmlDeviceGetVgpuProcessesUtilizationInfo
    nvmlGpuInstanceGetActiveVgpus nvmlGpuInstanceGetComputeInstancePossiblePlacements
    nvmlGpuInstanceGetComputeInstances nvmlGpuInstanceGetCreatableVgpus
    nvmlGpuInstanceGetVgpuTypeCreatablePlacements
    nvmlDeviceGetRunningProcessDetailList nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts
    nvmlEventSetWait_v2 nvmlGpmMetricsGet nvmlGpuInstanceGetInfo nvmlInit_v2 nvmlShutdown
    nvmlSystemEventSetCreate nvmlSystemEventSetFree nvmlSystemEventSetWait nvmlSystemRegisterEvents
}
