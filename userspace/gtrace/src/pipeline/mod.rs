//! From occurrences to the record: fold, explain, publish, store.
//!
//! One thread, the core, owns the fold; another, the writer, owns the store. Sources send over a
//! bounded channel: when the core is behind, they wait, and what the kernel's buffers cannot hold
//! meanwhile is counted where it is lost.

mod core;
pub mod fold;
mod known;
#[cfg(test)]
pub(crate) mod made_up_sys;
mod textless;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use gtrace_catalogue::Catalogue;
use gtrace_devices::{GpuInfo, PciTree};
use gtrace_event::{Occurrence, WitnessName};
use gtrace_store::Store;

use crate::hub::{Command, Hub};
use crate::sources::look::LookSoon;

pub use self::core::{Core, spawn};

/// How many inputs wait for the core at most.
pub const INPUT_DEPTH: usize = 16_384;
/// Changes to an event go out together, at most this often.
pub const AMEND_EVERY: Duration = Duration::from_millis(100);
/// Name of the store's cursor into the kernel log.
pub const KMSG_CURSOR: &str = "kmsg";

/// What sources tell the core.
#[derive(Debug)]
pub enum Input {
    /// Something happened.
    Told(Box<Told>),
    /// Every kernel log record up to this sequence number has been dealt with.
    KmsgProgress(u64),
    /// What the host shows of its GPUs.
    Gpus(Vec<GpuInfo>),
    /// Which GPUs are below which PCI ports.
    PciTree(PciTree),
    /// A question or order from the API.
    Command(Command),
    /// Write everything and end.
    Stop,
}

/// An occurrence on its way to the core.
#[derive(Debug)]
pub struct Told {
    /// Who tells.
    pub witness: WitnessName,
    /// What.
    pub occurrence: Occurrence,
    /// How often; 1 for most sources, the rise of the counter for polled ones.
    pub count: u64,
}

impl Told {
    /// `occurrence` once, by `witness`.
    pub fn once(witness: WitnessName, occurrence: Occurrence) -> Input {
        Input::Told(Box::new(Self {
            witness,
            occurrence,
            count: 1,
        }))
    }
}

/// What the core needs.
pub struct CoreOptions {
    /// The shared state.
    pub hub: Arc<Hub>,
    /// Meaning and advice.
    pub catalogue: Catalogue,
    /// The store, opened.
    pub store: Store,
    /// Its file.
    pub store_path: PathBuf,
    /// How long a repeat stays a repeat.
    pub fold_window: Duration,
    /// Host name.
    pub host: String,
    /// The kernel's boot id.
    pub boot_id: String,
    /// Which GPUs are below which PCI ports, to begin with.
    pub tree: PciTree,
    /// Where to ask for a look at the devices.
    pub look_soon: LookSoon,
}

/// Where sources send.
pub type InputSender = SyncSender<Input>;
