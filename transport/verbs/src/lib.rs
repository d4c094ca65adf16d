//! RDMA verbs, as far as a link needs them: devices, protection domains, memory regions, completion
//! queues and reliable-connected queue pairs.
//!
//! Nothing here is linked with libibverbs: `libibverbs.so.1` is loaded when it is first asked for, and
//! where it is missing every call says so ([`VerbsError::NoLibrary`]). So one binary starts on hosts
//! with and without rdma-core, and the library that is loaded into other programs brings no symbol
//! into them. The structures of its interface are declared in the module `ffi`: they are those of
//! `IBVERBS_1.1`, which rdma-core keeps as they are for programs that were built long ago; a test
//! compares them with the headers where these are installed.

mod completion;
mod context;
mod error;
mod ffi;
#[cfg(test)]
mod layout;
mod library;
mod queue_pair;
mod region;
mod sysfs;

pub use completion::{Completion, Outcome};
pub use context::{Context, Port};
pub use error::VerbsError;
pub use library::available;
pub use queue_pair::{Capacity, Peer, QueuePair, Remote};
pub use region::{Access, Domain, Pinned, Region};
pub use sysfs::{Gid, GidKind, devices, gid_of, gids};
