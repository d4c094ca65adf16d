//! The file of a Unix socket that a daemon or a head listens on.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Removes the file of a socket when it is dropped, unless another process has put its own there.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl SocketFile {
    /// That of the socket which was just bound to `path`.
    ///
    /// # Errors
    /// If it is not there.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            inode: fs::symlink_metadata(path)?.ino(),
        })
    }

    /// Removes it before this is dropped.
    pub fn remove(&self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|now| now.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn the_socket_of_who_came_after_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let first = UnixListener::bind(&path).unwrap();
        let file = SocketFile::new(&path).unwrap();
        // Renamed and not removed, so that no other file gets its inode.
        fs::rename(&path, dir.path().join("aside")).unwrap();
        let second = UnixListener::bind(&path).unwrap();
        let its_file = SocketFile::new(&path).unwrap();
        drop(file);
        assert!(path.exists());
        drop(its_file);
        assert!(!path.exists());
        drop((first, second));
    }
}
