//! Functions of NVML that do not travel: what a program that calls one is answered, and why. Their names are exported all the
//! same, as a driver's library has them.

use Refusal::{NoPermission, NotSupported};

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// NVML_ERROR_NO_PERMISSION, as a driver answers users who are not root.
    NoPermission,
    /// NVML_ERROR_NOT_SUPPORTED, as a driver answers where the device does not have it.
    NotSupported,
}

impl Refusal {
    /// The name of the result.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoPermission => "NVML_ERROR_NO_PERMISSION",
            Self::NotSupported => "NVML_ERROR_NOT_SUPPORTED",
        }
    }
}

const CHANGES: &str = "it changes the device, which is the server's, and others use it too";
const AFFINITY: &str = "it binds a thread, which is on the program's machine, to processors near the device, which is not";
const WINDOWS: &str = "only Windows has driver models";
const MIGRATION: &str =
    "it is for hypervisors that move virtual GPUs, in structures whose sizes differ by driver";
const PLACEMENTS: &str = "its structure with a list has several versions";
const LENGTH: &str = "it does not say whether the length of its text counts the zero at the end";
const OLDER: &str = "its structure is an older one; the newest version of the function is there";
const REGISTERS: &str = "it reads registers of the device, which is the server's";

/// Beginnings of names, of which the first that fits counts.
const REFUSALS: &[(&str, Refusal, &str)] = &[
    ("nvmlDeviceSetCpuAffinity", NotSupported, AFFINITY),
    ("nvmlDeviceClearCpuAffinity", NotSupported, AFFINITY),
    ("nvmlDeviceSetDriverModel", NotSupported, WINDOWS),
    ("nvmlDeviceSet", NoPermission, CHANGES),
    ("nvmlDeviceReset", NoPermission, CHANGES),
    ("nvmlDeviceClear", NoPermission, CHANGES),
    ("nvmlDeviceCreate", NoPermission, CHANGES),
    ("nvmlDeviceRemove", NoPermission, CHANGES),
    ("nvmlDeviceModify", NoPermission, CHANGES),
    ("nvmlDeviceFreeze", NoPermission, CHANGES),
    ("nvmlDeviceDiscover", NoPermission, CHANGES),
    ("nvmlDevicePowerSmoothing", NoPermission, CHANGES),
    ("nvmlDeviceWorkloadPowerProfileClear", NoPermission, CHANGES),
    ("nvmlDeviceWorkloadPowerProfileSet", NoPermission, CHANGES),
    ("nvmlDeviceReadWritePRM", NoPermission, CHANGES),
    ("nvmlGpuInstanceCreate", NoPermission, CHANGES),
    ("nvmlGpuInstanceDestroy", NoPermission, CHANGES),
    ("nvmlGpuInstanceSet", NoPermission, CHANGES),
    ("nvmlComputeInstanceDestroy", NoPermission, CHANGES),
    ("nvmlGpmSetStreamingEnabled", NoPermission, CHANGES),
    ("nvmlSetVgpuVersion", NoPermission, CHANGES),
    ("nvmlSystemSet", NoPermission, CHANGES),
    ("nvmlVgpuInstanceClear", NoPermission, CHANGES),
    ("nvmlVgpuInstanceSet", NoPermission, CHANGES),
    ("nvmlUnitSet", NoPermission, CHANGES),
    ("nvmlVgpuInstanceGetGpuPciId", NotSupported, LENGTH),
    ("nvmlVgpuInstanceGetLicenseInfo", NotSupported, OLDER),
    ("nvmlVgpuInstanceGetMetadata", NotSupported, MIGRATION),
    ("nvmlGetVgpuCompatibility", NotSupported, MIGRATION),
    ("nvmlDeviceGetVgpuMetadata", NotSupported, MIGRATION),
    (
        "nvmlDeviceGetVgpuTypeCreatablePlacements",
        NotSupported,
        PLACEMENTS,
    ),
    (
        "nvmlDeviceGetVgpuTypeSupportedPlacements",
        NotSupported,
        PLACEMENTS,
    ),
    ("nvmlDeviceGetPgpu", NotSupported, LENGTH),
    (
        "nvmlDeviceGetGpuInstancePossiblePlacements",
        NotSupported,
        OLDER,
    ),
    ("nvmlDeviceGetGridLicensableFeatures", NotSupported, OLDER),
    ("nvmlDeviceReadPRMCounters", NotSupported, REGISTERS),
    (
        "nvmlSystemGetConfComputeKeyRotationThresholdInfo",
        NotSupported,
        OLDER,
    ),
];

/// What `name` is answered, and why, if it is a function that does not travel.
pub fn refusal(name: &str) -> Option<(Refusal, &'static str)> {
    let mut refusals = REFUSALS.iter();
    let found = refusals.find(|(beginning, ..)| name.starts_with(beginning));
    found.map(|(_, refusal, why)| (*refusal, *why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Api, functions, signatures};

    fn is_described(name: &str) -> bool {
        functions::all(Api::Nvml).any(|function| function.name == name)
    }

    #[test]
    fn each_function_is_described_or_refused() {
        for signature in signatures::NVML {
            let name = signature.name;
            assert!(is_described(name) || refusal(name).is_some(), "{name}");
        }
    }

    #[test]
    fn each_refusal_is_of_some_function() {
        for (at, (beginning, ..)) in REFUSALS.iter().enumerate() {
            let mut all = signatures::NVML.iter().map(|signature| signature.name);
            let own = |name: &str| {
                let first = REFUSALS.iter().position(|(own, ..)| name.starts_with(own));
                !is_described(name) && first == Some(at)
            };
            assert!(all.any(own), "{beginning}");
        }
    }
}
