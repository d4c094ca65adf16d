//! Kernel images, kept by their content for all clients: a program's images are up to a hundred
//! megabytes at each start, and most starts bring the same ones.
//!
//! The supervisor keeps them, as files named by their SHA-256 that no worker may open. A worker asks it for the one that
//! its client names, and gives it those that its client sends. The content is checked each time that it is loaded, so that
//! a broken file is no more than a file that is not there.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gtrace_cuda::payload::{IMAGE_MAX, ImagePiece};
use rustix::fs::{MemfdFlags, SealFlags};
use sha2::{Digest as _, Sha256};
use tracing::warn;

use crate::control::{Channel, FromWorker};

/// SHA-256 of an image.
pub(crate) type Hash = [u8; 32];

/// Images that were loaded and stay in memory.
const LOADED_MAX: usize = 4;
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
    /// Those that are being sent, by lane: threads of a program may send the same at the same time.
    begun: Mutex<HashMap<u64, Begun>>,
    /// Those that were sent and not yet loaded: what the folder does not keep is here all the same. Short ones stay until the
    /// supervisor has them, which writes them meanwhile.
    sent: Mutex<HashMap<Hash, Sent>>,
}

/// An image that a lane is sending.
struct Begun {
    hash: Hash,
    image: Vec<u8>,
}

/// An image that the client has sent.
struct Sent {
    image: Arc<Vec<u8>>,
    /// Lanes that have sent it and not loaded it yet: what they ask for next.
    wanted_by: HashSet<u64>,
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

