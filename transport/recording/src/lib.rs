//! What the pass-through library (`gtrace-trace`) and `gtrace trace` have in common.
//!
//! A thread that calls the driver has a [`layout`] of its own in a memory file: a histogram for each
//! function and a ring of events. It alone writes there; `gtrace trace`, which got the file with a
//! [`message`] when it was made, takes the events while the program runs and reads the rest at its end.
//! The memory is gtrace's as well, so nothing is lost with a process that is killed.

pub mod clock;
pub mod details;
mod functions;
pub mod layout;
pub mod message;
pub mod observe;
mod reader;
mod recorder;
mod variables;

pub use functions::{FUNCTIONS, NAMES, is_success, name};
pub use reader::{MapError, Mapped, Stats, UnderWay};
pub use recorder::{Details, Open, Recorder, Served, Work};
pub use variables::Variables;

/// Kinds of functions by what their events report.
pub mod kind {
    /// Nothing but time and result.
    pub const PLAIN: u8 = 0;
    /// Words: bytes, stream, destination, source.
    pub const COPY: u8 = 1;
    /// Words: bytes, stream, destination.
    pub const SET: u8 = 2;
    /// Words: bytes, stream, address that was given.
    pub const ALLOCATE: u8 = 3;
    /// Words: -, stream, address.
    pub const FREE: u8 = 4;
    /// Words: function, stream, grid (x 32 bits, y 16, z 16), block (16 bits each); extra: bytes of shared
    /// memory.
    pub const LAUNCH: u8 = 5;
    /// Words: -, stream.
    pub const STREAM: u8 = 6;
    /// No call but what the GPU did for one, as events report: from start to end. Words: the kernel, or bytes; stream;
    /// when it was called, in ticks; by how many nanoseconds the GPU's clock may be off. Extra: what kind of call.
    pub const WORK: u8 = 7;
    /// No call but the times of one from the server of a remote GPU; start and end: when the request was sent and
    /// the answer was there. Words: nanoseconds that it waited there, and that it was executed; when it was
    /// called, in ticks; answers that the call waited for. With 0 of these nobody waited: start and end are those of
    /// the execution there, by how many nanoseconds they may be off is the extra, and function is [`crate::NO_FUNCTION`], as
    /// what was called says when.
    pub const SERVED: u8 = 8;
}

/// The words of a launch that say of how many blocks and threads.
///
/// Grids have up to 2^31-1, 65535 and 65535 blocks, blocks up to 1024 threads a dimension (CUDA C programming
/// guide, compute capabilities).
#[inline(always)]
pub fn launch_words(grid: [u32; 3], block: [u32; 3]) -> [u64; 2] {
    let word = |number: u32| u64::from(number & 0xffff);
    let grid = u64::from(grid[0]) | word(grid[1]) << 32 | word(grid[2]) << 48;
    let block = word(block[0]) | word(block[1]) << 16 | word(block[2]) << 32;
    [grid, block]
}

/// Stands for a function where an event does not know which.
pub const NO_FUNCTION: u16 = u16::MAX;
/// Stands for a stream where a function has none.
pub const NO_STREAM: u64 = u64::MAX;
