//! A slower network than there is: a link whose bytes are held back.
//!
//! Each way is a queue whose pieces are given on when they would have come: the line is busy for
//! `bytes / bandwidth` with each, and then it travels for half a round trip. So frames that are sent
//! without waiting travel at the same time, as they do on a real line.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::buffer::{InBuffer, OutBuffer};
use crate::channel::IN_BUFFER;
use crate::emulation::Emulation;
use crate::link::{End, Ender, Link, LinkError, Rx, Tx};

/// Largest piece that is held back as one.
const PIECE: usize = 64 << 10;
/// Bytes that a line without a limit of bandwidth holds.
const HELD_MOST: usize = 64 << 20;
/// Fewest bytes that a line holds: the buffers at both ends.
const HELD_LEAST: usize = 1 << 20;
/// Longest time between two looks of the receiving thread at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// `link` as it would be over that network. What is sent on it is still given on when it is dropped.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn emulate(link: Link, emulation: Emulation) -> Result<Link, LinkError> {
    let mut seed = [0; 8];
    crate::auth::random(&mut seed)?;
    let now = Instant::now();
    let line = |seed| Line {
        state: Mutex::new(State {
            pieces: VecDeque::new(),
            held: 0,
            free_at: now,
            last_due: now,
            random: seed | 1,
            end: false,
            dropped: false,
        }),
        changed: Condvar::new(),
    };
    let seed = u64::from_le_bytes(seed);
    let network = Arc::new(Network {
        emulation,
        began: now,
        peer: link.info.peer.clone(),
        sending: line(seed),
        receiving: line(seed.rotate_left(32)),
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
        tx: Box::new(EmulatedTx {
            network: Arc::clone(&network),
            out: OutBuffer::default(),
        }),
        rx: Box::new(EmulatedRx {
            network,
            buffer: InBuffer::new(IN_BUFFER),
        }),
        info: link.info,
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

/// One way.
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    pieces: VecDeque<Piece>,
    /// Bytes of the pieces.
    held: usize,
    /// When the line has taken the last piece.
    free_at: Instant,
    last_due: Instant,
    random: u64,
    /// Nothing more comes.
    end: bool,
    /// Nobody takes what comes.
    dropped: bool,
}

struct Piece {
    due: Instant,
    bytes: Vec<u8>,
    taken: usize,
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, State> {
        match until {
            None => self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let waited = self.changed.wait_timeout(state, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    fn finish(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

impl Network {
    fn closed(&self) -> LinkError {
        LinkError::Closed(self.peer.clone())
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

    /// The thread that receives.
    fn receive_all(&self, mut rx: Box<dyn Rx>) {
        let breaks_at = self.emulation.break_after.map(|after| self.began + after);
        loop {
            let look = Instant::now() + LOOK;
            let until = breaks_at.map_or(look, |breaks_at| breaks_at.min(look));
            let outcome = rx.peek(1, Some(until)).map(|_| ());
            if breaks_at.is_some_and(|breaks_at| Instant::now() >= breaks_at) {
                self.break_off();
                return;
            }
            let outcome = match outcome {
                Err(LinkError::TimedOut(_)) if !self.receiving.lock().dropped => continue,
                Err(error) => Err(error),
                Ok(()) => rx.some(PIECE).and_then(|bytes| {
                    self.put(&self.receiving, bytes)?;
                    Ok(bytes.len())
                }),
            };
            match outcome {
                Ok(len) => rx.consume(len),
                Err(_) => {
                    self.receiving.finish(|state| state.end = true);
                    self.sending.finish(|state| state.dropped = true);
                    return;
                }
            }
        }
    }
}

impl State {
    /// When `len` bytes that are put on the line now come off it.
    fn schedule(&mut self, emulation: &Emulation, len: usize) -> Instant {
        let busy = emulation.bandwidth.map_or(0.0, |rate| len as f64 / rate);
        self.free_at = self.free_at.max(Instant::now()) + Duration::from_secs_f64(busy);
        // xorshift64 (Marsaglia 2003): evenly spread is all that is needed.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let jitter = emulation
            .jitter
            .mul_f64(2.0 * (self.random as f64 / u64::MAX as f64));
        let due = (self.free_at + emulation.rtt / 2 + jitter)
            .checked_sub(emulation.jitter)
            .unwrap_or(self.free_at);
        // A stream keeps its order.
        self.last_due = self.last_due.max(due);
        self.last_due
    }
}

impl End for Network {
    fn end(&self) {
        self.break_off();
    }

    fn forget_in_child(&self) {
        self.inner.forget_in_child();
    }

    fn is_alive(&self) -> bool {
        self.inner.is_alive()
    }
}

struct EmulatedTx {
    network: Arc<Network>,
    out: OutBuffer,
}

impl Tx for EmulatedTx {
    fn reserve(&mut self, len: usize) -> Result<&mut [u8], LinkError> {
        Ok(self.out.reserve(len))
    }

    fn commit(&mut self, len: usize) {
        self.out.commit(len);
    }

    fn bulk(&mut self, body: &[u8]) -> Result<(), LinkError> {
        self.flush()?;
        self.network.put(&self.network.sending, body)
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        self.network
            .put(&self.network.sending, self.out.committed())?;
        self.out.clear();
        Ok(())
    }

    fn pending(&self) -> usize {
        self.out.committed().len()
    }
}

impl Drop for EmulatedTx {
    fn drop(&mut self) {
        self.network.sending.finish(|state| state.end = true);
    }
}

struct EmulatedRx {
    network: Arc<Network>,
    buffer: InBuffer,
}

impl EmulatedRx {
    fn fill(&mut self, total: usize, deadline: Option<Instant>) -> Result<(), LinkError> {
        while self.buffer.len() < total {
            let buffer = &mut self.buffer;
            let taken = self
                .network
                .take(&self.network.receiving, deadline, |bytes| {
                    let wanted = total.max(PIECE) - buffer.len().min(total.max(PIECE));
                    let len = bytes.len().min(wanted);
                    buffer.space(total + len)[..len].copy_from_slice(&bytes[..len]);
                    buffer.filled(len);
                    len
                })?;
            taken.ok_or_else(|| self.network.closed())?;
        }
        Ok(())
    }
}

impl Rx for EmulatedRx {
    fn peek(&mut self, len: usize, deadline: Option<Instant>) -> Result<&[u8], LinkError> {
        self.fill(len, deadline)?;
        Ok(&self.buffer.unread()[..len])
    }

    fn ready(&mut self, len: usize) -> Result<bool, LinkError> {
        match self.fill(len, Some(Instant::now())) {
            Ok(()) => Ok(true),
            Err(LinkError::TimedOut(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn consume(&mut self, len: usize) {
        self.buffer.consume(len);
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), LinkError> {
        let mut at = self.buffer.take(into);
        while at < into.len() {
            let rest = &mut into[at..];
            let mut copied = 0;
            let taken = self.network.take(&self.network.receiving, None, |bytes| {
                let len = bytes.len().min(rest.len() - copied);
                rest[copied..copied + len].copy_from_slice(&bytes[..len]);
                copied += len;
                len
            })?;
            taken.ok_or_else(|| self.network.closed())?;
            at += copied;
        }
        Ok(())
    }

    fn some(&mut self, max: usize) -> Result<&[u8], LinkError> {
        if self.buffer.len() == 0 {
            self.fill(1, None)?;
        }
        let unread = self.buffer.unread();
        Ok(&unread[..max.min(unread.len())])
    }
}

impl Drop for EmulatedRx {
    fn drop(&mut self) {
        self.network.receiving.finish(|state| state.dropped = true);
    }
}
