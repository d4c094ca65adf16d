//! The driver's library as processes have it mapped: each in its own mount namespace, replaced on disk
//! or not.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gtrace_abi::API_LIBRARIES;

/// Files of the name that are looked at in a process. Its user can map any number of them.
const MOST: usize = API_LIBRARIES;
/// Bytes of a table of mappings that are read: each of its lines has a path that its user makes as long as the kernel lets him.
const TABLE_MOST: u64 = 32 << 20;

/// How the library's files are named: libcuda.so.1, libcuda.so.550.54.14.
pub const LIBCUDA: &str = "libcuda.so";

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Device number, as stat(2) has it.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// A mapping of a file in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Addresses, as in /proc/PID/maps.
    range: String,
    /// Inode, as in /proc/PID/maps.
    inode: u64,
    /// The file's path in the process's mount namespace, without the mark of a deleted file.
    pub path: PathBuf,
    /// Whether the file has been deleted or replaced since.
    pub deleted: bool,
}

impl Mapping {
    /// Its file's inode.
    pub fn inode(&self) -> u64 {
        self.inode
    }
}

/// A library that a process has mapped, open.
#[derive(Debug)]
pub struct Library {
    /// The open file; probes are attached by it, so that it cannot become another one meanwhile.
    pub file: File,
    /// Which file it is.
    pub id: FileId,
    /// Whose it is (user id).
    pub owner: u32,
    /// Its path in the mount namespace of the process.
    pub path: PathBuf,
    /// Whether it was deleted or replaced on disk since the process mapped it.
    pub deleted: bool,
    /// The process that it was found in.
    pub pid: u32,
}

impl Library {
    /// Opens a file by a path of this mount namespace.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok(Self {
            id: FileId::of(&metadata),
            owner: metadata.uid(),
            file,
            path: path.to_owned(),
            deleted: false,
            pid: std::process::id(),
        })
    }

    /// A path to the open file that the kernel can follow.
    pub fn attach_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

/// Why a library that a process has mapped cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "process {pid} has {path} mapped, which cannot be opened ({source}): root with CAP_SYS_ADMIN or \
     CAP_CHECKPOINT_RESTORE can"
)]
pub struct LibraryError {
    /// The process.
    pub pid: u32,
    /// The path in its mount namespace.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// The files that a process has mapped whose name begins with `name`, each once; the first 32 of them.
///
/// # Errors
///
/// If the process is gone, or may not be read.
pub fn mapped(proc_root: &Path, pid: u32, name: &str) -> io::Result<Vec<Mapping>> {
    let maps = File::open(proc_root.join(pid.to_string()).join("maps"))?;
    parse(BufReader::new(maps.take(TABLE_MOST)), name)
}

fn parse(maps: impl BufRead, name: &str) -> io::Result<Vec<Mapping>> {
    let mut found = BTreeMap::new();
    // Not as text: a path can be any bytes.
    for line in maps.split(b'\n') {
        let line = line?;
        // Quick for the many that have another name: they are not even taken apart.
        if !contains(&line, name.as_bytes()) {
            continue;
        }
        if let Some(mapping) = parse_line(&line, name) {
            found
                .entry((mapping.inode, mapping.path.clone()))
                .or_insert(mapping);
        }
        if found.len() >= MOST {
            break;
        }
    }
    Ok(found.into_values().collect())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|at| at == part)
}

/// `address perms offset dev inode path`, proc_pid_maps(5).
fn parse_line(line: &[u8], name: &str) -> Option<Mapping> {
    use std::os::unix::ffi::OsStringExt as _;

    let line_text = String::from_utf8_lossy(line);
    let mut fields = line_text.split_ascii_whitespace();
    let range = fields.next()?.to_owned();
    let inode = fields.nth(3)?.parse().ok().filter(|inode| *inode != 0)?;
    let start = line.iter().position(|byte| *byte == b'/')?;
    let mut path = line[start..].to_vec();
    let deleted = path.ends_with(b" (deleted)");
    if deleted {
        path.truncate(path.len() - b" (deleted)".len());
    }
    let path = PathBuf::from(std::ffi::OsString::from_vec(path));
    let file = path.file_name()?.to_string_lossy();
    // Not libcudart, and not a library that only has the name in its directory.
    file.starts_with(name).then_some(Mapping {
        range,
        inode,
        path,
        deleted,
    })
}

