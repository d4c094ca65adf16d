//! Buses, links between devices, and where a device is in the machine.

use crate::signatures::NVML as SIGNATURES;

crate::describe! {
    /// Buses, links between devices, and where a device is in the machine.
    pub(super) const LINK: SIGNATURES;
    waiting nvmlDeviceGetBridgeChipInfo(device: handle(NvmlDevice), bridgeHierarchy: out);
    waiting nvmlDeviceGetBusType(device: handle(NvmlDevice), type_: out);
    waiting nvmlDeviceGetC2cModeInfoV(device: handle(NvmlDevice), c2cModeInfo: out);
    waiting nvmlDeviceGetCpuAffinity(
        device: handle(NvmlDevice), cpuSetSize: value, cpuSet: out[cpuSetSize],
    );
    waiting nvmlDeviceGetCpuAffinityWithinScope(
        device: handle(NvmlDevice), cpuSetSize: value, cpuSet: out[cpuSetSize], scope: value,
    );
    waiting nvmlDeviceGetCurrPcieLinkGeneration(device: handle(NvmlDevice), currLinkGen: out);
    waiting nvmlDeviceGetCurrPcieLinkWidth(device: handle(NvmlDevice), currLinkWidth: out);
    waiting nvmlDeviceGetGpuFabricInfo(device: handle(NvmlDevice), gpuFabricInfo: out);
    waiting nvmlDeviceGetGpuFabricInfoV(device: handle(NvmlDevice), gpuFabricInfo: versioned);
    waiting nvmlDeviceGetGpuMaxPcieLinkGeneration(
        device: handle(NvmlDevice), maxLinkGenDevice: out,
    );
    waiting nvmlDeviceGetMaxPcieLinkGeneration(device: handle(NvmlDevice), maxLinkGen: out);
    waiting nvmlDeviceGetMaxPcieLinkWidth(device: handle(NvmlDevice), maxLinkWidth: out);
    waiting nvmlDeviceGetMemoryAffinity(
        device: handle(NvmlDevice), nodeSetSize: value, nodeSet: out[nodeSetSize], scope: value,
    );
    waiting nvmlDeviceGetNumaNodeId(device: handle(NvmlDevice), node: out);
    waiting nvmlDeviceGetNvLinkCapability(
        device: handle(NvmlDevice), link: value, capability: value, capResult: out,
    );
    waiting nvmlDeviceGetNvLinkErrorCounter(
        device: handle(NvmlDevice), link: value, counter: value, counterValue: out,
    );
    waiting nvmlDeviceGetNvLinkInfo(device: handle(NvmlDevice), info: versioned);
    waiting nvmlDeviceGetNvLinkRemoteDeviceType(
        device: handle(NvmlDevice), link: value, pNvLinkDeviceType: out,
    );
    // Structures without the long form of the address.
    local nvmlDeviceGetNvLinkRemotePciInfo(device: special, link: special, pci: special);
    local nvmlDeviceGetPciInfo(device: special, pci: special);
    local nvmlDeviceGetPciInfo_v2(device: special, pci: special);
    waiting nvmlDeviceGetNvLinkRemotePciInfo_v2(device: handle(NvmlDevice), link: value, pci: out);
    waiting nvmlDeviceGetNvLinkState(device: handle(NvmlDevice), link: value, isActive: out);
    waiting nvmlDeviceGetNvLinkUtilizationControl(
        device: handle(NvmlDevice), link: value, counter: value, control: out,
    );
    waiting nvmlDeviceGetNvLinkUtilizationCounter(
        device: handle(NvmlDevice), link: value, counter: value, rxcounter: out, txcounter: out,
    );
    waiting nvmlDeviceGetNvLinkVersion(device: handle(NvmlDevice), link: value, version: out);
    waiting nvmlDeviceGetNvlinkBwMode(device: handle(NvmlDevice), getBwMode: versioned);
    waiting nvmlDeviceGetNvlinkSupportedBwModes(
        device: handle(NvmlDevice), supportedBwMode: versioned,
    );
    waiting nvmlDeviceGetP2PStatus(
        device1: handle(NvmlDevice), device2: handle(NvmlDevice), p2pIndex: value, p2pStatus: out,
    );
    waiting nvmlDeviceGetPciInfoExt(device: handle(NvmlDevice), pci: versioned);
    waiting nvmlDeviceGetPciInfo_v3(device: handle(NvmlDevice), pci: out);
    waiting nvmlDeviceGetPcieLinkMaxSpeed(device: handle(NvmlDevice), maxSpeed: out);
    waiting nvmlDeviceGetPcieReplayCounter(device: handle(NvmlDevice), value: out);
    waiting nvmlDeviceGetPcieSpeed(device: handle(NvmlDevice), pcieSpeed: out);
    waiting nvmlDeviceGetPcieThroughput(device: handle(NvmlDevice), counter: value, value: out);
    waiting nvmlDeviceGetTopologyCommonAncestor(
        device1: handle(NvmlDevice), device2: handle(NvmlDevice), pathInfo: out,
    );
    waiting nvmlDeviceGetTopologyNearestGpus(
        device: handle(NvmlDevice), level: value, count: inout,
        deviceArray: out_handles(NvmlDevice)[*count]?,
    );
    waiting nvmlDeviceOnSameBoard(
        device1: handle(NvmlDevice), device2: handle(NvmlDevice), onSameBoard: out,
    );
}
