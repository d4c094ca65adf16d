//! The BPF side: the kernel's layout, loading and attaching the probes, draining their rings.

mod btf;
mod driver;
mod layout;
mod objects;
mod probes;
mod ring;
mod stats;
mod tables;
mod tracefs;

pub use btf::{Btf, BtfError};
pub use driver::{DRIVER_MODULES, DriverModule};
pub use layout::{KERNEL_BTF, Layout, read as read_layout};
pub use probes::{AttachState, Hook, LoadError, PROBES, Probe, Probes, ProbesOptions};
pub use ring::{RingRecord, drain};
pub use stats::{RunStats, map_bytes};
pub use tracefs::{Tracefs, TracefsError};
