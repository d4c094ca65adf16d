//! Kernel-log text in, [`Occurrence`](gtrace_event::Occurrence)s out. No I/O, no panic on any input.
//!
//! * [`Decoder`] takes records one by one, as `/dev/kmsg` or `printk:console` give them, without
//!   any prefix. Most records match nothing and are refused within tens of nanoseconds.
//! * [`kmsg`] reads one record of `/dev/kmsg`.
//! * [`saved`] reads a saved log (`dmesg`, `journalctl`, syslog, `/dev/kmsg`, raw text), finds and
//!   strips each line's prefix and feeds the rest to a [`Decoder`].
//!
//! What is recognised, one file a family: Xid lines and the NVIDIA driver's lines without Xid,
//! NVSwitch SXid, PCIe AER with containment and recovery, PCIe hotplug and link status, OOM kills, hung tasks and lockups, crashes in NCCL, nvidia-peermem,
//! mlx5, file systems gone read-only, NVMe timeouts. A line that merely quotes one of these, with
//! other text before it, is none.
#![forbid(unsafe_code)]

pub mod cper;
mod decoder;
mod forms;
mod group;
pub mod kmsg;
mod record;
pub mod saved;
mod scan;
mod version;

pub use decoder::{Decoder, Options};
pub use record::LogRecord;
pub use version::{DriverVersion, DriverVersionError};
