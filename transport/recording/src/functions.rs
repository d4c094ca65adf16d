//! The functions that are recorded.

mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

pub use names::NAMES;

/// How many functions are recorded.
pub const FUNCTIONS: usize = NAMES.len();

/// The name of a function that an event or a head reports.
pub fn name(function: u16) -> Option<&'static str> {
    NAMES.get(usize::from(function)).copied()
}

/// Whether a result is none that reports an error: CUDA_SUCCESS, and CUDA_ERROR_NOT_READY (600), the
/// answer to a question.
#[inline(always)]
pub const fn is_success(code: u32) -> bool {
    matches!(code, 0 | 600)
}

/// A number for the list of names: FNV-1a.
pub(crate) const fn hash() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].as_bytes();
        let mut byte = 0;
        while byte < name.len() {
            hash = (hash ^ name[byte] as u64).wrapping_mul(0x0100_0000_01b3);
            byte += 1;
        }
        hash = (hash ^ 0xff).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_fit_an_event() {
        assert!(NAMES.is_sorted());
        assert!(u16::try_from(FUNCTIONS).is_ok());
        assert!(NAMES.binary_search(&"cuLaunchKernel_ptsz").is_ok());
        assert_eq!(name(u16::MAX), None);
    }
}
