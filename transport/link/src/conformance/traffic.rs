//! Bytes that both sides can make, sent and received in all the ways there are.

use std::ptr::NonNull;
use std::thread;

use gtrace_protocol::SMALL_MAX;

use crate::link::{Link, LinkError, Rx, Tx};
use crate::pinned::PinnedRegion;

pub(crate) use crate::common::Bytes;

/// What is done with the bytes next.
enum Piece {
    Small(usize),
    Bulk(usize),
    Flush,
}

fn pieces_of(seed: u64, pieces: usize) -> impl Iterator<Item = Piece> {
    let mut sizes = Bytes::new(seed);
    (0..pieces).map(move |_| {
        let (choice, size) = (sizes.next(), sizes.next() as usize);
        match choice % 16 {
            0..8 => Piece::Small(1 + size % 300),
            8..10 => Piece::Small(1 + size % (70 << 10)),
            10 => Piece::Small(1 + size % (900 << 10)),
            11..13 => Piece::Bulk(1 + size % 5000),
            13 => Piece::Bulk(1 + size % (3 << 20)),
            _ => Piece::Flush,
        }
    })
}

/// Pinned bytes that a link may send without a copy, until they are released.
#[derive(Default)]
pub(crate) struct Kept(Vec<(PinnedRegion, Vec<u8>)>);

impl Kept {
    /// Sends `body`, and keeps it.
    #[allow(unsafe_code)]
    pub(crate) fn send(&mut self, tx: &mut dyn Tx, mut body: Vec<u8>) -> Result<(), LinkError> {
        let start = NonNull::new(body.as_mut_ptr()).unwrap();
        // SAFETY: it is kept, and nobody writes to it, until it is released.
        let memory = unsafe { PinnedRegion::new(start, body.len()) };
        let sent = tx.bulk_from(&body, &memory);
        self.0.push((memory, body));
        sent
    }

    /// Has the link take nothing more from there: other bytes are there from now on.
    pub(crate) fn release(&mut self, tx: &mut dyn Tx) -> Result<(), LinkError> {
        let released = (self.0.drain(..)).map(|(memory, mut body)| {
            let released = tx.release(Some(&memory));
            body.fill(0xee);
            released
        });
        let released: Vec<_> = released.collect();
        released.into_iter().collect()
    }
}

/// Sends pieces of random sizes, some committed and some as bulk, of which the link may take some from where they
/// lie.
pub(crate) fn send(tx: &mut dyn Tx, seed: u64, pieces: usize) -> Result<(), LinkError> {
    let mut kept = Kept::default();
    let sent = send_pieces(tx, &mut kept, seed, pieces);
    let released = kept.release(tx);
    sent.and(released)
}

fn send_pieces(
    tx: &mut dyn Tx,
    kept: &mut Kept,
    seed: u64,
    pieces: usize,
) -> Result<(), LinkError> {
    let mut bytes = Bytes::new(seed + 2);
    for piece in pieces_of(seed, pieces) {
        match piece {
            Piece::Small(len) => {
                let room = tx.reserve(len + 7)?;
                assert!(room.len() >= len + 7, "{} of {}", room.len(), len + 7);
                bytes.fill(&mut room[..len]);
                tx.commit(len);
                assert!(tx.pending() >= len);
            }
            Piece::Bulk(len) => {
                let mut body = vec![0; len];
                bytes.fill(&mut body);
                match len % 4 {
                    0 => tx.bulk(&body)?,
                    1 => {
                        kept.send(tx, body)?;
                        kept.release(tx)?;
                    }
                    _ => kept.send(tx, body)?,
                }
            }
            Piece::Flush => tx.flush()?,
        }
    }
    tx.flush()?;
    assert_eq!(tx.pending(), 0);
    Ok(())
}

/// Receives what [`send`] sends with the same seed, by a way of reading that changes.
pub(crate) fn receive(rx: &mut dyn Rx, seed: u64, pieces: usize) {
    let mut bytes = Bytes::new(seed + 2);
    let mut ways = Bytes::new(seed + 4);
    for (at, piece) in pieces_of(seed, pieces).enumerate() {
        let (Piece::Small(len) | Piece::Bulk(len)) = piece else {
            continue;
        };
        let mut wanted = vec![0; len];
        bytes.fill(&mut wanted);
        let wrong = || format!("piece {at} of seed {seed}");
        match ways.next() % 3 {
            0 if len <= SMALL_MAX => {
                let head = len.min(3);
                assert_eq!(rx.peek(head, None).unwrap(), &wanted[..head]);
                assert!(rx.ready(head).unwrap());
                assert!(rx.peek(len, None).unwrap() == wanted, "{}", wrong());
                rx.consume(len);
            }
            1 => {
                let mut read = vec![0; len];
                rx.read(&mut read).unwrap();
                assert!(read == wanted, "{}", wrong());
            }
            _ => {
                let mut done = 0;
                while done < len {
                    let some = rx.some(len - done).unwrap();
                    assert!(!some.is_empty() && some.len() <= len - done);
                    let read = some.len();
                    assert!(*some == wanted[done..done + read], "{}", wrong());
                    rx.consume(read);
                    done += read;
                }
            }
        }
    }
}

/// Both directions at once, each of the four halves with a thread of its own. A thread that has sent
/// all polls completions until all has arrived, as a lane does.
pub(crate) fn converse(here: &mut Link, there: &mut Link, seed: u64, pieces: usize) {
    use std::sync::atomic::{AtomicU32, Ordering};

    let (a, b) = (seed | 1, (seed ^ 0x5555) | 1);
    let received = AtomicU32::new(0);
    let sends = |tx: &mut dyn Tx, seed| {
        send(tx, seed, pieces).unwrap();
        while received.load(Ordering::Relaxed) < 2 {
            tx.poll_completions().unwrap();
            thread::sleep(std::time::Duration::from_millis(1));
        }
    };
    let receives = |rx: &mut dyn Rx, seed| {
        receive(rx, seed, pieces);
        received.fetch_add(1, Ordering::Relaxed);
    };
    thread::scope(|scope| {
        scope.spawn(|| sends(&mut *here.tx, a));
        scope.spawn(|| receives(&mut *there.rx, a));
        scope.spawn(|| sends(&mut *there.tx, b));
        scope.spawn(|| receives(&mut *here.rx, b));
    });
}
