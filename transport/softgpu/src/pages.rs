//! Memory of the process by mmap: the address range of a device, and page-locked host memory.
#![allow(unsafe_code)]

/// Where the range of the first device is asked for; each further device is [`STEP`] above. Device
/// addresses are host addresses here, and this range makes them easy to recognise.
const HINT: u64 = 0x7000_0000_0000;
const STEP: u64 = 0x0040_0000_0000;

/// The kernel refused the mapping.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {length} bytes: {source}; raise the limit of address space (ulimit -v)")]
pub(crate) struct MapError {
    length: u64,
    source: std::io::Error,
}

/// Reserves `length` bytes for device `index`; pages take memory when they are first touched.
pub(crate) fn reserve(index: usize, length: u64) -> Result<u64, MapError> {
    let hint = HINT + index as u64 * STEP;
    let base = map(hint, length, libc::MAP_FIXED_NOREPLACE).or_else(|_| map(0, length, 0))?;
    // SAFETY: advises about a mapping that was just made; a refusal costs only speed.
    unsafe {
        libc::madvise(
            base as *mut libc::c_void,
            length as usize,
            libc::MADV_HUGEPAGE,
        )
    };
    Ok(base)
}

/// Maps zeroed pages for host memory.
pub(crate) fn map_host(length: u64) -> Result<u64, MapError> {
    map(0, length, 0)
}

fn map(hint: u64, length: u64, extra: i32) -> Result<u64, MapError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | extra;
    // SAFETY: a new anonymous mapping; with MAP_FIXED_NOREPLACE none that exists is touched.
    let base = unsafe {
        libc::mmap(
            hint as *mut libc::c_void,
            length as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(MapError {
            length,
            source: std::io::Error::last_os_error(),
        });
    }
    Ok(base as u64)
}

/// Gives mapped host memory back.
///
/// # Safety
/// `base` and `length` are those of a mapping of [`map_host`], which nobody uses any more.
pub(crate) unsafe fn unmap_host(base: u64, length: u64) {
    // SAFETY: as promised by the caller.
    unsafe { libc::munmap(base as *mut libc::c_void, length as usize) };
}

/// Lets the kernel take the pages of a freed part of a device's range; their content is lost.
///
/// # Safety
/// The range lies within a mapping of [`reserve`] and is allocated to nobody.
pub(crate) unsafe fn discard(base: u64, length: u64) {
    // SAFETY: as promised by the caller.
    unsafe {
        libc::madvise(
            base as *mut libc::c_void,
            length as usize,
            libc::MADV_DONTNEED,
        )
    };
}