    /// Takes a piece of the one image that `lane` sends.
    ///
    /// # Errors
    ///
    /// [`PieceError`]; the image has to be sent anew.
    pub(crate) fn piece(
        &self,
        lane: u64,
        piece: &ImagePiece,
        bytes: &[u8],
    ) -> Result<(), PieceError> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let follows =
            |own: &Begun| own.hash == piece.hash && own.image.len() as u64 == piece.offset;
        let mut image = match begun.remove(&lane).filter(follows) {
            Some(own) => own.image,
            None if piece.offset == 0 => Vec::new(),
            None => return Err(PieceError::Order),
        };
        let others: usize = begun.values().map(|own| own.image.len()).sum();
        let held = others.saturating_add(image.len());
        if held.saturating_add(bytes.len()) as u64 > self.bytes_max {
            return Err(PieceError::Full);
        }
        image.extend_from_slice(bytes);
        let got = image.len() as u64;
        if got > piece.size {
            return Err(PieceError::Size);
        }
        let hash = piece.hash;
        if got < piece.size {
            begun.insert(lane, Begun { hash, image });
            return Ok(());
        }
        drop(begun);
        self.keep(lane, hash, image)
    }

    /// The lane has ended: it sends no more, and loads nothing.
    pub(crate) fn lane_ended(&self, lane: u64) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.remove(&lane);
        drop(begun);
        drop(self.forget_wish(lane));
    }

    /// The lane does not load what it has sent last.
    fn forget_wish(&self, lane: u64) -> MutexGuard<'_, HashMap<Hash, Sent>> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        for image in sent.values_mut() {
            image.wanted_by.remove(&lane);
        }
        sent
    }

    /// Takes a whole image from `lane`.
    ///
    /// # Errors
    ///
    /// [`PieceError::Hash`].
    pub(crate) fn keep(&self, lane: u64, hash: Hash, image: Vec<u8>) -> Result<(), PieceError> {
        if hash_of(&image) != hash {
            return Err(PieceError::Hash);
        }
        if let Err(error) = self.store(hash, &image) {
            warn!("an image of {} bytes is not kept: {error}", image.len());
        }
        let mut sent = self.forget_wish(lane);
        let known = sent.entry(hash).or_insert_with(|| Sent {
            image: Arc::new(image),
            wanted_by: HashSet::new(),
        });
        known.wanted_by.insert(lane);
        let held = |sent: &HashMap<Hash, Sent>| -> usize {
            sent.values().map(|sent| sent.image.len()).sum()
        };
        if sent.len() > LOADED_MAX || held(&sent) as u64 > self.bytes_max {
            sent.retain(|_, sent| !sent.wanted_by.is_empty());
        }
        if held(&sent) as u64 > self.bytes_max {
            sent.retain(|of, _| *of == hash);
        }
        Ok(())
    }

    /// The image with this hash for `lane`, if it was sent by this client or is kept.
    pub(crate) fn get(&self, lane: u64, hash: Hash) -> Option<Arc<Vec<u8>>> {
        let in_memory = || self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sent = in_memory();
        let known = sent.get_mut(&hash).map(|known| {
            let own = known.wanted_by.remove(&lane);
            (own, known.wanted_by.is_empty(), Arc::clone(&known.image))
        });
        if let Some((true, last, image)) = known {
            if last && image.len() as u64 > self.max.min(STAYS_MAX) {
                sent.remove(&hash);
            }
            return Some(image);
        }
        drop(sent);
        match self.read(hash) {
            Some(image) => {
                let loaded = |sent: &Sent| sent.wanted_by.is_empty();
                let mut sent = in_memory();
                if sent.get(&hash).is_some_and(loaded) {
                    sent.remove(&hash);
                }
                Some(image)
            }
            None => known.map(|(_, _, image)| image),
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
        images.piece(1, &piece(&image, 0), first).unwrap();
        assert!(images.get(1, hash_of(&image)).is_none());
        images.piece(1, &piece(&image, 50), second).unwrap();
        assert_eq!(*images.get(1, hash_of(&image)).unwrap(), image);
    }

    /// As of a program with a thread for each GPU, which all load the same, or each something else.
    #[test]
    fn lanes_that_send_at_the_same_time_do_not_disturb_each_other() {
        let images = alone();
        let same = b".version 8.0".repeat(10);
        let others: Vec<_> = (2..12_u8).map(|lane| vec![lane; 100]).collect();
        let mut all = vec![(0, &same), (1, &same)];
        all.extend((2..).zip(&others));
        for (lane, image) in &all {
            images.piece(*lane, &piece(image, 0), &image[..50]).unwrap();
        }
        for (lane, image) in &all {
            let rest = &image[50..];
            images.piece(*lane, &piece(image, 50), rest).unwrap();
        }
        // One that has sent nothing takes nothing away.
        assert!(images.get(99, hash_of(&same)).is_some());
        for (lane, image) in &all {
            assert_eq!(images.get(*lane, hash_of(image)).as_deref(), Some(*image));
        }
        assert!(images.sent.lock().unwrap().is_empty());
    }

    #[test]
    fn nothing_is_kept_for_a_lane_that_has_ended() {
        let images = alone();
        let (whole, begun) = ([1; 100], [2; 100]);
        images.piece(1, &piece(&whole, 0), &whole).unwrap();
        images.piece(1, &piece(&begun, 0), &begun[..50]).unwrap();
        images.lane_ended(1);
        assert!(images.begun.lock().unwrap().is_empty());
        // What nobody wants goes when there are others.
        for lane in 2..2 + LOADED_MAX as u64 {
            let image = [lane as u8; 10];
            images.piece(lane, &piece(&image, 0), &image).unwrap();
        }
        assert!(images.get(2, hash_of(&whole)).is_none());
    }

    #[test]
    fn what_the_supervisor_has_is_loaded_if_it_is_what_its_hash_says() {
        let (supervisor, worker) = Channel::pair().unwrap();
        let images = Images::new(Arc::new(worker), 1 << 20);
        let image = b".version 8.0".repeat(10);
        let mut sent = Vec::new();
        images.keep(1, hash_of(&image), image.clone()).unwrap();
        let (message, memory) = supervisor.receive::<FromWorker>(true).unwrap().unwrap();
        assert!(matches!(message, FromWorker::KeepImage(hash) if hash == hash_of(&image)));
        let mut memory = File::from(memory.unwrap());
        assert!(memory.write_all(b"x").is_err(), "it is sealed");
        std::io::Seek::rewind(&mut memory).unwrap();
        memory.read_to_end(&mut sent).unwrap();
        assert_eq!(sent, image);
        // What it has sent itself, once.
        assert!(images.get(1, hash_of(&image)).is_some());
        for (content, good) in [(&image[..], true), (b"something else", false)] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content).unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            let got = std::thread::scope(|scope| {
                let loading = scope.spawn(|| images.get(1, hash_of(&image)));
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
        for lane in 0..2_u8 {
            let whole = [lane; 200];
            let begun = images.piece(lane.into(), &piece(&whole, 0), &whole[..100]);
            begun.unwrap();
        }
        let third = [2; 100];
        assert_eq!(
            images.piece(2, &piece(&third, 0), &third),
            Err(PieceError::Full)
        );
        let first = [0; 200];
        assert_eq!(
            images.piece(0, &piece(&first, 100), &first[100..]),
            Err(PieceError::Full)
        );
        // What was given up makes room.
        images.piece(2, &piece(&third, 0), &third).unwrap();
    }

    #[test]
    fn what_is_not_what_it_says_is_not_taken() {
        let images = alone();
        let image = [1; 100];
        assert_eq!(
            images.piece(1, &piece(&image, 10), &image[10..]),
            Err(PieceError::Order)
        );
        assert_eq!(
            images.piece(1, &piece(&image, 0), &[2; 100]),
            Err(PieceError::Hash)
        );
        assert_eq!(
            images.piece(1, &piece(&image, 0), &[1; 101]),
            Err(PieceError::Size)
        );
        images.piece(1, &piece(&image, 0), &image).unwrap();
        assert!(images.get(1, hash_of(&image)).is_some());
    }
}