/// Opens what a process has mapped.
///
/// By its path in the process's mount namespace if that is still the same file, else by the mapping
/// itself, which also finds what was deleted or replaced.
///
/// # Errors
///
/// If neither can be opened.
pub fn open(proc_root: &Path, pid: u32, mapping: &Mapping) -> Result<Library, LibraryError> {
    let process = proc_root.join(pid.to_string());
    let library = |file: File, metadata: &Metadata| Library {
        file,
        id: FileId::of(metadata),
        owner: metadata.uid(),
        path: mapping.path.clone(),
        deleted: mapping.deleted,
        pid,
    };
    if !mapping.deleted {
        let relative = mapping.path.strip_prefix("/").unwrap_or(&mapping.path);
        // The device in maps is another one than stat's on overlayfs and btrfs: the inode must do.
        if let Ok((file, metadata)) = open_regular(&process.join("root").join(relative))
            && metadata.ino() == mapping.inode
        {
            return Ok(library(file, &metadata));
        }
    }
    match open_regular(&process.join("map_files").join(&mapping.range)) {
        Ok((file, metadata)) => Ok(library(file, &metadata)),
        Err(source) => Err(LibraryError {
            pid,
            path: mapping.path.clone(),
            source,
        }),
    }
}

/// Opens a regular file, and nothing else. Another user's process can put anything in the place of its library, also a link to a
/// device of the host: links are followed from the reader's root. A device may do something when it is opened (a watchdog starts, a
/// tape rewinds), and O_PATH opens none.
fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let place = File::options()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(path)?;
    if !place.metadata()?.is_file() {
        let cause = "it is no regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, cause));
    }
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(format!("/proc/self/fd/{}", place.as_raw_fd()))?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// The processes of a procfs.
pub fn processes(proc_root: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(proc_root) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0-55d1 r-xp 00000000 fe:00 11 /usr/bin/python3.12
7f00-7f01 r--p 00000000 fe:00 22                         /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14
7f01-7f02 r-xp 00001000 fe:00 22                         /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14
7f10-7f11 r-xp 00001000 fe:00 33 /opt/a b/libcuda.so.1 (deleted)
7f20-7f21 r-xp 00001000 fe:00 44 /opt/libcuda.so/libother.so
7f30-7f31 r-xp 00001000 fe:00 55 /usr/lib/libcudart.so.12
7f40-7f41 rw-p 00000000 00:00 0 [heap]
";

    #[test]
    fn each_file_of_the_name_is_found_once_in_a_table_of_mappings() {
        let found = parse(MAPS.as_bytes(), LIBCUDA).unwrap();
        let of = |index: usize| {
            let mapping: &Mapping = &found[index];
            (mapping.path.to_str().unwrap(), mapping.deleted)
        };
        assert_eq!(found.len(), 2);
        assert_eq!(
            of(0),
            ("/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14", false)
        );
        assert_eq!(of(1), ("/opt/a b/libcuda.so.1", true));
        assert_eq!(found[1].range, "7f10-7f11");
    }

    #[test]
    fn of_a_table_without_end_the_first_files_are_taken() {
        let line = |n: usize| format!("7f00-7f01 r-xp 00000000 fe:00 {n} /tmp/libcuda.so.{n}\n");
        let maps: String = (1..1000).map(line).collect();
        let found = parse(maps.as_bytes(), LIBCUDA).unwrap();
        let inodes: Vec<u64> = found.iter().map(Mapping::inode).collect();
        assert_eq!(inodes, (1..=MOST as u64).collect::<Vec<_>>());
    }

    #[test]
    fn a_table_that_is_cut_or_malformed_does_no_harm() {
        for len in 0..MAPS.len() {
            parse(&MAPS.as_bytes()[..len], LIBCUDA).unwrap();
        }
        let odd = &b"libcuda.so\nx libcuda.so\n\xff /libcuda.so.1\n"[..];
        assert!(parse(odd, LIBCUDA).unwrap().is_empty());
    }

    #[test]
    fn a_table_is_read_up_to_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("7")).unwrap();
        let table = File::create(dir.path().join("7/maps")).unwrap();
        table.set_len(1 << 40).unwrap();
        assert!(mapped(dir.path(), 7, LIBCUDA).unwrap().is_empty());
    }

    #[test]
    fn what_this_process_has_mapped_is_opened() {
        let pid = std::process::id();
        let found = mapped(Path::new("/proc"), pid, "libc.so").unwrap();
        let library = open(Path::new("/proc"), pid, &found[0]).unwrap();
        assert_eq!(library.id.inode, found[0].inode);
        assert!(mapped(Path::new("/proc"), u32::MAX, "libc.so").is_err());
    }

    #[test]
    fn a_device_in_the_place_of_a_library_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("7/root");
        fs::create_dir_all(&root).unwrap();
        let place = root.join("libcuda.so.1");
        let mapping = |of: &Path| Mapping {
            range: "1-2".to_owned(),
            inode: fs::metadata(of).unwrap().ino(),
            path: "/libcuda.so.1".into(),
            deleted: false,
        };
        // The link leads out of the root of the process.
        let device = Path::new("/dev/null");
        std::os::unix::fs::symlink(device, &place).unwrap();
        assert!(open(dir.path(), 7, &mapping(device)).is_err());
        fs::remove_file(&place).unwrap();
        fs::write(&place, b"library").unwrap();
        assert!(open(dir.path(), 7, &mapping(&place)).is_ok());
    }
}
