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
    /// Address of the `struct fdtable`.
    pub fdt: u64,
    /// Address of its array of `struct file *`.
    pub files: u64,
    /// Length of the array.
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
    // The two stand side by side in every kernel so far: one read instead of two. The offsets are
    // constants to the verifier, which drops the other way.
    if offsets.fdt_fd == offsets.fdt_max_fds + 8 {
        let [max_fds, files]: [u64; 2] = read(fdt, offsets.fdt_max_fds)?;
        return Some(FdTable {
            fdt,
            files,
            max_fds: max_fds as u32,
        });
    }
    let files = read(fdt, offsets.fdt_fd)?;
    Some(FdTable {
        fdt,
        files,
        max_fds: read(fdt, offsets.fdt_max_fds)?,
    })
}

/// The device number (major << 20 | minor) behind a `struct file *`, if it is a character device
/// that `config` asks for; else 0. `None` if the way there could not be read.
#[inline(always)]
pub fn watched_rdev(config: &Config, file: u64) -> Option<u32> {
    let offsets = OFFSETS.load();
    let inode: u64 = read(file, offsets.file_inode)?;
    let rdev: u32 = read(inode, offsets.inode_rdev)?;
    if !watched(config, rdev) {
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
fn watched(config: &Config, rdev: u32) -> bool {
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
