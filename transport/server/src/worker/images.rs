//! Kernel images, kept by their content for all clients: a program's images are up to a hundred
//! megabytes at each start, and most starts bring the same ones.
//!
//! Each image is a file named by its SHA-256. A client that names a hash may load what is there: it
//! runs what it wants anyway. The content is checked when it is read, so that a broken file is no
//! more than a file that is not there.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use gtrace_cuda::payload::{IMAGE_MAX, ImagePiece};
use sha2::{Digest as _, Sha256};
use tracing::{debug, warn};

/// SHA-256 of an image.
pub(crate) type Hash = [u8; 32];

/// Images that one client may have begun to send and not finished.
const BEGUN_MAX: usize = 4;
/// Most bytes that one client's unfinished images have together, and again those that it has sent and not loaded.
const BYTES_MAX: u64 = IMAGE_MAX;

/// The images that a session can use.
pub(crate) struct Images {
    dir: Option<PathBuf>,
    max: u64,
    bytes_max: u64,
    /// Those that are being sent.
    begun: Mutex<HashMap<Hash, Vec<u8>>>,
    /// Those that were sent and not yet loaded: what the folder does not keep is here all the same.
    sent: Mutex<HashMap<Hash, Arc<Vec<u8>>>>,
}

/// Why a piece is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PieceError {
    /// It does not follow the piece before.
    #[error("a piece of an image does not follow the one before")]
    Order,
    /// It goes beyond the image's size.
    #[error("a piece of an image goes beyond its size")]
    Size,
    /// There is no room for it.
    #[error("the images that a client is sending have more than {BYTES_MAX} bytes together")]
    Full,
    /// All is there, and it is not what its hash says.
    #[error("an image has not the hash that was announced")]
    Hash,
}

