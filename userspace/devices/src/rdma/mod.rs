//! RDMA devices (InfiniBand, RoCE) in sysfs: states and rates of their ports, and what they count.
//!
//! Source of the files' meaning: Documentation/ABI/stable/sysfs-class-infiniband of the kernel, and the drivers of
//! `hw_counters` (mlx5, rxe).

mod counters;
mod known;
mod metrics;
mod port;
mod watch;

pub use counters::{CounterClass, PORT_COUNTERS, PortCounter};
pub use port::{RdmaExpected, RdmaPort, parse_rate, parse_state};
pub use watch::{RdmaHealth, RdmaReport, RdmaState, RdmaWatch};
