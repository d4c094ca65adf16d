//! What can be wrong with a module, and what can go wrong while a kernel runs.

use thiserror::Error;

/// Why a module cannot be parsed, linked or loaded. `line` counts from 1 in the module's text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PtxError {
    /// The text is not PTX.
    #[error("PTX line {line}: {message}")]
    Syntax {
        /// Line of the text.
        line: u32,
        /// What was found and what was expected.
        message: String,
    },
    /// PTX that this executor does not carry out.
    #[error("PTX line {line}: `{instruction}` is not supported: {reason}")]
    Unsupported {
        /// Line of the text.
        line: u32,
        /// The instruction or directive as it was written.
        instruction: String,
        /// Which part of it.
        reason: String,
    },
    /// A name that nothing in scope declares.
    #[error("PTX line {line}: `{symbol}` is not declared")]
    Undeclared {
        /// Line of the text.
        line: u32,
        /// The name.
        symbol: String,
    },
    /// An extern symbol that no linked module defines.
    #[error("unresolved extern `{symbol}`: link the module that defines it")]
    Unresolved {
        /// The name.
        symbol: String,
    },
    /// Two definitions of one symbol.
    #[error("`{symbol}` is defined twice: make one of them .weak or rename it")]
    Duplicate {
        /// The name.
        symbol: String,
    },
}

impl PtxError {
    pub(crate) fn syntax(line: u32, message: impl Into<String>) -> Self {
        Self::Syntax {
            line,
            message: message.into(),
        }
    }
}

/// Where in a grid something went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The function that was running.
    pub function: String,
    /// Line of the PTX text.
    pub line: u32,
    /// %ctaid of the block.
    pub block: [u32; 3],
    /// %tid of the thread.
    pub thread: [u32; 3],
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            function,
            line,
            block: [bx, by, bz],
            thread: [tx, ty, tz],
        } = self;
        write!(
            f,
            "{function}, PTX line {line}, block ({bx},{by},{bz}), thread ({tx},{ty},{tz})"
        )
    }
}

/// Why a launch did not run to its end, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "sites and lengths say themselves what they are"
)]
pub enum Fault {
    /// A load, store or atomic outside of every allocation, or a store to read-only memory.
    #[error("illegal {} of {len} bytes at {address:#x} in {site}", if *write { "write" } else { "read" })]
    IllegalAddress {
        /// The address as the thread formed it.
        address: u64,
        len: u32,
        /// A store or an atomic.
        write: bool,
        site: Site,
    },
    /// An address that is not a multiple of the size of the access.
    #[error("misaligned access of {len} bytes at {address:#x} in {site}")]
    Misaligned {
        /// The address as the thread formed it.
        address: u64,
        len: u32,
        site: Site,
    },
    /// The instruction `trap` or `brkpt`.
    #[error("trap in {site}")]
    Trap { site: Site },
    /// A device-side assertion failed.
    #[error("assertion failed: {place}: {expression} in {site}")]
    Assert {
        /// File, line and function as the program gave them.
        place: String,
        /// What did not hold, as the program gave it.
        expression: String,
        site: Site,
    },
    /// An instruction that cannot be carried out with these operands.
    #[error("illegal instruction: {reason} in {site}")]
    IllegalInstruction {
        /// Which operand.
        reason: String,
        site: Site,
    },
    /// A jump or call to an address that is no function or label.
    #[error("invalid program counter in {site}")]
    InvalidProgramCounter { site: Site },
    /// Threads of a block wait for each other for ever.
    #[error("deadlock: {waiting} threads of a block wait and none can run; the first in {site}")]
    Deadlock {
        /// Threads that wait at a barrier or a warp-wide instruction.
        waiting: u32,
        /// The first of them.
        site: Site,
    },
    /// Calls nested too deeply for the stack of a thread.
    #[error("stack overflow in {site}")]
    StackOverflow { site: Site },
    /// The launch was cancelled from outside.
    #[error("the launch was cancelled")]
    Cancelled,
    /// Grid, block, shared memory or parameters do not fit the kernel.
    #[error("the kernel cannot be launched: {0}")]
    InvalidLaunch(String),
}
