//! From occurrences to the record: fold, explain, store, publish.
//!
//! One thread, the core, owns the fold; another, the writer, owns the store and publishes what that
//! has taken. Sources send over a
//! bounded channel: when the core is behind, they wait, and what the kernel's buffers cannot hold
//! meanwhile is counted where it is lost.

mod confirm;
mod core;
#[cfg(test)]
mod day_tests;
mod disk;
pub mod fold;
mod incidents;
mod known;
mod outbox;
mod pending_checks;
mod pending_xids;
mod times;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gtrace_catalogue::Catalogue;
use gtrace_devices::PciTree;
use gtrace_store::Store;

use crate::hub::Hub;
use crate::open_record::EndRecord;
use crate::poll::PollRequest;

pub use self::core::{Core, replay_health, spawn};

/// Changes to an event go out together, at most this often.
pub const AMEND_EVERY: Duration = Duration::from_millis(100);
/// Name of the store's cursor into the kernel log.
pub const KMSG_CURSOR: &str = "kmsg";

/// The site's rules of health as the core begins.
#[derive(Debug, Default)]
pub enum SiteRules {
    /// Those that the store has: the file is refused.
    #[default]
    AsStored,
    /// The text of the file, which was understood; none where there is no file.
    Read(Option<String>),
}

impl SiteRules {
    fn take(&mut self) -> Self {
        std::mem::take(self)
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
    pub dedup_window: Duration,
    /// Host name.
    pub host: String,
    /// The machine, as events carry it.
    pub machine_id: Option<String>,
    /// The kernel's boot id.
    pub boot_id: String,
    /// The site's rules of health, to begin with.
    pub site_rules: SiteRules,
    /// Which GPUs are below which PCI ports, to begin with.
    pub tree: PciTree,
    /// Where to ask for a poll of the devices.
    pub poll_soon: PollRequest,
    /// Where to ask for the end of an open record of the kernel log.
    pub end_record: EndRecord,
}
