//! What uses a device, and how much: processes, engines, samples.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// What uses a device, and how much: processes, engines, samples.
    pub(super) const USAGE: SIGNATURES;
    waiting nvmlDeviceGetAccountingBufferSize(device: handle(NvmlDevice), bufferSize: out);
    waiting nvmlDeviceGetAccountingMode(device: handle(NvmlDevice), mode: out);
    waiting nvmlDeviceGetAccountingPids(
        device: handle(NvmlDevice), count: inout, pids: out[*count]?,
    );
    waiting nvmlDeviceGetAccountingStats(device: handle(NvmlDevice), pid: value, stats: out);
    waiting nvmlDeviceGetComputeRunningProcesses(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetComputeRunningProcesses_v2(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetComputeRunningProcesses_v3(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetDecoderUtilization(
        device: handle(NvmlDevice), utilization: out, samplingPeriodUs: out,
    );
    waiting nvmlDeviceGetEncoderCapacity(
        device: handle(NvmlDevice), encoderQueryType: value, encoderCapacity: out,
    );
    waiting nvmlDeviceGetEncoderSessions(
        device: handle(NvmlDevice), sessionCount: inout, sessionInfos: out[*sessionCount]?,
    );
    waiting nvmlDeviceGetEncoderStats(
        device: handle(NvmlDevice), sessionCount: out, averageFps: out, averageLatency: out,
    );
    waiting nvmlDeviceGetEncoderUtilization(
        device: handle(NvmlDevice), utilization: out, samplingPeriodUs: out,
    );
    waiting nvmlDeviceGetFBCSessions(
        device: handle(NvmlDevice), sessionCount: inout, sessionInfo: out[*sessionCount]?,
    );
    waiting nvmlDeviceGetFBCStats(device: handle(NvmlDevice), fbcStats: out);
    waiting nvmlDeviceGetFieldValues(
        device: handle(NvmlDevice), valuesCount: value, values: inout[valuesCount],
    );
    waiting nvmlDeviceGetGraphicsRunningProcesses(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetGraphicsRunningProcesses_v2(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetGraphicsRunningProcesses_v3(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetJpgUtilization(
        device: handle(NvmlDevice), utilization: out, samplingPeriodUs: out,
    );
    waiting nvmlDeviceGetMPSComputeRunningProcesses(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetMPSComputeRunningProcesses_v2(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetMPSComputeRunningProcesses_v3(
        device: handle(NvmlDevice), infoCount: inout, infos: out[*infoCount]?,
    );
    waiting nvmlDeviceGetOfaUtilization(
        device: handle(NvmlDevice), utilization: out, samplingPeriodUs: out,
    );
    waiting nvmlDeviceGetProcessUtilization(
        device: handle(NvmlDevice), utilization: out[*processSamplesCount]?,
        processSamplesCount: inout, lastSeenTimeStamp: value,
    );
    // Structures with a pointer to a list of the program.
    waiting(by_hand) nvmlDeviceGetProcessesUtilizationInfo(
        device: special, procesesUtilInfo: special,
    );
    waiting(by_hand) nvmlDeviceGetRunningProcessDetailList(device: special, plist: special);
    waiting(by_hand) nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
        device: special, errorCounts: special,
    );
    waiting nvmlDeviceGetSamples(
        device: handle(NvmlDevice), type_: value, lastSeenTimeStamp: value, sampleValType: out,
        sampleCount: inout, samples: out[*sampleCount]?,
    );
    waiting nvmlDeviceGetUtilizationRates(device: handle(NvmlDevice), utilization: out);
    waiting(by_hand) nvmlGpmMetricsGet(metricsGet: special);
    waiting nvmlGpmMigSampleGet(
        device: handle(NvmlDevice), gpuInstanceId: value, gpmSample: handle(NvmlGpmSample),
    );
    waiting nvmlGpmSampleAlloc(gpmSample: mint(NvmlGpmSample));
    waiting nvmlGpmSampleFree(gpmSample: destroy(NvmlGpmSample));
    waiting nvmlGpmSampleGet(device: handle(NvmlDevice), gpmSample: handle(NvmlGpmSample));
}
