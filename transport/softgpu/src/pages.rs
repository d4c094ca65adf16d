//! Memory of the process by mmap: the address range of a device, and page-locked host memory.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::Answer;
use crate::error::{INVALID_VALUE, fail_if};

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

/// Bytes of a page of the host: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64.
pub(crate) fn page_size() -> u64 {
    // SAFETY: asks for a number, which the C library has from the kernel and which is always there.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
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
    map_with(hint, length, libc::PROT_READ | libc::PROT_WRITE, extra)
}

fn map_with(hint: u64, length: u64, protection: i32, extra: i32) -> Result<u64, MapError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | extra;
    // SAFETY: a new anonymous mapping; with MAP_FIXED_NOREPLACE none that exists is touched.
    let base = unsafe {
        libc::mmap(
            hint as *mut libc::c_void,
            length as usize,
            protection,
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

/// Where reserved addresses are asked for: beyond the ranges of devices.
const KEPT: u64 = 0x7800_0000_0000;

/// Keeps `length` bytes of addresses, at a multiple of `alignment`: at `wanted`, if that is not 0 and
/// they are free. Nothing can be read there.
pub(crate) fn keep(length: u64, alignment: u64, wanted: u64) -> Result<u64, MapError> {
    static NEXT: AtomicU64 = AtomicU64::new(KEPT);
    let none = |at: u64, length: u64, flags: i32| map_with(at, length, libc::PROT_NONE, flags);
    if wanted != 0
        && wanted.is_multiple_of(alignment)
        && let Ok(base) = none(wanted, length, libc::MAP_FIXED_NOREPLACE)
    {
        return Ok(base);
    }
    let padded = length + alignment;
    let next = NEXT.fetch_add(padded.next_multiple_of(1 << 30), Ordering::Relaxed);
    let next = next.next_multiple_of(alignment);
    if let Ok(base) = none(next, length, libc::MAP_FIXED_NOREPLACE) {
        return Ok(base);
    }
    // Wherever there is room, without what is too much.
    let base = map_with(0, padded, libc::PROT_NONE, 0)?;
    let aligned = base.next_multiple_of(alignment);
    // SAFETY: parts of the mapping just made, which nobody uses.
    unsafe {
        if aligned > base {
            libc::munmap(base as *mut libc::c_void, (aligned - base) as usize);
        }
        let end = aligned + length;
        libc::munmap(end as *mut libc::c_void, (base + padded - end) as usize);
    }
    Ok(aligned)
}

/// Memory without an address; the name is for those who look at /proc.
pub(crate) fn create(name: &CStr, length: u64) -> Result<OwnedFd, MapError> {
    let failed = || MapError {
        length,
        source: std::io::Error::last_os_error(),
    };
    // SAFETY: a name, and a descriptor that is nobody else's.
    unsafe {
        let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if fd < 0 {
            return Err(failed());
        }
        let fd = OwnedFd::from_raw_fd(fd);
        match libc::ftruncate(fd.as_raw_fd(), length as i64) {
            0 => Ok(fd),
            _ => Err(failed()),
        }
    }
}

/// What memory that processes hand to each other is named, before the index of its device.
const PHYSICAL: &str = "softgpu-physical-";

/// Memory of a device without an address, which other processes may be given. Its size stays.
pub(crate) fn physical(device: usize, length: u64) -> Result<OwnedFd, MapError> {
    let name = CString::new(format!("{PHYSICAL}{device}")).unwrap_or_default();
    let fd = create(&name, length)?;
    // SAFETY: a descriptor of this function. Where it is refused, the memory is as good for this process.
    unsafe {
        libc::fcntl(
            fd.as_raw_fd(),
            libc::F_ADD_SEALS,
            libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL,
        )
    };
    Ok(fd)
}

/// The memory of a descriptor that a program has received: a descriptor for it, its bytes, and the index
/// of its device.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for a descriptor that is none, or of something else.
pub(crate) fn received(fd: i32) -> Answer<(OwnedFd, u64, usize)> {
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: asks about a descriptor, whatever it is.
    let has = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
    // Else whoever has it too could cut it off while a kernel uses it.
    fail_if(has < 0 || has & seals != seals, INVALID_VALUE)?;
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).map_err(|_| INVALID_VALUE)?;
    let name = link.to_string_lossy();
    let device = name.strip_prefix("/memfd:").and_then(|name| {
        let rest = name.strip_prefix(PHYSICAL)?;
        rest.split(' ').next()?.parse().ok()
    });
    // SAFETY: the descriptor is open, as it has just been asked.
    let own = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned();
    let file = std::fs::File::from(own.map_err(|_| INVALID_VALUE)?);
    let size = file.metadata().map_err(|_| INVALID_VALUE)?.len();
    Ok((file.into(), size, device.ok_or(INVALID_VALUE)?))
}

/// Puts the first `length` bytes of memory at addresses of [`keep`].
pub(crate) fn place(fd: &OwnedFd, base: u64, length: u64) -> Result<(), MapError> {
    fixed(
        base,
        length,
        libc::PROT_READ | libc::PROT_WRITE,
        fd.as_raw_fd(),
    )
}

/// Takes away what [`place`] has put there.
pub(crate) fn empty(base: u64, length: u64) -> Result<(), MapError> {
    fixed(base, length, libc::PROT_NONE, -1)
}

fn fixed(base: u64, length: u64, protection: i32, fd: i32) -> Result<(), MapError> {
    let flags = match fd {
        -1 => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        _ => libc::MAP_SHARED,
    };
    let to = base as *mut libc::c_void;
    // SAFETY: replaces a mapping at addresses that `keep` has, which belong to nobody else.
    let got = unsafe {
        libc::mmap(
            to,
            length as usize,
            protection,
            flags | libc::MAP_FIXED,
            fd,
            0,
        )
    };
    match got == libc::MAP_FAILED {
        false => Ok(()),
        true => Err(MapError {
            length,
            source: std::io::Error::last_os_error(),
        }),
    }
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