/// SHA-256 of `bytes`.
pub(crate) fn hash_of(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

impl Images {
    /// Kept in `dir`, if there is one, up to `max` bytes.
    pub(crate) fn new(dir: Option<PathBuf>, max: u64) -> Self {
        Self {
            dir,
            max,
            bytes_max: BYTES_MAX,
            begun: Mutex::default(),
            sent: Mutex::default(),
        }
    }

    /// Takes a piece.
    ///
    /// # Errors
    ///
    /// [`PieceError`]; the image has to be sent anew.
    pub(crate) fn piece(&self, piece: &ImagePiece, bytes: &[u8]) -> Result<(), PieceError> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if piece.offset == 0 {
            if begun.len() >= BEGUN_MAX {
                begun.clear();
            }
            begun.insert(piece.hash, Vec::new());
        }
        let held: usize = begun.values().map(Vec::len).sum();
        if held.saturating_add(bytes.len()) as u64 > self.bytes_max {
            begun.remove(&piece.hash);
            return Err(PieceError::Full);
        }
        let image = begun.get_mut(&piece.hash).ok_or(PieceError::Order)?;
        if piece.offset != image.len() as u64 {
            begun.remove(&piece.hash);
            return Err(PieceError::Order);
        }
        image.extend_from_slice(bytes);
        let got = image.len() as u64;
        if got > piece.size {
            begun.remove(&piece.hash);
            return Err(PieceError::Size);
        }
        if got < piece.size {
            return Ok(());
        }
        let image = begun.remove(&piece.hash).unwrap_or_default();
        drop(begun);
        self.keep(piece.hash, image)
    }

    /// Takes a whole image.
    ///
    /// # Errors
    ///
    /// [`PieceError::Hash`].
    pub(crate) fn keep(&self, hash: Hash, image: Vec<u8>) -> Result<(), PieceError> {
        if hash_of(&image) != hash {
            return Err(PieceError::Hash);
        }
        if let Err(error) = self.store(hash, &image) {
            warn!("an image of {} bytes is not kept: {error}", image.len());
        }
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let held: usize = sent.values().map(|image| image.len()).sum();
        if sent.len() >= BEGUN_MAX || held.saturating_add(image.len()) as u64 > self.bytes_max {
            sent.clear();
        }
        sent.insert(hash, Arc::new(image));
        Ok(())
    }

    /// The image with this hash, if it was sent by this client or is kept.
    pub(crate) fn get(&self, hash: Hash) -> Option<Arc<Vec<u8>>> {
        {
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(image) = sent.remove(&hash) {
                return Some(image);
            }
        }
        let path = self.path(hash)?;
        let image = fs::read(&path).ok()?;
        if hash_of(&image) != hash {
            warn!("{} is broken; removed", path.display());
            let _ = fs::remove_file(&path);
            return None;
        }
        // The oldest are removed first, and this one was used now.
        let now = fs::FileTimes::new().set_modified(SystemTime::now());
        let _ = fs::File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_times(now));
        Some(Arc::new(image))
    }

    fn path(&self, hash: Hash) -> Option<PathBuf> {
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.dir.as_ref()?.join(name))
    }

    fn store(&self, hash: Hash, image: &[u8]) -> io::Result<()> {
        let (Some(dir), Some(path)) = (&self.dir, self.path(hash)) else {
            return Ok(());
        };
        let size = image.len() as u64;
        if size > self.max || path.exists() {
            return Ok(());
        }
        make_room(dir, self.max - size)?;
        // Other workers read the folder: a file has its name only once it is whole.
        let part = dir.join(format!(
            ".{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let written = fs::File::create(&part)
            .and_then(|mut file| file.write_all(image))
            .and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }
}

/// Removes the files that were not used for longest until the others have `max` bytes.
fn make_room(dir: &Path, max: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if metadata.is_file() {
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

    fn piece(image: &[u8], offset: u64) -> ImagePiece {
        ImagePiece {
            hash: hash_of(image),
            size: image.len() as u64,
            offset,
        }
    }

    #[test]
    fn an_image_comes_by_pieces_and_other_workers_have_it() {
        let dir = tempfile::tempdir().unwrap();
        let images = Images::new(Some(dir.path().into()), 1 << 20);
        let image = b".version 8.0".repeat(10);
        let (first, second) = image.split_at(50);
        images.piece(&piece(&image, 0), first).unwrap();
        assert!(images.get(hash_of(&image)).is_none());
        images.piece(&piece(&image, 50), second).unwrap();
        assert_eq!(*images.get(hash_of(&image)).unwrap(), image);
        let other = Images::new(Some(dir.path().into()), 1 << 20);
        assert_eq!(*other.get(hash_of(&image)).unwrap(), image);
    }

    #[test]
    fn unfinished_images_have_an_end() {
        let mut images = Images::new(None, 0);
        images.bytes_max = 250;
        for first in 0..2 {
            let whole = [first; 200];
            images.piece(&piece(&whole, 0), &whole[..100]).unwrap();
        }
        let third = [2; 100];
        assert_eq!(
            images.piece(&piece(&third, 0), &third),
            Err(PieceError::Full)
        );
        let first = [0; 200];
        assert_eq!(
            images.piece(&piece(&first, 100), &first[100..]),
            Err(PieceError::Full)
        );
        // What was given up makes room.
        images.piece(&piece(&third, 0), &third).unwrap();
    }

    #[test]
    fn what_is_not_what_it_says_is_not_taken() {
        let images = Images::new(None, 0);
        let image = [1; 100];
        assert_eq!(
            images.piece(&piece(&image, 10), &image[10..]),
            Err(PieceError::Order)
        );
        assert_eq!(
            images.piece(&piece(&image, 0), &[2; 100]),
            Err(PieceError::Hash)
        );
        assert_eq!(
            images.piece(&piece(&image, 0), &[1; 101]),
            Err(PieceError::Size)
        );
        images.piece(&piece(&image, 0), &image).unwrap();
        assert!(images.get(hash_of(&image)).is_some());
    }

    #[test]
    fn a_broken_file_is_no_image_and_the_folder_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let images = Images::new(Some(dir.path().into()), 250);
        for byte in 0..3u8 {
            images.keep(hash_of(&[byte; 100]), vec![byte; 100]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(15));
        }
        let other = Images::new(Some(dir.path().into()), 250);
        assert!(
            other.get(hash_of(&[0; 100])).is_none(),
            "the oldest is gone"
        );
        let kept = other.path(hash_of(&[2; 100])).unwrap();
        fs::write(&kept, b"something else").unwrap();
        assert!(other.get(hash_of(&[2; 100])).is_none());
        assert!(!kept.exists());
    }
}
