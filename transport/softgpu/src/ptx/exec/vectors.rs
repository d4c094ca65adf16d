//! The ways of the executor that are worth vector instructions, compiled for the processor at hand.
#![allow(unsafe_code)] // Functions compiled for an instruction set that was asked for first.

use super::super::alu::{Operands, Regs, WARP};
use super::super::program::Shuffle;
use super::span::{self, Base, Check};
use super::warp;

/// A function that is compiled twice, and picks the one that the processor can run.
macro_rules! twice {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty $body:block) => {
        $(#[$doc])*
        #[inline]
        pub(super) fn $name($($arg: $ty),*) -> $out {
            #[inline(always)]
            fn body($($arg: $ty),*) -> $out $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
                fn compiled($($arg: $ty),*) -> $out {
                    body($($arg),*)
                }
                if crate::ptx::alu::vectors() {
                    // SAFETY: the processor has what it was compiled for.
                    return unsafe { compiled($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

twice! {
    /// Whether each lane's address is `len` behind that of the lane before.
    fn is_row(base: Base<'_>, len: u32) -> bool {
        match base {
            Base::Narrow(words) => span::is_row_narrow(words, len),
            Base::Wide(words) => span::is_row_wide(words, u64::from(len)),
        }
    }
}

twice! {
    /// Checks the accesses of all lanes ([`span::check_wide`]).
    fn check(base: Base<'_>, check: Check, offsets: &mut [u64; WARP]) -> u64 {
        match base {
            Base::Narrow(words) => span::check_narrow(words, check, offsets),
            Base::Wide(words) => span::check_wide(words, check, offsets),
        }
    }
}

twice! {
    /// What a shuffle gives all lanes, and for which of them the source is within the segment.
    fn shuffle(mode: Shuffle, regs: &Regs, o: &Operands) -> ([u32; WARP], u32) {
        warp::shuffled(mode, regs, o)
    }
}
