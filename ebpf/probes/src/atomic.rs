//! Atomic updates of map values. `core` is built for BPF without atomic read-modify-write, so the
//! instructions are written out (BPF ISA v3; kernel 5.12 and later, 5.18 on arm64).

/// Adds `n` to the value at `target`.
#[inline(always)]
pub fn add(target: *mut u64, n: u64) {
    #[cfg(target_arch = "bpf")]
    // SAFETY: the caller's pointer is into a map value, which the verifier proves.
    unsafe {
        core::arch::asm!(
            "lock *(u64 *)({target} + 0) += {n}",
            target = in(reg) target,
            n = in(reg) n,
        );
    }
    #[cfg(not(target_arch = "bpf"))]
    let _ = (target, n);
}

/// Raises the value at `target` to `n` if it is lower.
#[inline(always)]
pub fn max(target: *mut u64, n: u64) {
    // SAFETY: the caller's pointer is into a map value, which the verifier proves.
    let mut seen = unsafe { target.read_volatile() };
    // Bounded for the verifier: four lost races in a row leave a maximum that others just raised.
    for _ in 0..4 {
        if n <= seen {
            return;
        }
        let now = compare_exchange(target, seen, n);
        if now == seen {
            return;
        }
        seen = now;
    }
}

/// Stores `new` at `target` if `old` is there; returns what was there.
#[inline(always)]
fn compare_exchange(target: *mut u64, old: u64, new: u64) -> u64 {
    #[cfg(target_arch = "bpf")]
    // SAFETY: as in `add`.
    unsafe {
        let found;
        core::arch::asm!(
            "r0 = cmpxchg_64({target} + 0, r0, {new})",
            target = in(reg) target,
            new = in(reg) new,
            inout("r0") old => found,
        );
        found
    }
    #[cfg(not(target_arch = "bpf"))]
    {
        let _ = (target, new);
        old
    }
}
