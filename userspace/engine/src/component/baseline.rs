//! The baseline of this host: the thread `devices` compares, and keeps here whether it could.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gtrace_api::{ComponentHealth, HealthState};

use super::{Component, Context, Snapshot};
use crate::supervise::{self, names};

/// Name of the component.
pub const NAME: &str = "baseline";

/// Why the file is refused, after the first comparison.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Option<Option<String>>>);

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Option<Option<String>>> {
        // Whatever a panic left there was set whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what a comparison came to, unless another thread has taken the place of the calling one.
    pub fn set(&self, refused: Option<String>) {
        if !supervise::is_revoked() {
            *self.lock() = Some(refused);
        }
    }

    /// Why the file is refused now.
    pub fn refused(&self) -> Option<String> {
        self.lock().clone().flatten()
    }

    /// The health of whoever rests on the file; `not_yet` says why nothing is known at first.
    pub fn judge(&self, not_yet: &str) -> ComponentHealth {
        match &*self.lock() {
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
    fn name(&self) -> &'static str {
        NAME
    }

    fn gives(&self) -> &'static str {
        "what differs from the baseline: driver, VBIOS, firmware, settings, counts of devices"
    }

    fn needs(&self) -> &'static str {
        "the file that `baseline` names, and pci_interval_s and nvml_interval_s above 0"
    }

    fn remedy(&self) -> &'static str {
        "write the file on a host that is as it should be: gtrace baseline save"
    }

    fn task(&self) -> &'static str {
        names::DEVICES
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
