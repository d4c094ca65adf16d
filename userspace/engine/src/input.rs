//! What sources send to the pipeline. Both know this module, and not each other.

use std::sync::mpsc::{SendError, SyncSender, TrySendError};

/// An occurrence on its way to the core.
pub use gtrace_devices::Observed as Observation;
use gtrace_devices::{GpuInfo, PciTree};
use gtrace_event::{Kind, Occurrence, PciAddress, Provenance, Severity, WitnessName};

use crate::baseline::Judgement;
use crate::clock::boottime_ns;
use crate::hub::Command;
use crate::supervise;

/// How many inputs wait for the core at most.
pub const INPUT_DEPTH: usize = 16_384;
/// Messages of sources without a text of their own begin like this.
pub const SYNTHETIC: &str = "(no text) ";

/// What sources send to the core.
#[derive(Debug)]
pub enum Input {
    /// Something happened.
    Observation(Box<Observation>),
    /// An error of the hardware that another source may report with more: no event of its own where one does.
    Check(Box<Observation>),
    /// How something stands, whatever led to it: an event where health does not know it.
    Standing(Box<Observation>),
    /// Every kernel log record up to this sequence number has been dealt with.
    KmsgProgress(u64),
    /// What the host shows of its GPUs.
    Gpus(Vec<GpuInfo>),
    /// The NVSwitches that PCI shows.
    Nvswitches(Vec<PciAddress>),
    /// What differs from the baseline.
    Baseline(Vec<Judgement>),
    /// Which GPUs are below which PCI ports.
    PciTree(PciTree),
    /// A question or order from the API.
    Command(Command),
    /// Write everything and end.
    Stop,
}

impl Input {
    /// `occurrence` once, by `witness`.
    pub fn once(witness: WitnessName, occurrence: Occurrence) -> Self {
        Self::Observation(Box::new(Observation::new(witness, occurrence, 1)))
    }
}

/// Where sources send.
#[derive(Clone, Debug)]
pub struct InputSender(SyncSender<Input>);

impl From<SyncSender<Input>> for InputSender {
    fn from(sender: SyncSender<Input>) -> Self {
        Self(sender)
    }
}

impl InputSender {
    /// Sends, and waits while the core has too much to do. A thread that another has replaced sends
    /// nothing and ends here.
    ///
    /// # Errors
    ///
    /// If the core has ended.
    pub fn send(&self, input: Input) -> Result<(), SendError<Input>> {
        supervise::sending(|| self.0.send(input))
    }

    /// Sends if the core has room.
    ///
    /// # Errors
    ///
    /// If it has none, or has ended.
    pub fn try_send(&self, input: Input) -> Result<(), TrySendError<Input>> {
        supervise::sending(|| self.0.try_send(input))
    }
}

/// gtrace lost something of a source.
pub fn loss(source: &str, lost: u64, reason: &str) -> Occurrence {
    let message = format!("{lost} records of {source} are lost: {reason}");
    let mut occurrence = Occurrence::new(Kind::SourceLost, Severity::Warning, message);
    occurrence.provenance = Provenance::Kernel;
    occurrence.boottime_ns = Some(boottime_ns());
    let detail = &mut occurrence.detail.source;
    detail.source = Some(source.to_owned());
    detail.lost = Some(lost);
    detail.reason = Some(reason.to_owned());
    occurrence
}

/// Sends observations to the core.
pub fn send_all(inputs: &InputSender, observations: impl IntoIterator<Item = Observation>) {
    for observation in observations {
        let _ = inputs.send(Input::Observation(Box::new(observation)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_on_the_page_of_losses_is_what_this_code_says() {
        let page = include_str!("../../../docs/events/source_lost.md");
        let message = loss("/dev/kmsg", 312, "overwritten before they were read").message;
        assert!(
            page.contains(&format!("\"message\": \"{message}\"")),
            "{message}"
        );
    }
}
