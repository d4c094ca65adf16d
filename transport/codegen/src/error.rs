//! Why nothing could be written.

use std::path::PathBuf;

use thiserror::Error;

/// Why a file could not be generated: a description that the generators cannot follow, or a folder that
/// cannot be written to.
#[derive(Debug, Error)]
pub enum Error {
    /// The bindings have no function of this name.
    #[error("{0} has no signature")]
    NoSignature(&'static str),
    /// A function without a description needs a reason in `functions::why_absent`.
    #[error("{0} is not described, and no reason is given in functions/absent.rs")]
    NoReason(&'static str),
    /// An argument that needs a length has none.
    #[error("{0}: no length is described")]
    NoLength(&'static str),
    /// An argument that travels in a way that this side has no code for.
    #[error("{argument}: {reason}")]
    Unsupported {
        /// Its name.
        argument: &'static str,
        /// What is not supported.
        reason: &'static str,
    },
    /// Cargo sets `OUT_DIR` for build scripts only.
    #[error("OUT_DIR is not set: this is for build scripts")]
    NoFolder,
    /// A file could not be written.
    #[error("{path}: {source}")]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Never, for text in memory.
    #[error(transparent)]
    Format(#[from] std::fmt::Error),
}
