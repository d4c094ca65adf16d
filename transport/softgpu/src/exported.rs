//! Device memory that other processes have opened, or may: its pages move from the device's own range to
//! a file, and back when it is freed.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Duration;

use crate::abi::Answer;
use crate::device::Device;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, fail_if};
use crate::ipc::{self, Exported, What};
use crate::memory::{self, Allocation, Kind};
use crate::pages::page_size;
use crate::sync::{lock, read};
use crate::types::IpcHandle;

/// Held by whoever writes device memory, so that no page moves meanwhile.
static WRITERS: RwLock<()> = RwLock::new(());

/// To be held while device memory is written.
pub(crate) fn writing() -> RwLockReadGuard<'static, ()> {
    read(&WRITERS)
}

/// Waits until nobody writes device memory. Who begins to write meanwhile is let through, as a kernel
/// that runs may wait for just that.
fn nobody_writes() -> RwLockWriteGuard<'static, ()> {
    loop {
        match WRITERS.try_write() {
            Ok(held) => return held,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

/// What a device has in its file.
struct Shared {
    file: File,
    /// Allocations that have the page, by its address.
    pages: BTreeMap<u64, u32>,
}

/// By index of the device.
static SHARED: Mutex<BTreeMap<usize, Shared>> = Mutex::new(BTreeMap::new());

/// Pages that an allocation lies on.
fn pages_of(base: u64, size: u64) -> impl Iterator<Item = u64> {
    (base & !(page_size() - 1)..base + size).step_by(page_size() as usize)
}

/// Puts a page of the file, or one of its own, where a page of the device is, with the same content.
fn replace(page: u64, fd: i32, offset: u64) -> bool {
    let (flags, offset) = match fd {
        -1 => (
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            0,
        ),
        _ => (libc::MAP_SHARED, offset as i64),
    };
    // SAFETY: a page of a device's range, which nobody writes while the lock for it is held.
    unsafe {
        let got = libc::mmap(
            page as *mut libc::c_void,
            page_size() as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            flags | libc::MAP_FIXED,
            fd,
            offset,
        );
        got != libc::MAP_FAILED
    }
}

fn bytes(page: u64) -> Vec<u8> {
    // SAFETY: a page of a device's range, readable, and not written while the lock is held.
    unsafe { std::slice::from_raw_parts(page as *const u8, page_size() as usize) }.to_vec()
}

/// A handle for an allocation of this process.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` unless `base` is the begin of memory of `cuMemAlloc`.
pub(crate) fn export(devices: &[Device], base: u64) -> Answer<IpcHandle> {
    let found = memory::find(base).filter(|found| found.base == base);
    let found = found
        .filter(|found| found.kind == Kind::Device)
        .ok_or(INVALID_VALUE)?;
    let device = devices.get(found.device).ok_or(INVALID_VALUE)?;
    let (start, length) = device.range();
    let mut all = lock(&SHARED);
    if let std::collections::btree_map::Entry::Vacant(vacant) = all.entry(found.device) {
        vacant.insert(Shared {
            file: ipc::file(length)?,
            pages: BTreeMap::new(),
        });
    }
    let shared = all.get_mut(&found.device).ok_or(OUT_OF_MEMORY)?;
    if memory::set_exported(base) {
        let _held = nobody_writes();
        for page in pages_of(base, found.size) {
            let users = shared.pages.entry(page).or_insert(0);
            *users += 1;
            if *users > 1 {
                continue;
            }
            let offset = page - start;
            let kept = shared.file.write_all_at(&bytes(page), offset).is_ok();
            fail_if(
                !kept || !replace(page, shared.file.as_raw_fd(), offset),
                OUT_OF_MEMORY,
            )?;
        }
    }
    let exported = Exported::new(&shared.file, found.device, base - start, found.size)?;
    Ok(exported.to_handle(What::Memory))
}

/// An exported allocation is freed: its pages are the device's own again.
pub(crate) fn freed(found: &Allocation) {
    let mut all = lock(&SHARED);
    let Some(shared) = all.get_mut(&found.device) else {
        return;
    };
    let _held = nobody_writes();
    for page in pages_of(found.base, found.size) {
        let Some(users) = shared.pages.get_mut(&page) else {
            continue;
        };
        *users -= 1;
        if *users > 0 {
            continue;
        }
        shared.pages.remove(&page);
        let content = bytes(page);
        if replace(page, -1, 0) {
            // SAFETY: the page just made, of the device's range; neighbours on it keep their bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(content.as_ptr(), page as *mut u8, content.len());
            }
        }
    }
}

/// Mappings of other processes' memory, by the handle's words: address, length, and how often it is open.
static OPEN: Mutex<Vec<(IpcHandle, u64, u64, u32)>> = Mutex::new(Vec::new());

fn open_ones() -> MutexGuard<'static, Vec<(IpcHandle, u64, u64, u32)>> {
    lock(&OPEN)
}

/// Opens memory of another process; its address here, the same each time that it is opened.
///
/// # Errors
/// As [`Exported::open`]; `CUDA_ERROR_OUT_OF_MEMORY`.
pub(crate) fn open(handle: &IpcHandle, devices: &[Device], context: u64) -> Answer<u64> {
    let mut all = open_ones();
    if let Some((_, base, _, times)) = all.iter_mut().find(|(open, ..)| open == handle) {
        *times += 1;
        return Ok(*base);
    }
    let exported = Exported::from_handle(handle, What::Memory)?;
    let device = exported.device as usize;
    fail_if(
        devices.get(device).is_none() || exported.size == 0,
        INVALID_VALUE,
    )?;
    let file = exported.open()?;
    let from = exported.offset & !(page_size() - 1);
    let within = exported.offset - from;
    let length = (within + exported.size).next_multiple_of(page_size());
    let base = ipc::map(&file, from, length)? + within;
    memory::note(base, exported.size, Kind::Opened, device, context);
    all.push((*handle, base, length, 1));
    Ok(base)
}

/// Closes it; the last time the address is gone.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` if nothing is open there.
pub(crate) fn close(base: u64, before: impl FnOnce()) -> Answer {
    let mut all = open_ones();
    let at = all.iter().position(|(_, open, ..)| *open == base);
    let at = at.ok_or(INVALID_VALUE)?;
    all[at].3 -= 1;
    if all[at].3 > 0 {
        return Ok(());
    }
    let (_, _, length, _) = all.swap_remove(at);
    before();
    memory::forget(base);
    // SAFETY: the mapping of `open`, which nobody has any more.
    unsafe { crate::pages::unmap_host(base & !(page_size() - 1), length) };
    Ok(())
}
