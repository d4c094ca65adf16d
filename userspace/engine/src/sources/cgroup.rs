//! From a control group's id to its path, for processes that are gone from /proc.
#![allow(unsafe_code)] // open_by_handle_at(2) has no safe wrapper

use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::Path;

/// Where the v2 hierarchy is mounted, alone or beside v1.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

/// `FILEID_KERNFS` of include/linux/exportfs.h: the handle is the inode number.
const FILEID_KERNFS: libc::c_int = 0xfe;

/// `struct file_handle` with room for a kernfs handle.
#[repr(C)]
struct Handle {
    bytes: libc::c_uint,
    kind: libc::c_int,
    id: [u8; 8],
}

/// The path of the group whose directory has the inode number `id`, as /proc/PID/cgroup has it
/// (`/system.slice/x.scope`). `None` if the group is gone, there is no v2 hierarchy, or this process
/// lacks CAP_DAC_READ_SEARCH.
pub(super) fn path_of(id: u64) -> Option<String> {
    MOUNTS.iter().find_map(|mount| {
        // v1 alone has no such file.
        let unified = Path::new(mount).join("cgroup.procs").exists();
        unified.then(|| path_below(mount, id))?
    })
}

fn path_below(mount: &str, id: u64) -> Option<String> {
    let directory = File::open(mount).ok()?;
    let mut handle = Handle {
        bytes: 8,
        kind: FILEID_KERNFS,
        id: id.to_ne_bytes(),
    };
    // SAFETY: `handle` is a file_handle of 8 bytes, as it says, and outlives the call.
    let fd = unsafe {
        libc::open_by_handle_at(
            directory.as_raw_fd(),
            std::ptr::from_mut(&mut handle).cast(),
            libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        )
    };
    if fd < 0 {
        return None;
    }
    // SAFETY: the kernel has just given it to this process, and nobody else has it.
    let group = unsafe { OwnedFd::from_raw_fd(fd) };
    let path = fs::read_link(format!("/proc/self/fd/{}", group.as_raw_fd())).ok()?;
    let below = path.strip_prefix(mount).ok()?.to_str()?;
    // A group that was removed while it was read.
    (!below.ends_with(" (deleted)")).then(|| format!("/{below}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn root_a_group_is_found_by_the_inode_of_its_directory() {
        if !crate::host::is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let Some(mount) = MOUNTS
            .iter()
            .find(|mount| Path::new(mount).join("cgroup.procs").exists())
        else {
            eprintln!("skipped: no cgroup v2 here");
            return;
        };
        let inode = fs::metadata(mount).unwrap().ino();
        assert_eq!(path_of(inode).as_deref(), Some("/"));
        assert_eq!(path_of(u64::MAX), None);
    }
}
