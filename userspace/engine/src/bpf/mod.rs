//! The BPF side: the kernel's layout, loading and attaching the probes, draining their rings.

mod driver_links;
mod driver_probes;
mod layout;
mod objects;
mod probes;
mod programs;
mod ring;
mod state;
mod stats;
mod tables;
mod tracefs;

pub use driver_probes::NO_KPROBES;
pub use layout::{KERNEL_BTF, Layout, read as read_layout};
pub use probes::{Probes, ProbesOptions};
pub use programs::{DriverModule, Hook, PROBES, Probe, witness_of_program};
pub use ring::{RingRecord, drain};
pub use state::{AttachState, LoadError};
pub use stats::{RunStats, map_bytes};
pub use tracefs::{Tracefs, TracefsError};
