//! Memory and events that other processes open by a handle: files without a name of this process,
//! which others of the same user reach below /proc as long as it lives.
//!
//! A handle is a number that nobody but the process that made it can check, so what it names is looked
//! at when it is opened: the file has to be the one that was meant.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;

use crate::abi::Answer;
use crate::error::{INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY, fail_if};
use crate::types::IpcHandle;

/// What a handle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Memory of a device.
    Memory = 0x736f_6d65,
    /// An event.
    Event = 0x736f_6576,
}

/// What a handle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exported {
    process: u32,
    fd: i32,
    inode: u64,
    /// Index of the device.
    pub(crate) device: u32,
    /// Where in the file it begins, and how many bytes it has.
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Exported {
    /// Of `size` bytes at `offset` in a file of this process.
    pub(crate) fn new(file: &File, device: usize, offset: u64, size: u64) -> Answer<Self> {
        let inode = file.metadata().map_err(|_| OUT_OF_MEMORY)?.ino();
        Ok(Self {
            process: std::process::id(),
            fd: file.as_raw_fd(),
            inode,
            device: device as u32,
            offset,
            size,
        })
    }

    /// The handle.
    pub(crate) fn to_handle(self, what: What) -> IpcHandle {
        let mut words = [0u64; 8];
        words[0] = what as u64 | u64::from(self.process) << 32;
        words[1] = u64::from(self.fd.cast_unsigned()) | u64::from(self.device) << 32;
        (words[2], words[3], words[4]) = (self.inode, self.offset, self.size);
        IpcHandle { words }
    }

    /// What a handle says.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if it is none of this kind.
    pub(crate) fn from_handle(handle: &IpcHandle, what: What) -> Answer<Self> {
        let words = handle.words;
        fail_if(words[0] as u32 != what as u32, INVALID_VALUE)?;
        Ok(Self {
            process: (words[0] >> 32) as u32,
            fd: (words[1] as u32).cast_signed(),
            inode: words[2],
            device: (words[1] >> 32) as u32,
            offset: words[3],
            size: words[4],
        })
    }

    /// The file of the process that made the handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` in that process itself, `CUDA_ERROR_INVALID_VALUE` if it has ended, or is not this
    /// user's, or the file is another, or smaller.
    pub(crate) fn open(&self) -> Answer<File> {
        fail_if(self.process == std::process::id(), INVALID_CONTEXT)?;
        let path = format!("/proc/{}/fd/{}", self.process, self.fd);
        // The link says what the file is without opening it: another one may be anything.
        let target = std::fs::read_link(&path).map_err(|_| INVALID_VALUE)?;
        if !target
            .as_os_str()
            .as_encoded_bytes()
            .starts_with(b"/memfd:softgpu-shared")
        {
            return Err(INVALID_VALUE);
        }
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(|_| INVALID_VALUE)?;
        let found = file.metadata().map_err(|_| INVALID_VALUE)?;
        let end = self.offset.checked_add(self.size).ok_or(INVALID_VALUE)?;
        match found.ino() == self.inode && end <= found.len() {
            true => Ok(file),
            false => Err(INVALID_VALUE),
        }
    }
}

/// Maps whole pages of a file, which other processes have too; their address.
pub(crate) fn map(file: &File, offset: u64, length: u64) -> Answer<u64> {
    // SAFETY: a new mapping of a file, where the kernel likes.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset as i64,
        )
    };
    match base == libc::MAP_FAILED {
        true => Err(OUT_OF_MEMORY),
        false => Ok(base as u64),
    }
}

/// A file without a name.
pub(crate) fn file(length: u64) -> Answer<File> {
    let fd: OwnedFd = crate::pages::create(c"softgpu-shared", length).map_err(|_| OUT_OF_MEMORY)?;
    Ok(File::from(fd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_says_what_it_was_made_of() {
        let file = file(8192).expect("a file");
        let exported = Exported::new(&file, 3, 4096, 100).expect("exported");
        let handle = exported.to_handle(What::Memory);
        assert_eq!(Exported::from_handle(&handle, What::Memory), Ok(exported));
        assert_eq!(
            Exported::from_handle(&handle, What::Event),
            Err(INVALID_VALUE)
        );
        assert_eq!(exported.open().err(), Some(INVALID_CONTEXT));
    }

    #[test]
    fn what_is_not_the_file_is_refused() {
        let parent = std::os::unix::process::parent_id();
        let forged = Exported {
            process: parent,
            fd: 0,
            inode: 1,
            device: 0,
            offset: 0,
            size: 1,
        };
        assert_eq!(forged.open().err(), Some(INVALID_VALUE));
    }
}
