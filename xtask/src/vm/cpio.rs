//! Writes the archive that the kernel takes as its first root file system.
//!
//! Format: `newc` (magic 070701), see Documentation/driver-api/early-userspace/buffer-format.rst
//! of Linux. The kernel creates nothing by itself: a directory comes before what lies in it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Dir,
    File { content: Vec<u8>, mode: u32 },
    Link { target: String },
}

/// An archive in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Archive {
    // Sorted by path, a directory comes before what lies in it.
    entries: BTreeMap<String, Entry>,
}

impl Archive {
    /// An empty directory, with those that it lies in.
    pub(super) fn dir(&mut self, path: &str) {
        self.parents(path);
        let path = relative(path);
        if !path.is_empty() {
            self.entries.entry(path.to_owned()).or_insert(Entry::Dir);
        }
    }

    /// A file; `mode` has the nine permission bits.
    pub(super) fn file(&mut self, path: &str, content: impl Into<Vec<u8>>, mode: u32) {
        self.parents(path);
        let content = content.into();
        self.entries
            .insert(relative(path).to_owned(), Entry::File { content, mode });
    }

    /// A file of the host's, with its permissions.
    pub(super) fn copy(&mut self, path: &str, source: &Path) -> io::Result<()> {
        let mode = source.metadata()?.permissions().mode() & 0o777;
        self.file(path, std::fs::read(source)?, mode);
        Ok(())
    }

    /// A symbolic link.
    pub(super) fn link(&mut self, path: &str, target: &str) {
        self.parents(path);
        let target = target.to_owned();
        self.entries
            .insert(relative(path).to_owned(), Entry::Link { target });
    }

    /// Whether something lies there.
    pub(super) fn has(&self, path: &str) -> bool {
        self.entries.contains_key(relative(path))
    }

    fn parents(&mut self, path: &str) {
        if let Some((parent, _)) = relative(path).rsplit_once('/') {
            self.dir(parent);
        }
    }

    /// Writes it all, owned by root.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (inode, (path, entry)) in (1_u32..).zip(&self.entries) {
            match entry {
                Entry::Dir => record(out, inode, path, 0o040_755, &[])?,
                Entry::File { content, mode } => {
                    record(out, inode, path, 0o100_000 | mode, content)?;
                }
                Entry::Link { target } => record(out, inode, path, 0o120_777, target.as_bytes())?,
            }
        }
        record(out, 0, "TRAILER!!!", 0, &[])
    }
}

fn relative(path: &str) -> &str {
    path.trim_matches('/')
}

/// One entry: header of eight-digit hexadecimal fields, name, content, each filled up to four
/// bytes.
fn record(
    out: &mut impl Write,
    inode: u32,
    path: &str,
    mode: u32,
    content: &[u8],
) -> io::Result<()> {
    let size = u32::try_from(content.len())
        .map_err(|_| io::Error::other(format!("{path} is too large for this format")))?;
    let name_size = u32::try_from(path.len() + 1)
        .map_err(|_| io::Error::other(format!("{path} is too long for this format")))?;
    let links = if mode & 0o170_000 == 0o040_000 { 2 } else { 1 };
    // c_ino, mode, uid, gid, nlink, mtime, filesize, device (two), rdev (two), namesize, check.
    let fields = [inode, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0];
    let mut header = "070701".to_owned();
    for field in fields {
        header.push_str(&format!("{field:08X}"));
    }
    header.push_str(path);
    header.push('\0');
    out.write_all(header.as_bytes())?;
    out.write_all(padding(header.len()))?;
    out.write_all(content)?;
    out.write_all(padding(content.len()))
}

fn padding(length: usize) -> &'static [u8] {
    &[0; 3][..length.wrapping_neg() % 4]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Path, mode and content of each entry, read by the same rules.
    fn read(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |n: usize| {
                let text = std::str::from_utf8(&bytes[6 + 8 * n..14 + 8 * n]).unwrap();
                usize::from_str_radix(text, 16).unwrap()
            };
            let (mode, size, name_size) = (field(1), field(6), field(11));
            let name = String::from_utf8(bytes[110..110 + name_size - 1].to_vec()).unwrap();
            let start = (110 + name_size).next_multiple_of(4);
            if name == "TRAILER!!!" {
                assert_eq!(bytes.len(), start);
                return entries;
            }
            let content = bytes[start..start + size].to_vec();
            entries.push((name, u32::try_from(mode).unwrap(), content));
            bytes = &bytes[(start + size).next_multiple_of(4)..];
        }
    }

    #[test]
    fn what_is_written_is_read_back_with_directories_first() {
        let mut archive = Archive::default();
        archive.file("/usr/bin/gtrace", "ELF..", 0o755);
        archive.link("/bin/sh", "busybox");
        archive.dir("/proc");
        archive.file("init", "x", 0o700);
        assert!(archive.has("/usr/bin") && archive.has("usr") && !archive.has("/sbin"));
        let mut bytes = Vec::new();
        archive.write(&mut bytes).unwrap();
        let entries = read(&bytes);
        let names: Vec<&str> = entries.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "bin",
                "bin/sh",
                "init",
                "proc",
                "usr",
                "usr/bin",
                "usr/bin/gtrace"
            ]
        );
        assert_eq!(entries[1].1, 0o120_777);
        assert_eq!(entries[1].2, b"busybox");
        assert_eq!(
            entries[6],
            ("usr/bin/gtrace".into(), 0o100_755, b"ELF..".to_vec())
        );
    }

    #[test]
    fn a_directory_does_not_replace_what_is_there() {
        let mut archive = Archive::default();
        archive.link("/lib", "usr/lib");
        archive.dir("/lib");
        let mut bytes = Vec::new();
        archive.write(&mut bytes).unwrap();
        assert_eq!(read(&bytes)[0].1, 0o120_777);
    }

    #[test]
    fn sorting_by_bytes_keeps_directories_before_what_is_in_them() {
        // '-' and '.' sort before '/', which must not tear a directory and its files apart.
        let mut archive = Archive::default();
        for path in ["a/x", "a-b/y", "a.c/z"] {
            archive.file(path, "", 0o644);
        }
        let mut bytes = Vec::new();
        archive.write(&mut bytes).unwrap();
        let names: Vec<String> = read(&bytes).into_iter().map(|entry| entry.0).collect();
        let at = |name: &str| names.iter().position(|n| n == name).unwrap();
        for dir in ["a", "a-b", "a.c"] {
            let inside = names.iter().position(|n| n.starts_with(&format!("{dir}/")));
            assert!(at(dir) < inside.unwrap());
        }
    }
}
