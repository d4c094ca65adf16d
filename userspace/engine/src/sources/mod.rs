//! Where occurrences come from. Each source runs in a thread of its own, decodes what it reads,
//! and sends occurrences as [`Input`](crate::input::Input).

pub mod calls;
mod cgroup;
pub mod console;
pub mod devices;
pub mod driver_modules;
mod hardware;
mod housekeeping;
pub mod kmsg;
pub mod layouts;
pub mod operation;
pub mod probes;
pub mod records;
mod reported;
mod shared;
pub mod table;
mod unload;
mod users;
pub mod watched;
