//! A slower network than there is: a link whose bytes are held back.
//!
//! Each way is a queue whose pieces are given on when they would have come: the line is busy for
//! `bytes / bandwidth` with each, and then it travels for half a round trip. So frames that are sent
//! without waiting travel at the same time, as they do on a real line.

mod halves;
mod line;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::link::{End, Endable, Ended, Ender, Link, LinkError, Rx, Tx};
use halves::{EmulatedRx, EmulatedTx};
use line::{Line, Piece};

pub use settings::Emulation;

/// Largest piece that is held back as one.
const PIECE: usize = 64 << 10;
/// Bytes that a line without a limit of bandwidth holds.
const HELD_MOST: usize = 64 << 20;
/// Fewest bytes that a line holds: the buffers at both ends.
const HELD_LEAST: usize = 1 << 20;
/// Longest time between two checks of the receiving thread whether it is still wanted.
const POLL: Duration = Duration::from_millis(100);

/// `link` as it would be over that network. What is sent on it is still given on when it is dropped.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn emulate(link: Link, emulation: Emulation) -> Result<Link, LinkError> {
    let mut seed = [0; 8];
    crate::auth::random(&mut seed)?;
    let now = Instant::now();
    let seed = u64::from_le_bytes(seed);
    let network = Arc::new(Network {
        emulation,
        began: now,
        peer: link.info.peer.clone(),
        sending: Line::new(seed, now),
        receiving: Line::new(seed.rotate_left(32), now),
        bytes: AtomicU64::new(0),
        inner: link.end,
    });
    let (tx, rx) = (link.tx, link.rx);
    let here = Arc::clone(&network);
    thread::spawn(move || here.send_all(tx));
    let here = Arc::clone(&network);
    thread::spawn(move || here.receive_all(rx));
    Ok(Link {
        end: Ender::new(&network),
        tx: Box::new(EmulatedTx::new(&network)),
        rx: Box::new(EmulatedRx::new(network)),
        info: link.info,
        channel: None,
    })
}

/// Both ways of the line.
struct Network {
    emulation: Emulation,
    began: Instant,
    peer: String,
    sending: Line,
    receiving: Line,
    /// Both ways together.
    bytes: AtomicU64,
    inner: Ender,
}

impl Network {
    fn closed(&self) -> LinkError {
        Ended::new(&self.peer, End::Closed).into()
    }

    /// Puts bytes on the line; waits while it holds as many as it can.
    fn put(&self, line: &Line, bytes: &[u8]) -> Result<(), LinkError> {
        let most = self.emulation.bandwidth.map_or(HELD_MOST, |bandwidth| {
            let in_flight = 2.0 * bandwidth * self.emulation.rtt.as_secs_f64();
            (in_flight as usize).clamp(HELD_LEAST, HELD_MOST)
        });
        for bytes in bytes.chunks(PIECE) {
            let mut state = line.lock();
            while state.held >= most && !state.end && !state.dropped {
                state = line.wait(state, None);
            }
            if state.end || state.dropped {
                return Err(self.closed());
            }
            let due = state.schedule(&self.emulation, bytes.len());
            state.held += bytes.len();
            state.pieces.push_back(Piece {
                due,
                bytes: bytes.to_vec(),
                taken: 0,
            });
            drop(state);
            line.changed.notify_all();
            let total = self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            let total = total + bytes.len() as u64;
            if self.emulation.break_bytes.is_some_and(|most| total >= most) {
                self.break_off();
            }
        }
        Ok(())
    }

    /// Takes bytes that have come off the line, at least one; none if nothing more comes.
    fn take(
        &self,
        line: &Line,
        deadline: Option<Instant>,
        mut take: impl FnMut(&[u8]) -> usize,
    ) -> Result<Option<()>, LinkError> {
        let mut state = line.lock();
        loop {
            let now = Instant::now();
            let due = state.pieces.front().map(|piece| piece.due);
            if due.is_some_and(|due| due <= now) {
                while let Some(piece) = state.pieces.front_mut().filter(|piece| piece.due <= now) {
                    let taken = take(&piece.bytes[piece.taken..]);
                    piece.taken += taken;
                    let whole = piece.taken == piece.bytes.len();
                    state.held -= taken;
                    if !whole {
                        break;
                    }
                    state.pieces.pop_front();
                }
                drop(state);
                line.changed.notify_all();
                return Ok(Some(()));
            }
            if due.is_none() && state.end {
                return Ok(None);
            }
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(LinkError::TimedOut(self.peer.clone()));
            }
            let until = match (due, deadline) {
                (Some(due), Some(deadline)) => Some(due.min(deadline)),
                (due, deadline) => due.or(deadline),
            };
            state = line.wait(state, until);
        }
    }

    /// The line is cut: what was under way is lost.
    fn break_off(&self) {
        for line in [&self.sending, &self.receiving] {
            line.finish(|state| {
                state.pieces.clear();
                state.held = 0;
                state.end = true;
            });
        }
        self.inner.end();
    }

    /// The thread that gives on what is sent.
    fn send_all(&self, mut tx: Box<dyn Tx>) {
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            piece.clear();
            let taken = self.take(&self.sending, None, |bytes| {
                piece.extend_from_slice(bytes);
                bytes.len()
            });
            let more = matches!(taken, Ok(Some(())));
            if !more {
                break;
            }
            if tx.bulk(&piece).is_err() {
                self.sending.finish(|state| state.dropped = true);
                break;
            }
        }
    }

    /// Puts available bytes on the line. Peeked bytes are shown alone, so that the rest is read
    /// without another peek.
    fn receive_some(&self, rx: &mut dyn Rx, until: Option<Instant>) -> Result<(), LinkError> {
        loop {
            let bytes = rx.some(PIECE)?;
            self.put(&self.receiving, bytes)?;
            let len = bytes.len();
            rx.consume(len);
            if !rx.ready(1)? || until.is_some_and(|until| Instant::now() >= until) {
                return Ok(());
            }
        }
    }

    /// The thread that receives.
    fn receive_all(&self, mut rx: Box<dyn Rx>) {
        let breaks_at = self.emulation.break_after.map(|after| self.began + after);
        loop {
            let next_check = Instant::now() + POLL;
            let until = breaks_at.map_or(next_check, |breaks_at| breaks_at.min(next_check));
            let outcome = rx.peek(1, Some(until)).map(|_| ());
            if breaks_at.is_some_and(|breaks_at| Instant::now() >= breaks_at) {
                self.break_off();
                return;
            }
            let outcome = match outcome {
                Err(LinkError::TimedOut(_)) if !self.receiving.lock().dropped => continue,
                Err(error) => Err(error),
                Ok(()) => self.receive_some(&mut *rx, breaks_at),
            };
            if outcome.is_err() {
                self.receiving.finish(|state| state.end = true);
                self.sending.finish(|state| state.dropped = true);
                return;
            }
        }
    }
}

impl Endable for Network {
    fn end(&self) {
        self.break_off();
    }

    fn is_alive(&self) -> bool {
        self.inner.is_alive()
    }
}
