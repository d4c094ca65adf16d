//! The baseline of this host: the thread `devices` compares, and keeps here whether it could.

use std::sync::Mutex;

use gtrace_api::{ComponentHealth, HealthState};

use super::{About, Component, Context, Snapshot};
use crate::lock::lock;
use crate::supervise::{self, names};

/// Name of the component.
pub const NAME: &str = "baseline";

/// Why the file is refused, after the first comparison.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Option<Option<String>>>);

impl Kept {
    /// Keeps what a comparison came to, unless another thread has taken the place of the calling one.
    pub fn set(&self, refused: Option<String>) {
        if !supervise::is_revoked() {
            *lock(&self.0) = Some(refused);
        }
    }

    /// Why the file is refused now.
    pub fn refused(&self) -> Option<String> {
        lock(&self.0).clone().flatten()
    }

    /// The health of whoever rests on the file; `not_yet` says why nothing is known at first.
    pub fn judge(&self, not_yet: &str) -> ComponentHealth {
        match &*lock(&self.0) {
            None => ComponentHealth::now(HealthState::Unknown, [not_yet.to_owned()]),
            Some(None) => ComponentHealth::now(HealthState::Healthy, None),
            Some(Some(refused)) => ComponentHealth::now(HealthState::Degraded, [refused.clone()]),
        }
    }
}

/// The component. What differs is a reason of the GPU or of the host.
#[derive(Clone, Copy, Debug)]
pub struct BaselineFile;

impl Component for BaselineFile {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "what differs from the baseline: driver, VBIOS, firmware, settings, counts of devices",
            needs: "the file that `baseline` names, and pci_interval_s and nvml_interval_s above 0",
            remedy: "write the file on a host that is as it should be: gtrace baseline save",
            task: names::DEVICES,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        match crate::baseline::load(&context.baseline) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(format!("there is no {}", context.baseline.display())),
            Err(error) => Err(error.to_string()),
        }
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        context.compared.judge("nothing was compared yet")
    }
}
