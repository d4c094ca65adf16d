//! HdrHistogram interval logs (.hlog) with histograms of version 2, compressed, as the readers of
//! HdrHistogram in Java, C, Python and JavaScript take them.
//!
//! A line for each row, or for each row and interval where there are intervals, under a tag that names
//! the row. Times are in nanoseconds; the column of maxima in milliseconds, as is usual. What the
//! format has no place for is left out: failures, bytes, calls that were not timed, the exact sum and
//! maximum.

mod payload;
mod read;
mod tag;
mod write;

pub use payload::{PayloadError, decode};
pub use read::{LINES_MAX, ReadError, read};
pub use write::{WriteError, write};

#[cfg(test)]
mod tests;
