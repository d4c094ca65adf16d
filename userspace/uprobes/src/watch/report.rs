//! The settings of a watch, and its report.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use gtrace_abi::{ApiCounter, Ledger};

use crate::collect::Row;
use crate::library;
use crate::procfs::Identity;

/// The process id under which older ones are summed up.
pub const ENDED: u32 = 0;

/// What a function's probes cost, and what is done about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Nanoseconds since the start, over all processes.
    pub ns: f64,
    /// One call in so many is timed.
    pub time_every: u32,
    /// Whether its probes were taken away.
    pub shed: bool,
    /// How long it had no probes until now.
    pub unseen: Duration,
}

/// Device memory of a process.
#[derive(Clone, Debug, Default)]
pub struct MemoryReport {
    /// What was seen.
    pub ledger: Ledger,
    /// Growth in bytes a second; `None` while there are too few samples.
    pub rate: Option<f64>,
    /// When the device's memory will be full if it goes on like this. Known if the process has asked
    /// for how much there is, or the caller gave it.
    pub full_in: Option<Duration>,
}

/// All that is known after a while.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Calls by process and function; process [`ENDED`] stands for those that ended long ago, and
    /// for those that had no room in the kernel's tables.
    pub rows: Vec<Row>,
    /// Process and function of rows that lack calls: the function had no probes for a while.
    pub partial: BTreeSet<(u32, u32)>,
    /// Who they are.
    pub processes: HashMap<u32, Identity>,
    /// Device memory by process.
    pub memory: BTreeMap<u32, MemoryReport>,
    /// By number of the function.
    pub costs: BTreeMap<u32, Cost>,
    /// Whether the ledgers of memory end early, as the probes that keep them cost too much.
    pub tracking_disabled: bool,
    /// CPU time of the traced processes while they were traced, nanoseconds.
    pub cpu_ns: f64,
    /// What was dropped.
    pub counters: Vec<(ApiCounter, u64)>,
    /// Times that a library found no place, or had to give up its own.
    pub refused: u64,
}

impl Report {
    /// What was lost of calls, by name.
    pub fn lost(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let dropped = self.counters.iter();
        let dropped = dropped.filter(|(counter, _)| *counter != ApiCounter::Sent);
        let dropped = dropped.map(|(counter, n)| (counter.name(), *n));
        dropped.chain([("api_libraries_full", self.refused)])
    }
}

/// What the watch does besides counting.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Share of the traced processes' CPU time that the probes may cost; `None` for any.
    pub budget: Option<f64>,
    /// How library files are named.
    pub library: String,
    /// Bytes of device memory, where the process does not ask for it.
    pub device_memory: Option<u64>,
    /// Processes that have ended and are still distinguished; of older ones only the sum is kept.
    pub ended: usize,
    /// After what time at least a function that was too expensive is tried again: later the more it cost, and
    /// twice as long each time that it is so again; `None` for never.
    pub retry: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            budget: Some(0.01),
            library: library::LIBCUDA.to_owned(),
            device_memory: None,
            ended: 32,
            retry: Some(Duration::from_secs(10)),
        }
    }
}
