//! Kernel images, kept by their content for all clients: a program's images are up to a hundred
//! megabytes at each start, and most starts bring the same ones.
//!
//! The supervisor keeps them, as files named by their SHA-256 that no worker may open. A worker asks it for the one that
//! its client names, and gives it those that its client sends. The content is checked each time that it is loaded, so that
//! a broken file is no more than a file that is not there.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use gtrace_cuda::payload::{IMAGE_MAX, ImagePiece};
use rustix::fs::{MemfdFlags, SealFlags};
use sha2::{Digest as _, Sha256};
use tracing::warn;

use crate::control::{Channel, FromWorker};

/// SHA-256 of an image.
pub(crate) type Hash = [u8; 32];

/// Images that one client may have begun to send and not finished.
const BEGUN_MAX: usize = 4;
/// Most bytes that one client's unfinished images have together, and again those that it has sent and not loaded.
const BYTES_MAX: u64 = IMAGE_MAX;

/// The longest image that stays in memory when it was loaded and the supervisor does not have it yet, bytes.
const STAYS_MAX: u64 = 16 << 20;

/// How long the supervisor may take to open a file. It is a call or two; then the client sends the image.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Seals of an image that is given to the supervisor: nobody changes it any more.
pub(crate) const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::SHRINK)
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// The images that a session can use.
pub(crate) struct Images {
    supervisor: Arc<Channel>,
    /// The largest that the supervisor keeps.
    max: u64,
    /// One lane asks at a time.
    asking: Mutex<()>,
    answer: Mutex<Option<(Hash, Option<File>)>>,
    answered: Condvar,
    bytes_max: u64,
    /// Those that are being sent.
    begun: Mutex<HashMap<Hash, Vec<u8>>>,
    /// Those that were sent and not yet loaded: what the folder does not keep is here all the same. Short ones stay until the
    /// supervisor has them, which writes them meanwhile.
    sent: Mutex<HashMap<Hash, Sent>>,
}

/// An image that the client has sent.
struct Sent {
    image: Arc<Vec<u8>>,
    loaded: bool,
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
    /// Kept by the supervisor behind this channel, each up to `max` bytes; 0: none is.
    pub(crate) fn new(supervisor: Arc<Channel>, max: u64) -> Self {
        Self {
            supervisor,
            max,
            asking: Mutex::default(),
            answer: Mutex::default(),
            answered: Condvar::new(),
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
        let held: usize = sent.values().map(|sent| sent.image.len()).sum();
        if sent.len() >= BEGUN_MAX || held.saturating_add(image.len()) as u64 > self.bytes_max {
            sent.clear();
        }
        let image = Arc::new(image);
        let loaded = false;
        sent.insert(hash, Sent { image, loaded });
        Ok(())
    }

    /// The image with this hash, if it was sent by this client or is kept.
    pub(crate) fn get(&self, hash: Hash) -> Option<Arc<Vec<u8>>> {
        let in_memory = || self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sent = in_memory();
        if let Some(known) = sent.get_mut(&hash)
            && !std::mem::replace(&mut known.loaded, true)
        {
            let stays = known.image.len() as u64 <= self.max.min(STAYS_MAX);
            return match stays {
                true => Some(Arc::clone(&known.image)),
                false => sent.remove(&hash).map(|sent| sent.image),
            };
        }
        let known = sent.get(&hash).map(|sent| Arc::clone(&sent.image));
        drop(sent);
        match self.read(hash) {
            Some(image) => {
                in_memory().remove(&hash);
                Some(image)
            }
            None => known,
        }
    }

    /// The image with this hash as the supervisor keeps it.
    fn read(&self, hash: Hash) -> Option<Arc<Vec<u8>>> {
        let mut image = Vec::new();
        self.fetch(hash)?.read_to_end(&mut image).ok()?;
        if hash_of(&image) != hash {
            warn!("a kept image is broken, and sent anew by its client");
            return None;
        }
        Some(Arc::new(image))
    }

    /// Asks the supervisor for a file.
    fn fetch(&self, hash: Hash) -> Option<File> {
        if self.max == 0 {
            return None;
        }
        let _one = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = None;
        self.supervisor
            .send(&FromWorker::WantImage(hash), None)
            .ok()?;
        let missing =
            |answer: &mut Option<(Hash, _)>| !matches!(answer, Some((of, _)) if *of == hash);
        let (mut answer, _) = self
            .answered
            .wait_timeout_while(answer, ANSWER_MAX, missing)
            .unwrap_or_else(PoisonError::into_inner);
        let (of, file) = answer.take()?;
        file.filter(|_| of == hash)
    }

    /// The supervisor has answered.
    pub(crate) fn deliver(&self, hash: Hash, file: Option<OwnedFd>) {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = Some((hash, file.map(File::from)));
        self.answered.notify_all();
    }

    /// Gives the supervisor an image.
    fn store(&self, hash: Hash, image: &[u8]) -> io::Result<()> {
        if image.len() as u64 > self.max {
            return Ok(());
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut memory = File::from(rustix::fs::memfd_create("gtrace-image", flags)?);
        memory.write_all(image)?;
        rustix::fs::fcntl_add_seals(&memory, SEALS)?;
        self.supervisor
            .send(&FromWorker::KeepImage(hash), Some(memory.as_fd()))
    }
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

    /// Images of a worker whose supervisor keeps nothing.
    fn alone() -> Images {
        Images::new(Arc::new(Channel::pair().unwrap().0), 0)
    }

    #[test]
    fn an_image_comes_by_pieces() {
        let images = alone();
        let image = b".version 8.0".repeat(10);
        let (first, second) = image.split_at(50);
        images.piece(&piece(&image, 0), first).unwrap();
        assert!(images.get(hash_of(&image)).is_none());
        images.piece(&piece(&image, 50), second).unwrap();
        assert_eq!(*images.get(hash_of(&image)).unwrap(), image);
    }

    #[test]
    fn what_the_supervisor_has_is_loaded_if_it_is_what_its_hash_says() {
        let (supervisor, worker) = Channel::pair().unwrap();
        let images = Images::new(Arc::new(worker), 1 << 20);
        let image = b".version 8.0".repeat(10);
        let mut sent = Vec::new();
        images.keep(hash_of(&image), image.clone()).unwrap();
        let (message, memory) = supervisor.receive::<FromWorker>(true).unwrap().unwrap();
        assert!(matches!(message, FromWorker::KeepImage(hash) if hash == hash_of(&image)));
        let mut memory = File::from(memory.unwrap());
        assert!(memory.write_all(b"x").is_err(), "it is sealed");
        std::io::Seek::rewind(&mut memory).unwrap();
        memory.read_to_end(&mut sent).unwrap();
        assert_eq!(sent, image);
        // What it has sent itself, once.
        assert!(images.get(hash_of(&image)).is_some());
        for (content, good) in [(&image[..], true), (b"something else", false)] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content).unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            let got = std::thread::scope(|scope| {
                let loading = scope.spawn(|| images.get(hash_of(&image)));
                let (message, _) = supervisor.receive::<FromWorker>(true).unwrap().unwrap();
                assert!(matches!(message, FromWorker::WantImage(hash) if hash == hash_of(&image)));
                images.deliver([0; 32], None);
                images.deliver(hash_of(&image), Some(file.into()));
                loading.join().unwrap()
            });
            assert_eq!(got.is_some(), good);
        }
    }

    #[test]
    fn unfinished_images_have_an_end() {
        let mut images = alone();
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
        let images = alone();
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
}
