//! What every Xid, SXid and host fault means, how bad it is and what to do.
//!
//! Two voices are kept apart. The *catalogue* (tables in this crate, in our own words) gives the
//! meaning, the severity and the vendor's public advice. The *site policy* (TOML, a default is
//! built in) says what this site does: page, ticket or log, and its own steps; it may also change
//! the severity. [`Catalogue::assess`] applies both to one occurrence.
//!
//! No I/O: the caller reads the policy file and hands over its text.
#![forbid(unsafe_code)]

mod catalogue;
mod entry;
mod failure_mode;
mod nvlink5;
mod policy;
mod refine;
mod steps;
mod table;

pub use catalogue::Catalogue;
pub use entry::{Category, KindEntry, Scope, SxidEntry, XidEntry};
pub use failure_mode::{failure_mode, failure_mode_title};
pub use nvlink5::{Nvlink5Decode, Nvlink5Severity, nvlink5_decode, nvlink5_link_down_reason};
pub use policy::PolicyError;
