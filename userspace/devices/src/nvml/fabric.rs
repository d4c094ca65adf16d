//! How a GPU stands with its NVLink fabric: whether the fabric manager has registered it, in which clique, and whether the fabric is
//! well. GPUs of one clique can reach each other's memory. GPUs of NVSwitch systems, driver 535 and later.
//!
//! Source: nvml.h, nvmlGpuFabricInfoV_t (version 2, driver 545) and nvmlGpuFabricInfo_t before it. The wrapper lacks both.

#![allow(unsafe_code, reason = "calls of NVML that the wrapper does not have")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use gtrace_event::PciAddress;
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::GpuVirtualizationMode;
use nvml_wrapper_sys::bindings::{
    NvmlLib, nvmlGpuFabricInfo_t, nvmlGpuFabricInfo_v2_t, nvmlGpuFabricInfoV_t,
};

use crate::fabric::{CONFIGURATION, DRIVER_ROOTS, setting};
use crate::{Fabric, FabricState};

/// nvmlReturn_t.
const SUCCESS: u32 = 0;
/// Bits of the health mask, two of each kind: 1 for yes, 3 for one that needs a reset, 2 for no, 0 where it does not apply.
const FAULTS: [(u32, &str); 4] = [
    (0, "degraded bandwidth"),
    (2, "route recovery in progress"),
    (4, "route unhealthy"),
    (6, "access timeout recovery"),
];

/// What process 1 sees, as gtrace may run in a container; what gtrace sees, where it may not look there.
const ROOTS: [&str; 2] = ["/proc/1/root", ""];

/// The functions, where the library has them.
pub(super) struct FabricReader {
    library: Option<NvmlLib>,
    /// GPUs that are not registered, and since when they have been seen so.
    waiting: BTreeMap<PciAddress, Instant>,
}

impl FabricReader {
    /// Of the library that NVML was opened from.
    pub(super) fn open(library: &Path) -> Self {
        Self {
            // SAFETY: the library is loaded already, so that none of its code runs here but that of the dynamic linker, which counts one
            // user more.
            library: unsafe { NvmlLib::new(library.as_os_str()) }.ok(),
            waiting: BTreeMap::new(),
        }
    }

    /// What it says of `device` at `pci`; `None` where it has no fabric, or the driver does not know.
    pub(super) fn read(&mut self, device: &Device<'_>, pci: PciAddress) -> Option<Fabric> {
        let library = self.library.as_ref()?;
        let found = Self::versioned(library, device).or_else(|| Self::first(library, device));
        let mut fabric = found?;
        if fabric.state == FabricState::Completed || is_of_hypervisor(device) || is_shared() {
            self.waiting.remove(&pci);
        } else {
            let since = self.waiting.entry(pci).or_insert_with(Instant::now);
            fabric.waiting_s = Some(since.elapsed().as_secs());
        }
        Some(fabric)
    }

    fn versioned(library: &NvmlLib, device: &Device<'_>) -> Option<Fabric> {
        let call = library.nvmlDeviceGetGpuFabricInfoV.as_ref().ok()?;
        let mut info = nvmlGpuFabricInfoV_t {
            // NVML_STRUCT_VERSION(GpuFabricInfo, 2): version 3 has a field behind those of 2, which is not touched then.
            version: u32::try_from(size_of::<nvmlGpuFabricInfo_v2_t>()).ok()? | 2 << 24,
            clusterUuid: [0; 16],
            status: 0,
            cliqueId: 0,
            state: 0,
            healthMask: 0,
            healthSummary: 0,
        };
        // SAFETY: the handle is NVML's own for a device that is open, and the struct is larger than the version that it names.
        let result = unsafe { call(device.handle(), &raw mut info) };
        if result != SUCCESS {
            return None;
        }
        let (state, cluster) = (u32::from(info.state), info.clusterUuid);
        fabric(state, info.status, info.cliqueId, cluster, info.healthMask)
    }

    fn first(library: &NvmlLib, device: &Device<'_>) -> Option<Fabric> {
        let call = library.nvmlDeviceGetGpuFabricInfo.as_ref().ok()?;
        let mut info = nvmlGpuFabricInfo_t {
            clusterUuid: [0; 16],
            status: 0,
            cliqueId: 0,
            state: 0,
        };
        // SAFETY: as above.
        let result = unsafe { call(device.handle(), &raw mut info) };
        if result != SUCCESS {
            return None;
        }
        let (state, cluster) = (u32::from(info.state), info.clusterUuid);
        fabric(state, info.status, info.cliqueId, cluster, 0)
    }
}

