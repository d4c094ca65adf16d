//! The pages of this host's kernel: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64.

// sysconf(3).
#![allow(unsafe_code)]

/// Bytes of a page: memory is mapped, protected and faulted in by whole ones.
#[inline]
pub(crate) fn page_size() -> u64 {
    match cfg!(target_arch = "x86_64") {
        true => 4096,
        false => of_kernel(),
    }
}

fn of_kernel() -> u64 {
    // SAFETY: asks for a number, which the C library has from the kernel and which is always there.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_the_kernels() {
        assert_eq!(page_size(), of_kernel());
    }
}
