//! The NVIDIA driver's modules: whether they are loaded, and whether the probes are attached to them.
//! `sources/driver_modules.rs` follows them.

use gtrace_api::{ComponentHealth, HealthState, SourceState, SourceStatus};
use gtrace_event::WitnessName;

use super::{About, Component, Context, Snapshot};
use crate::bpf::NO_KPROBES;
use crate::supervise::names;

/// Name of the component.
pub const NAME: &str = "driver_modules";

/// Every probe on the driver.
pub const PROBES: [WitnessName; 3] = [
    WitnessName::DriverIoctl,
    WitnessName::ReportError,
    WitnessName::DevXid,
];
/// What is attached to the driver wherever it can be. `nvidia:nvidia_dev_xid` is attached on request only.
const ATTACHED: [WitnessName; 2] = [WitnessName::DriverIoctl, WitnessName::ReportError];

/// Whether a source should be attached and is not, given all sources. What the kernel cannot do is for `gtrace doctor` to say:
/// the host is as fit for work as any while another source serves instead.
fn is_missing(source: &SourceStatus, sources: &[SourceStatus]) -> bool {
    if matches!(source.state, SourceState::Active | SourceState::Off) {
        return false;
    }
    let serves_instead: &[WitnessName] = match source.witness {
        Some(WitnessName::DriverIoctl) => &[WitnessName::SyscallIoctl],
        _ => &[WitnessName::Kmsg, WitnessName::PrintkConsole],
    };
    let serves = sources.iter().any(|other| {
        other.witness.is_some_and(|w| serves_instead.contains(&w))
            && other.state == SourceState::Active
    });
    source.reason.as_deref() != Some(NO_KPROBES) || !serves
}

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct DriverModules;

impl Component for DriverModules {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "probes attached whenever the NVIDIA driver is loaded, and out of the way when it is unloaded",
            needs: "a loaded NVIDIA driver (/sys/module/nvidia), and the probes",
            remedy: "load the NVIDIA driver: modprobe nvidia",
            task: names::HOUSEKEEPING,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        let module = context.sysfs_root.join("module/nvidia");
        match module.exists() {
            true => Ok(()),
            false => Err("the NVIDIA driver is not loaded".to_owned()),
        }
    }

    /// Degraded if the module is loaded and something that this kernel can attach there is not attached.
    fn check(&self, context: &Context, now: &Snapshot) -> ComponentHealth {
        if let Err(reason) = self.supported(context) {
            return ComponentHealth::now(HealthState::Unknown, [reason]);
        }
        let of_driver = now.sources.iter().filter(|source| {
            let attached = source.witness.is_some_and(|w| ATTACHED.contains(&w));
            attached && is_missing(source, &now.sources)
        });
        let missing: Vec<_> = of_driver
            .map(|source| {
                let reason = source.reason.as_deref().unwrap_or("no reason given");
                format!(
                    "{} is not attached to the loaded driver: {reason}",
                    source.name
                )
            })
            .collect();
        let state = match missing.is_empty() {
            true => HealthState::Healthy,
            false => HealthState::Degraded,
        };
        ComponentHealth::now(state, missing)
    }
}
