//! What the reader and the writer of a ring must not believe of each other.

use thiserror::Error;

/// What a counter of the other side cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the ring's {counter} is {found}, between {least} and {most} was expected")]
pub struct RingError {
    /// Which.
    pub counter: &'static str,
    /// What was found.
    pub found: u64,
    /// Smallest that it can be.
    pub least: u64,
    /// Largest that it can be.
    pub most: u64,
}
