//! Whether the host and its parts are fit for work: states, reasons, what to do.
//!
//! A [`Fold`] takes the store's records in their order: events as of each record, acknowledgements, and records of
//! health such as a reboot. Whoever gives it the same records gets the same states, so a daemon that starts again, and
//! a reader of a copied store, know what the daemon knew. Which event makes what worse, and what ends it, are [`Rules`],
//! which are data: `rules/*.toml`, and a file of the site, whose text is one of the records. No I/O, no clock of its own, no threads.
#![forbid(unsafe_code)]

mod fold;
mod pattern;
mod reason;
mod rules;
mod site;
mod subject;

pub use fold::{Change, Fold, NOT_SEEN};
pub use rules::{Row, RuleError, Rules};
pub use site::SITE_RULES_MAX;
