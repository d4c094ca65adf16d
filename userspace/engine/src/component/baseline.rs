//! The baseline of this host: the thread `devices` compares, and keeps in the context whether it could.

use gtrace_api::ComponentHealth;

use super::{About, Component, Context, Snapshot};
use crate::supervise::names;

/// Name of the component.
pub const NAME: &str = "baseline";

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
