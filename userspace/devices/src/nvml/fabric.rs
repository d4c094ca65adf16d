//! How a GPU stands with its NVLink fabric: whether the fabric manager has registered it, in which clique, and whether the fabric is
//! well. GPUs of one clique can reach each other's memory. GPUs of NVSwitch systems, driver 535 and later.
//!
//! Source: nvml.h, nvmlGpuFabricInfoV_t (version 2, driver 545) and nvmlGpuFabricInfo_t before it. The wrapper lacks both.

#![allow(unsafe_code, reason = "calls of NVML that the wrapper does not have")]

use std::path::Path;

use nvml_wrapper::Device;
use nvml_wrapper_sys::bindings::{
    NvmlLib, nvmlGpuFabricInfo_t, nvmlGpuFabricInfo_v2_t, nvmlGpuFabricInfoV_t,
};

use crate::{Fabric, FabricState};

/// nvmlReturn_t.
const SUCCESS: u32 = 0;
/// Bits of the health mask, two of each kind: 1 for yes, 2 for no, 0 where it does not apply.
const FAULTS: [(u32, &str); 4] = [
    (0, "degraded bandwidth"),
    (2, "route recovery in progress"),
    (4, "route unhealthy"),
    (6, "access timeout recovery"),
];

/// The functions, where the library has them.
pub(super) struct FabricReader(Option<NvmlLib>);

impl FabricReader {
    /// Of the library that NVML was opened from.
    pub(super) fn open(library: &Path) -> Self {
        // SAFETY: the library is loaded already, so that none of its code runs here but that of the dynamic linker, which counts one user
        // more.
        Self(unsafe { NvmlLib::new(library.as_os_str()) }.ok())
    }

    /// What it says of `device`; `None` where it has no fabric, or the driver does not know.
    pub(super) fn read(&self, device: &Device<'_>) -> Option<Fabric> {
        let library = self.0.as_ref()?;
        self.versioned(library, device)
            .or_else(|| self.first(library, device))
    }

    fn versioned(&self, library: &NvmlLib, device: &Device<'_>) -> Option<Fabric> {
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

    fn first(&self, library: &NvmlLib, device: &Device<'_>) -> Option<Fabric> {
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

fn fabric(state: u32, status: u32, clique: u32, cluster: [u8; 16], health: u32) -> Option<Fabric> {
    let state = match state {
        1 => FabricState::NotStarted,
        2 => FabricState::InProgress,
        3 => FabricState::Completed,
        _ => return None,
    };
    let faults = FAULTS.iter().filter(|(bit, _)| health >> bit & 3 == 1);
    let uuid = uuid(cluster);
    Some(Fabric {
        state,
        status: (state == FabricState::Completed).then_some(status),
        clique: (state == FabricState::Completed).then_some(clique),
        cluster: (cluster != [0; 16]).then_some(uuid),
        faults: faults.map(|(_, fault)| (*fault).to_owned()).collect(),
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
}
