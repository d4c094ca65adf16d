//! The PCI side of a GPU, from sysfs: presence, link, AER counters of the device and of every
//! port above it, and which ports those are.

mod aer;
mod device;
mod link;
mod tree;
mod watch;

pub use aer::{AerCounters, AerSeverity};
pub use device::{PciClass, PciDevice, inventory};
pub use tree::{PciTree, Relation};
pub use watch::{AerReport, PciReport, PciWatch};

/// The parser of `aer_dev_*` files, for fuzzing.
#[doc(hidden)]
pub use aer::parse as parse_aer;
/// The parser of `*_link_speed` files, for fuzzing.
#[doc(hidden)]
pub use link::parse_speed;
