use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why the history cannot be written or read.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// Another process writes it.
    #[error("{dir} is written by another process; end that one, or name another state_dir")]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// The system refused something.
    #[error("{path}: {cause}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A block cannot be made of what is in the journal.
    #[error("a block cannot be written: {0}")]
    Encode(Malformed),
}

impl HistoryError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |cause| Self::Io { path, cause }
    }

    /// Whether there is no such directory: nothing was ever written.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound)
    }
}

/// What bytes have that the format does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// They end early.
    #[error("it ends early")]
    Short,
    /// They go on.
    #[error("there are bytes after its end")]
    Long,
    /// The first bytes are not those of such a file, or their CRC is wrong.
    #[error("it has no header of a history file, or a damaged one")]
    Header,
    /// zstd refuses them, or there is more than a block may have.
    #[error("its payload cannot be decompressed, or is too large")]
    Compression,
    /// A number is out of its range.
    #[error("a number is out of range")]
    Range,
    /// A name is not UTF-8.
    #[error("a name is not UTF-8")]
    Utf8,
    /// A series has a kind that does not exist.
    #[error("a series has an unknown kind")]
    Kind,
    /// A series refers to a number that is not defined.
    #[error("a series is not defined")]
    Undefined,
    /// A histogram has a bucket that does not exist.
    #[error("a histogram is wrong")]
    Histogram,
}
