//! From a descriptor to a device number, by the running kernel's own layout.

use aya_ebpf::helpers::bpf_probe_read_kernel;
use aya_ebpf::helpers::generated::bpf_get_current_task;

use gtrace_abi::Config;

use crate::maps::{CONFIG, OFFSETS};

const S_IFMT: u16 = 0o170_000;
const S_IFCHR: u16 = 0o020_000;

/// Reads a `T` at `base + offset` in kernel memory.
#[inline(always)]
pub fn read<T>(base: u64, offset: u32) -> Option<T> {
    // SAFETY: the helper checks the address and fails on a bad one.
    unsafe { bpf_probe_read_kernel((base + offset as u64) as *const T) }.ok()
}

/// The running task's `task_struct`.
#[inline(always)]
pub fn current_task() -> u64 {
    // SAFETY: takes no argument, cannot fail.
    unsafe { bpf_get_current_task() }
}

/// The running task's descriptor table.
#[derive(Clone, Copy)]
pub struct FdTable {
    /// Address of the array of `struct file *`.
    pub files: u64,
    /// Address of the bitmap of descriptors in use.
    pub open_fds: u64,
    /// Length of both, in descriptors.
    pub max_fds: u32,
}

/// The running task's descriptor table, if it has one and its layout is known.
#[inline(always)]
pub fn fd_table() -> Option<FdTable> {
    let offsets = OFFSETS.load();
    if offsets.have_files == 0 {
        return None;
    }
    let files: u64 = read(current_task(), offsets.task_files)?;
    if files == 0 {
        return None;
    }
    let fdt: u64 = read(files, offsets.files_fdt)?;
    Some(FdTable {
        files: read(fdt, offsets.fdt_fd)?,
        open_fds: read(fdt, offsets.fdt_open_fds)?,
        max_fds: read(fdt, offsets.fdt_max_fds)?,
    })
}

/// The device number (major << 20 | minor) behind a `struct file *`; 0 if it is no character
/// device.
#[inline(always)]
pub fn rdev_of(file: u64) -> Option<u32> {
    let offsets = OFFSETS.load();
    let inode: u64 = read(file, offsets.file_inode)?;
    let rdev: u32 = read(inode, offsets.inode_rdev)?;
    if rdev == 0 {
        return Some(0);
    }
    let mode: u16 = read(inode, offsets.inode_mode)?;
    Some(if mode & S_IFMT == S_IFCHR { rdev } else { 0 })
}

/// The configuration, once user space has set it.
#[inline(always)]
pub fn config() -> Option<&'static Config> {
    CONFIG.get(0)
}

/// Whether the configuration asks for device number `rdev`.
#[inline(always)]
pub fn watched(config: &Config, rdev: u32) -> bool {
    if rdev == 0 {
        return false;
    }
    for filter in &config.devices {
        if filter.major == 0 {
            return false;
        }
        if filter.matches(rdev) {
            return true;
        }
    }
    false
}
