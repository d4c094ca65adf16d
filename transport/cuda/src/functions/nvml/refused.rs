//! Functions of NVML that do not travel: what a program that calls one is answered, and why. Their names are exported all the
//! same, as a driver's library has them.

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// NVML_ERROR_NO_PERMISSION, as a driver answers users who are not root.
    NoPermission,
    /// NVML_ERROR_NOT_SUPPORTED, as a driver answers where the device does not have it.
    NotSupported,
    /// NVML_ERROR_INVALID_ARGUMENT, as a driver answers for a unit where there is none.
    NoUnit,
}

impl Refusal {
    /// The name of the result.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoPermission => "NVML_ERROR_NO_PERMISSION",
            Self::NotSupported => "NVML_ERROR_NOT_SUPPORTED",
            Self::NoUnit => "NVML_ERROR_INVALID_ARGUMENT",
        }
    }
}

const CHANGES: &str = "it changes the device, which is the server's, and others use it too";
const AFFINITY: &str = "it binds a thread, which is on the program's machine, to processors near the device, which is not";
const WINDOWS: &str = "only Windows has driver models";
const VIRTUAL: &str = "virtual GPUs are the business of the server's hypervisor";
const UNBOUNDED: &str = "its caller does not say how many it has room for: instances are there one by one, by their number";
const SYSTEM_EVENTS: &str =
    "events of the system (GPUs that are bound and unbound) are not forwarded";
const UNITS: &str = "units (S-class chassis) are not forwarded";
const OLDER: &str = "its structure is an older one; the newest version of the function is there";
const REGISTERS: &str = "it reads registers of the device, which is the server's";

/// Beginnings of names, of which the first that fits counts.
const REFUSALS: &[(&str, Refusal, &str)] = &[
    ("nvmlDeviceSetCpuAffinity", Refusal::NotSupported, AFFINITY),
    (
        "nvmlDeviceClearCpuAffinity",
        Refusal::NotSupported,
        AFFINITY,
    ),
    ("nvmlDeviceSetDriverModel", Refusal::NotSupported, WINDOWS),
    ("nvmlDeviceSet", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceReset", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceClear", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceCreate", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceRemove", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceModify", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceFreeze", Refusal::NoPermission, CHANGES),
    ("nvmlDeviceDiscover", Refusal::NoPermission, CHANGES),
    ("nvmlDevicePowerSmoothing", Refusal::NoPermission, CHANGES),
    (
        "nvmlDeviceWorkloadPowerProfileClear",
        Refusal::NoPermission,
        CHANGES,
    ),
    (
        "nvmlDeviceWorkloadPowerProfileSet",
        Refusal::NoPermission,
        CHANGES,
    ),
    ("nvmlDeviceReadWritePRM", Refusal::NoPermission, CHANGES),
    ("nvmlGpuInstanceCreate", Refusal::NoPermission, CHANGES),
    ("nvmlGpuInstanceDestroy", Refusal::NoPermission, CHANGES),
    ("nvmlGpuInstanceSet", Refusal::NoPermission, CHANGES),
    ("nvmlComputeInstanceDestroy", Refusal::NoPermission, CHANGES),
    ("nvmlGpmSetStreamingEnabled", Refusal::NoPermission, CHANGES),
    ("nvmlSetVgpuVersion", Refusal::NoPermission, CHANGES),
    ("nvmlSystemSet", Refusal::NoPermission, CHANGES),
    ("nvmlVgpuInstanceClear", Refusal::NoPermission, CHANGES),
    ("nvmlVgpuInstanceSet", Refusal::NoPermission, CHANGES),
    ("nvmlUnit", Refusal::NoUnit, UNITS),
    ("nvmlVgpuInstance", Refusal::NotSupported, VIRTUAL),
    ("nvmlGetVgpu", Refusal::NotSupported, VIRTUAL),
    ("nvmlDeviceGetVgpu", Refusal::NotSupported, VIRTUAL),
    ("nvmlDeviceGetPgpu", Refusal::NotSupported, VIRTUAL),
    (
        "nvmlGpuInstanceGetActiveVgpus",
        Refusal::NotSupported,
        VIRTUAL,
    ),
    (
        "nvmlGpuInstanceGetCreatableVgpus",
        Refusal::NotSupported,
        VIRTUAL,
    ),
    ("nvmlGpuInstanceGetVgpu", Refusal::NotSupported, VIRTUAL),
    (
        "nvmlDeviceGetGpuInstancePossiblePlacements",
        Refusal::NotSupported,
        OLDER,
    ),
    (
        "nvmlDeviceGetGpuInstances",
        Refusal::NotSupported,
        UNBOUNDED,
    ),
    (
        "nvmlGpuInstanceGetComputeInstances",
        Refusal::NotSupported,
        UNBOUNDED,
    ),
    ("nvmlSystemEventSet", Refusal::NotSupported, SYSTEM_EVENTS),
    (
        "nvmlSystemRegisterEvents",
        Refusal::NotSupported,
        SYSTEM_EVENTS,
    ),
    (
        "nvmlDeviceGetGridLicensableFeatures",
        Refusal::NotSupported,
        OLDER,
    ),
    (
        "nvmlDeviceReadPRMCounters",
        Refusal::NotSupported,
        REGISTERS,
    ),
    (
        "nvmlSystemGetConfComputeKeyRotationThresholdInfo",
        Refusal::NotSupported,
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