/// Whether the GPU is there for vGPUs: on such a host it is registered once a virtual machine begins.
fn is_of_hypervisor(device: &Device<'_>) -> bool {
    let mode = device.virtualization_mode();
    matches!(
        mode,
        Ok(GpuVirtualizationMode::HostVgpu | GpuVirtualizationMode::HostVsga)
    )
}

/// Whether tenants share the NVSwitches: a GPU is registered once a partition with it is activated.
fn is_shared() -> bool {
    let below = |root: &str| DRIVER_ROOTS.map(|driver| format!("{root}{driver}{CONFIGURATION}"));
    let mut found = ROOTS.into_iter().flat_map(below).map(fs::read_to_string);
    found.any(|text| text.is_ok_and(|text| shares(&text)))
}

/// FABRIC_MODE is 0 for one tenant, 1 for several, 2 for vGPUs.
fn shares(configuration: &str) -> bool {
    matches!(setting(configuration, "FABRIC_MODE"), Some("1" | "2"))
}

/// What bits 8 to 11 of the health mask say of the configuration: 0 where that does not apply, 1 for nothing.
fn configuration(health: u32) -> Option<String> {
    let what = match health >> 8 & 0xf {
        0 | 1 => return None,
        2 => "the system's GUID",
        3 => "the chassis' serial number",
        4 => "no partition",
        5 => "too few NVLinks",
        6 => "the GPU's firmware does not fit",
        7 => "an invalid location",
        8 => "the GPU's state is invalid",
        other => return Some(format!("incorrect configuration ({other})")),
    };
    Some(format!("incorrect configuration ({what})"))
}

fn fabric(state: u32, status: u32, clique: u32, cluster: [u8; 16], health: u32) -> Option<Fabric> {
    let state = match state {
        1 => FabricState::NotStarted,
        2 => FabricState::InProgress,
        3 => FabricState::Completed,
        _ => return None,
    };
    let faults = FAULTS
        .iter()
        .filter(|(bit, _)| matches!(health >> bit & 3, 1 | 3));
    let faults = faults.map(|(_, fault)| (*fault).to_owned());
    let uuid = uuid(cluster);
    Some(Fabric {
        state,
        waiting_s: None,
        status: (state == FabricState::Completed).then_some(status),
        clique: (state == FabricState::Completed).then_some(clique),
        cluster: (cluster != [0; 16]).then_some(uuid),
        faults: faults.chain(configuration(health)).collect(),
    })
}

fn uuid(bytes: [u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [
        hex.get(..8),
        hex.get(8..12),
        hex.get(12..16),
        hex.get(16..20),
        hex.get(20..),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_health_are_named() {
        assert_eq!(fabric(0, 0, 0, [0; 16], 0), None);
        let waits = fabric(2, 0, 0, [0; 16], 0).unwrap();
        assert_eq!(
            (waits.state, waits.status, waits.fault()),
            (FabricState::InProgress, None, None)
        );
        let good = fabric(3, 0, 5, [1; 16], 0b10_10_10_10).unwrap();
        assert_eq!((good.clique, good.fault()), (Some(5), None));
        assert_eq!(
            good.cluster.as_deref(),
            Some("01010101-0101-0101-0101-010101010101")
        );
        let bad = fabric(3, 999, 5, [1; 16], 0b01_00_00_01).unwrap();
        assert_eq!(
            bad.faults,
            ["degraded bandwidth", "access timeout recovery"]
        );
        assert!(bad.fault().unwrap().contains("999"));
    }

    #[test]
    fn the_configuration_of_the_fabric_manager_says_whether_gpus_wait_for_a_tenant() {
        let example = |mode: &str| {
            format!("# FABRIC_MODE=1: shared\nLOG_LEVEL=4\n{mode}\nFABRIC_MODE_RESTART=1\n")
        };
        for mode in [
            "FABRIC_MODE=1",
            "FABRIC_MODE = 2",
            "FABRIC_MODE=0\nFABRIC_MODE=1",
        ] {
            assert!(shares(&example(mode)), "{mode}");
        }
        for mode in ["FABRIC_MODE=0", "", "FABRIC_MODE=1\nFABRIC_MODE=0"] {
            assert!(!shares(&example(mode)), "{mode}");
        }
    }

    #[test]
    fn an_incorrect_configuration_is_a_fault_and_none_is_not() {
        let faults = |health| fabric(3, 0, 5, [1; 16], health).unwrap().faults;
        assert!(faults(0x1aa).is_empty());
        assert_eq!(faults(0x5aa), ["incorrect configuration (too few NVLinks)"]);
        assert_eq!(faults(0xf00), ["incorrect configuration (15)"]);
        // A route that only a reset makes well again.
        assert_eq!(faults(0x1ba), ["route unhealthy"]);
    }
}
