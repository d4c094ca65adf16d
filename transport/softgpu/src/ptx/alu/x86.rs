//! What only x86-64 with AVX2 has.
#![allow(unsafe_code)] // Loads of vectors.

use std::arch::x86_64::{_mm256_castsi256_ps, _mm256_loadu_si256, _mm256_movemask_ps};

use std::sync::atomic::{AtomicU8, Ordering};

use super::WARP;

/// Whether functions of the feature set of [`super::compiled`] can run here.
#[inline]
pub(crate) fn available() -> bool {
    /// 0: not asked yet; 1: no; 2: yes.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let found = detect();
            KNOWN.store(1 + u8::from(found), Ordering::Relaxed);
            found
        }
        known => known == 2,
    }
}

fn detect() -> bool {
    macro_rules! all {
        ($($feature:tt),*) => { $(std::is_x86_feature_detected!($feature))&&* };
    }
    all!("avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt")
}

/// As [`super::pack`], by the instruction that does it.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) fn pack(lanes: &[u32; WARP]) -> u32 {
    let mut mask = 0;
    for (at, part) in lanes.as_chunks::<8>().0.iter().enumerate() {
        // SAFETY: 32 bytes, at any address.
        let part = unsafe { _mm256_loadu_si256(part.as_ptr().cast()) };
        mask |= (_mm256_movemask_ps(_mm256_castsi256_ps(part)) as u32) << (8 * at);
    }
    mask
}
