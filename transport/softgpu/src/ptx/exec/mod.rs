//! Runs kernels: blocks on threads of the host, warps of 32 lanes by an interpreter.
//!
//! The lanes of a warp that are at the same instruction run together ("fragment"). Of several
//! fragments the one in the deepest call, then the one at the lowest instruction runs first, so that
//! lanes meet again behind a branch or loop; a fragment that has run for long lets the others run, so
//! that a lane may wait for another lane of its warp, as on devices since sm_70.

pub(crate) mod atomic;
mod barrier;
mod block;
mod bytes;
mod call;
mod fragment;
mod grid;
pub(crate) mod heap;
mod host;
mod interpret;
mod meet;
mod memory;
mod printf;
mod span;
mod texture;
mod update;
mod vectors;
mod warp;

pub use grid::{Cancel, Launch, Sink, Stats, launch};
pub use host::{Memory, Region};

use super::error::{Fault, Site};

/// What a warp ran into; the site is added by the block.
#[derive(Debug)]
pub(crate) enum Trouble {
    IllegalAddress { address: u64, len: u32, write: bool },
    Misaligned { address: u64, len: u32 },
    Trap,
    Assert { place: String, expression: String },
    Illegal(&'static str),
    BadCounter,
    StackOverflow,
}

impl Trouble {
    /// An access outside of every allocation, or that the memory does not admit.
    pub(crate) fn illegal(address: u64, len: u32, write: bool) -> Self {
        Self::IllegalAddress {
            address,
            len,
            write,
        }
    }

    pub(crate) fn at(self, site: Site) -> Fault {
        match self {
            Self::IllegalAddress {
                address,
                len,
                write,
            } => Fault::IllegalAddress {
                address,
                len,
                write,
                site,
            },
            Self::Misaligned { address, len } => Fault::Misaligned { address, len, site },
            Self::Trap => Fault::Trap { site },
            Self::Assert { place, expression } => Fault::Assert {
                place,
                expression,
                site,
            },
            Self::Illegal(reason) => Fault::IllegalInstruction {
                reason: reason.to_owned(),
                site,
            },
            Self::BadCounter => Fault::InvalidProgramCounter { site },
            Self::StackOverflow => Fault::StackOverflow { site },
        }
    }
}
