//! The permanent record of events: an append-only, hash-chained SQLite database.
//!
//! One [`Store`] writes; any number of [`Reader`]s, in this process or others, read meanwhile.
//! `docs/store.md` describes the layout and the chain so that a third party can verify it.
#![forbid(unsafe_code)]

mod chain;
mod columns;
mod encoded;
mod epochs;
mod error;
mod filter;
mod health;
mod incidents;
mod lock;
mod open;
mod query;
mod reader;
mod removal;
mod retain;
mod schema;
mod segment;
mod steady;
mod store;
mod sync;
mod tip;
mod verify;

pub use chain::Hash;
pub use encoded::Encoded;
pub use epochs::{Epochs, Resume};
pub use error::StoreError;
pub use filter::{Filter, GpuFilter};
pub use health::HealthEntry;
pub use incidents::IncidentFilter;
pub use open::MovedAside;
pub use reader::{Access, Reader};
pub use retain::RetentionReport;
pub use segment::{Segment, StoredRecord};
pub use steady::SteadyClock;
pub use store::{Options, Size, Store};
pub use sync::Syncer;
pub use verify::{Fault, VerifyReport, Why};
