//! Multiply and add, rounded once, with the host's own instruction where it has one: without it
//! every lane is a call of the C library.
#![allow(unsafe_code)] // Functions compiled for an instruction set that was asked for first.

use super::float::{finish, flush};
use super::{Exec, Lanes, Operands, map3};

fn plain32<const F: bool, const S: bool>(regs: &mut [Lanes], o: &Operands, mask: u32) {
    map3(regs, o, mask, |a: f32, b: f32, c: f32| {
        finish::<F, S>(flush::<F>(a).mul_add(flush::<F>(b), flush::<F>(c)))
    });
}

fn plain64(regs: &mut [Lanes], o: &Operands, mask: u32) {
    map3(regs, o, mask, |a: f64, b: f64, c: f64| a.mul_add(b, c));
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Operands, finish, flush, map3};

    #[target_feature(enable = "avx2,fma")]
    fn inner32<const F: bool, const S: bool>(regs: &mut [Lanes], o: &Operands, mask: u32) {
        map3(regs, o, mask, |a: f32, b: f32, c: f32| {
            finish::<F, S>(flush::<F>(a).mul_add(flush::<F>(b), flush::<F>(c)))
        });
    }

    #[target_feature(enable = "avx2,fma")]
    fn inner64(regs: &mut [Lanes], o: &Operands, mask: u32) {
        map3(regs, o, mask, |a: f64, b: f64, c: f64| a.mul_add(b, c));
    }

    pub(super) fn fma32<const F: bool, const S: bool>(regs: &mut [Lanes], o: &Operands, mask: u32) {
        // SAFETY: `super::available` was asked before this function was chosen.
        unsafe { inner32::<F, S>(regs, o, mask) }
    }

    pub(super) fn fma64(regs: &mut [Lanes], o: &Operands, mask: u32) {
        // SAFETY: as above.
        unsafe { inner64(regs, o, mask) }
    }
}

#[cfg(target_arch = "x86_64")]
fn available() -> bool {
    std::is_x86_feature_detected!("fma") && std::is_x86_feature_detected!("avx2")
}

/// fma.rn.f32.
pub(crate) fn fma32(ftz: bool, saturate: bool) -> Exec {
    #[cfg(target_arch = "x86_64")]
    if available() {
        return match (ftz, saturate) {
            (false, false) => x86::fma32::<false, false>,
            (false, true) => x86::fma32::<false, true>,
            (true, false) => x86::fma32::<true, false>,
            (true, true) => x86::fma32::<true, true>,
        };
    }
    match (ftz, saturate) {
        (false, false) => plain32::<false, false>,
        (false, true) => plain32::<false, true>,
        (true, false) => plain32::<true, false>,
        (true, true) => plain32::<true, true>,
    }
}

/// fma.rn.f64.
pub(crate) fn fma64() -> Exec {
    #[cfg(target_arch = "x86_64")]
    if available() {
        return x86::fma64;
    }
    plain64
}
