//! Kernel images, kept by their content for all clients: a file for each, named by its SHA-256, in a folder that no worker
//! may open.
//!
//! A worker gets a descriptor that it can read of the image that its client names, and checks the content. What a worker
//! wants to be kept is checked here, so that none can change what another one loads.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use tracing::{debug, warn};

use crate::worker::images::{Hash, SEALS};

/// What the name of a file that is being written begins with.
const PART: &str = ".part-";

/// Images that are written at a time; what comes beyond is not kept.
const WRITING_MAX: usize = 2;

/// The folder of images.
#[derive(Clone, Debug)]
pub(super) struct ImageCache {
    folder: PathBuf,
    max: u64,
    writing: Arc<AtomicUsize>,
}

impl ImageCache {
    /// Up to `max` bytes in `folder`.
    pub(super) fn new(folder: PathBuf, max: u64) -> Self {
        Self {
            folder,
            max,
            writing: Arc::default(),
        }
    }

    /// Largest image that is kept.
    pub(super) const fn max(&self) -> u64 {
        self.max
    }

    fn path(&self, hash: Hash) -> PathBuf {
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name)
    }

    /// The image with this hash, to be read; none if there is none.
    pub(super) fn open(&self, hash: Hash) -> Option<File> {
        let path = self.path(hash);
        let file = File::open(&path).ok()?;
        // The oldest are removed first, and this one was used now.
        let now = fs::FileTimes::new().set_modified(SystemTime::now());
        let _ = File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_times(now));
        Some(file)
    }

    /// Keeps what a worker says has this hash, in a thread of its own.
    pub(super) fn keep(&self, hash: Hash, memory: OwnedFd) {
        if self.writing.fetch_add(1, Ordering::Relaxed) >= WRITING_MAX {
            self.writing.fetch_sub(1, Ordering::Relaxed);
            debug!("an image is not kept: others are being written");
            return;
        }
        let (cache, done) = (self.clone(), Arc::clone(&self.writing));
        let spawned = std::thread::Builder::new()
            .name("gtrace-image".into())
            .spawn(move || {
                if let Err(error) = cache.store(hash, memory) {
                    warn!("an image is not kept: {error}");
                }
                cache.writing.fetch_sub(1, Ordering::Relaxed);
            });
        if spawned.is_err() {
            done.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn store(&self, hash: Hash, memory: OwnedFd) -> io::Result<()> {
        // What has these seals is memory, has an end, and stays as it is while it is read.
        if !rustix::fs::fcntl_get_seals(&memory)?.contains(SEALS) {
            return Err(io::Error::other("it is not sealed"));
        }
        let mut memory = File::from(memory);
        let size = memory.metadata()?.len();
        let path = self.path(hash);
        if size > self.max {
            return Ok(());
        }
        memory.rewind()?;
        if hash_of(&mut memory)? != hash {
            return Err(io::Error::other("it has not the hash that its worker says"));
        }
        if File::open(&path).is_ok_and(|mut kept| hash_of(&mut kept).is_ok_and(|of| of == hash)) {
            return Ok(());
        }
        make_room(&self.folder, self.max - size)?;
        // A file has its name only once it is whole.
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let part = self.folder.join(format!("{PART}{process}-{thread:?}"));
        memory.rewind()?;
        let written = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)
            .and_then(|mut file| io::copy(&mut memory, &mut file))
            .and_then(|_| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }
}

fn hash_of(file: &mut File) -> io::Result<Hash> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finalize().into()),
            len => hasher.update(&piece[..len]),
        }
    }
}

/// Whether a file has a name of this module: that of an image, or of one that was being written when a server was killed. A
/// folder that somebody chose may have others.
fn is_own(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is_image = name.len() == 2 * size_of::<Hash>()
        && name
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_image || name.starts_with(PART)
}

/// Removes the images that were not used for longest until the others have `max` bytes.
fn make_room(dir: &Path, max: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if metadata.is_file() && is_own(&entry.file_name()) {
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push((used, metadata.len(), entry.path()));
        }
    }
    let mut total: u64 = files.iter().map(|(_, len, _)| len).sum();
    files.sort();
    for (_, len, path) in files {
        if total <= max {
            break;
        }
        debug!("{} makes room", path.display());
        // Another worker may have removed it.
        let _ = fs::remove_file(&path);
        total -= len;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, fcntl_add_seals, memfd_create};
    use std::io::Write as _;

    fn hash(bytes: &[u8]) -> Hash {
        Sha256::digest(bytes).into()
    }

    fn memory(bytes: &[u8], sealed: bool) -> OwnedFd {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("image", flags).unwrap());
        file.write_all(bytes).unwrap();
        if sealed {
            fcntl_add_seals(&file, SEALS).unwrap();
        }
        file.into()
    }

    fn read(file: Option<File>) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        file?.read_to_end(&mut bytes).unwrap();
        Some(bytes)
    }

    #[test]
    fn nothing_is_kept_that_is_not_what_its_hash_says_and_a_broken_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ImageCache::new(folder.path().into(), 1000);
        let (good, other) = ([1; 100], [2; 100]);
        for (content, sealed) in [(good, false), (other, true)] {
            assert!(cache.store(hash(&good), memory(&content, sealed)).is_err());
        }
        let null = File::open("/dev/zero").unwrap();
        assert!(cache.store(hash(&good), null.into()).is_err());
        assert!(cache.open(hash(&good)).is_none());
        cache.store(hash(&good), memory(&good, true)).unwrap();
        assert_eq!(read(cache.open(hash(&good))).unwrap(), good);
        fs::write(cache.path(hash(&good)), b"something else").unwrap();
        cache.store(hash(&good), memory(&good, true)).unwrap();
        assert_eq!(read(cache.open(hash(&good))).unwrap(), good);
        // Nobody writes by what a worker gets.
        assert!(cache.open(hash(&good)).unwrap().write_all(b"x").is_err());
        cache
            .store(hash(&[3; 1001]), memory(&[3; 1001], true))
            .unwrap();
        assert!(cache.open(hash(&[3; 1001])).is_none(), "too large");
    }

    #[test]
    fn the_folder_stays_small_and_keeps_what_is_not_the_servers() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ImageCache::new(folder.path().into(), 250);
        let file = |name: &str| folder.path().join(name);
        let (theirs, killed) = (file("notes"), file(".part-1-ThreadId(7)"));
        for path in [&theirs, &killed] {
            fs::write(path, [0; 200]).unwrap();
        }
        for byte in 0..3u8 {
            let image = [byte; 100];
            cache.store(hash(&image), memory(&image, true)).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(15));
        }
        assert!(cache.open(hash(&[0; 100])).is_none(), "the oldest is gone");
        assert!(cache.open(hash(&[2; 100])).is_some());
        assert!(theirs.exists() && !killed.exists());
    }
}
