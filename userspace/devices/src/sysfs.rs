//! Reading small text files below a configurable root. A file that is missing, unreadable or
//! holds something else than expected is `None`: devices come and go while they are read.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// More than any attribute has: sysfs gives at most a page, /proc/driver/nvidia less.
const MAX_ATTRIBUTE: u64 = 64 * 1024;
/// What most of them fit into.
const PAGE: usize = 4096;

/// Where sysfs is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot(pub PathBuf);

impl Default for SysRoot {
    fn default() -> Self {
        Self(PathBuf::from("/sys"))
    }
}

/// Where procfs is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcRoot(pub PathBuf);

impl Default for ProcRoot {
    fn default() -> Self {
        Self(PathBuf::from("/proc"))
    }
}

/// The text of a file without surrounding white space; what is no UTF-8 becomes U+FFFD.
pub(crate) fn text(path: &Path) -> Option<String> {
    read(path).ok()
}

/// The same, or why it cannot be read.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    Ok(read_pseudo_file(path)?.trim().to_owned())
}

/// The text of a file of sysfs or procfs, 64 KiB of it at most; what is no UTF-8 becomes U+FFFD.
///
/// Such a file has no size: `fs::read_to_string` asks for it, then reads 32 bytes, 32 more, 64, and so on. This reads it in one go.
///
/// # Errors
///
/// The system's.
pub fn read_pseudo_file(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::with_capacity(PAGE);
    File::open(path)?
        .take(MAX_ATTRIBUTE)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a file, parsed.
pub(crate) fn number<T: FromStr>(path: &Path) -> Option<T> {
    text(path)?.parse().ok()
}

/// A hex number as sysfs writes ids and classes: `0x10de`.
pub(crate) fn hex(path: &Path) -> Option<u32> {
    u32::from_str_radix(text(path)?.strip_prefix("0x")?, 16).ok()
}

/// The last part of what a symbolic link points to.
pub(crate) fn link_name(path: &Path) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    Some(target.file_name()?.to_string_lossy().into_owned())
}
