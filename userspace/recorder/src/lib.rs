//! The flight recorder: what happened on this host in the last minutes, whether or not it became an event, and what of it
//! is kept when an incident opens.
//!
//! [`Ring`] is the memory, [`Disk`] the same behind it on disk, for a process that is killed or a power cut. A
//! [`Recording`] is what is kept of one incident, a directory of files: see [`evidence`]. Everything is JSON, an
//! [`Entry`] a line, so that any tool can read it; a line that a crash has torn is passed over and counted.

#![forbid(unsafe_code)]

mod disk;
mod entry;
pub mod evidence;
mod ring;
mod snapshot;

pub use disk::{Disk, Lines};
pub use entry::{Entry, KernelLine, ModuleChange, ProcessChange, What, kernel_line, line};
pub use evidence::{Plan, Recording};
pub use ring::{Limits, Read, Ring};
pub use snapshot::{Part, Snapshot};

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct FileError {
    /// The file or directory.
    pub path: std::path::PathBuf,
    /// What the system said.
    #[source]
    pub cause: std::io::Error,
}

impl FileError {
    fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |cause| Self {
            path: path.to_owned(),
            cause,
        }
    }
}
