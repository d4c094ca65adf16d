//! The connection that a link was agreed upon, as the way that its bytes take when the device fails.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use gtrace_protocol::{
    DecodeError, Message as _, Payload as _, QueuePairs, QueuePairsAnswer, SEGMENT_LEN, Segment,
};

use crate::buffer::InBuffer;
use crate::link::{Link, LinkError, Rx, Tx};

/// Bytes of the lane that are read off the connection to reach a message behind them.
const AHEAD: usize = 4 << 20;
/// The other side has not reported yet.
const UNKNOWN: u64 = u64::MAX;

/// The connection below a link.
#[derive(Default)]
pub(super) struct Base {
    sending: Mutex<Sending>,
    listening: Mutex<Listening>,
    /// Up to where the other side has received, once it has reported it.
    received: AtomicU64,
    /// The queue pairs that are used, or were last, from 1.
    generation: AtomicU32,
    peer_state: Mutex<PeerState>,
}

/// What the other side sent about new queue pairs.
#[derive(Default)]
pub(super) struct PeerState {
    pub(super) ask: Option<QueuePairs>,
    pub(super) answer: Option<QueuePairsAnswer>,
    /// Whether the other side was asked and has not answered.
    pub(super) asked: bool,
    /// Generation and first byte.
    pub(super) switch: Option<(u32, u64)>,
}

/// The sending half of it.
#[derive(Default)]
pub(super) struct Sending {
    tx: Option<Box<dyn Tx>>,
    /// Up to which byte of the lane the other side has all, or will by this connection; none while the
    /// device is used.
    pub(super) sent: Option<u64>,
    /// Up to which byte that was sent again, where the reading half did not come to the end.
    pub(super) again: Option<u64>,
}

/// The receiving half of it.
pub(super) struct Listening {
    rx: Option<Box<dyn Rx>>,
    /// Bytes of the lane that are still to come of the segment that was begun.
    left: u64,
    /// Bytes of the lane that came before a message that was wanted.
    ahead: InBuffer,
}

impl Default for Listening {
    fn default() -> Self {
        Self {
            rx: None,
            left: 0,
            ahead: InBuffer::new(0),
        }
    }
}

/// Takes bytes of the lane, as many as it says it has room for.
type Sink<'a> = dyn FnMut(&[u8]) -> usize + 'a;

/// The result of polling the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RxEvent {
    Nothing,
    /// Bytes or a message.
    Something,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Base {
    pub(super) fn new() -> Self {
        Self {
            received: AtomicU64::new(UNKNOWN),
            generation: AtomicU32::new(1),
            ..Self::default()
        }
    }

    /// From now on these are its halves.
    pub(super) fn set(&self, link: Link) {
        self.sending().tx = Some(link.tx);
        locked(&self.listening).rx = Some(link.rx);
    }

    /// Up to where the other side has received, if it has given up the device.
    pub(super) fn theirs(&self) -> Option<u64> {
        match self.received.load(Ordering::Acquire) {
            UNKNOWN => None,
            received => Some(received),
        }
    }

    /// What the other side sent about new queue pairs.
    pub(super) fn peer_state(&self) -> MutexGuard<'_, PeerState> {
        locked(&self.peer_state)
    }

    /// The queue pairs that are used, or were last.
    pub(super) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// Others are used from here on.
    pub(super) fn begin(&self) {
        self.received.store(UNKNOWN, Ordering::Release);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Its sending half, for this thread alone.
    pub(super) fn sending(&self) -> MutexGuard<'_, Sending> {
        locked(&self.sending)
    }

    /// The same, unless another thread has it, which may wait for the other side to read.
    pub(super) fn try_sending(&self) -> Option<MutexGuard<'_, Sending>> {
        match self.sending.try_lock() {
            Ok(sending) => Some(sending),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Takes what came. Bytes of the lane go to `sink`, which says how many it has room for; without
    /// one they are kept.
    pub(super) fn listen(&self, sink: Option<&mut Sink<'_>>) -> Result<RxEvent, LinkError> {
        let mut listening = locked(&self.listening);
        self.take(&mut listening, sink)
    }

    /// The same, unless another thread listens.
    pub(super) fn try_listen(&self) -> Result<RxEvent, LinkError> {
        match self.listening.try_lock() {
            Ok(mut listening) => self.take(&mut listening, None),
            Err(TryLockError::Poisoned(held)) => self.take(&mut held.into_inner(), None),
            Err(TryLockError::WouldBlock) => Ok(RxEvent::Nothing),
        }
    }

    /// Waits until bytes of the lane or a whole message came, or `deadline`.
    pub(super) fn wait(&self, deadline: Instant) -> Result<(), LinkError> {
        let mut listening = locked(&self.listening);
        let Listening { rx, left, ahead } = &mut *listening;
        let Some(rx) = rx.as_mut().filter(|_| ahead.len() == 0) else {
            // Another thread has taken bytes off the connection.
            return Ok(());
        };
        let wanted = match *left {
            0 => next_segment(&mut **rx)?.map_or(SEGMENT_LEN, |(_, len)| len),
            _ => 1,
        };
        rx.peek(wanted, Some(deadline)).map(|_| ())
    }

    fn take(
        &self,
        listening: &mut Listening,
        mut sink: Option<&mut Sink<'_>>,
    ) -> Result<RxEvent, LinkError> {
        let Listening { rx, left, ahead } = listening;
        let mut event = RxEvent::Nothing;
        if let Some(sink) = &mut sink {
            while ahead.len() > 0 {
                let taken = sink(ahead.unread());
                if taken == 0 {
                    return Ok(event);
                }
                ahead.consume(taken);
                event = RxEvent::Something;
            }
        }
        let Some(rx) = rx else {
            return Ok(event);
        };
        loop {
            let came = match *left {
                0 => message(self, &mut **rx, left),
                _ => data(&mut **rx, left, ahead, &mut sink),
            };
            match came {
                Ok(true) => event = RxEvent::Something,
                Ok(false) => return Ok(event),
                // What came before the end counts; the end will be there at the next look.
                Err(_) if event == RxEvent::Something => return Ok(event),
                Err(error) => return Err(error),
            }
        }
    }

    /// What the other side says between bytes of the lane, with the message behind it.
    fn hear(&self, segment: Segment, message: &[u8]) -> Result<(), LinkError> {
        let mut peer_state = self.peer_state();
        match segment {
            Segment::Move {
                generation,
                received,
            } if generation == self.generation() && self.theirs().is_none() => {
                // A position that cannot be is found by who sends from there.
                self.received
                    .store(received.min(UNKNOWN - 1), Ordering::Release);
            }
            // The device is asked for when it is given up by both.
            Segment::Ask(_) if self.theirs().is_some() && peer_state.ask.is_none() => {
                peer_state.ask = Some(QueuePairs::parse(message)?);
            }
            Segment::Answer(_) if peer_state.asked => {
                let answer = QueuePairsAnswer::parse(message)?;
                // What the other side says from here on is of these.
                if answer.0.is_ok() {
                    self.begin();
                }
                (peer_state.answer, peer_state.asked) = (Some(answer), false);
            }
            Segment::Switch {
                generation,
                position,
            } if (2..=self.generation()).contains(&generation) => {
                peer_state.switch = Some((generation, position));
            }
            other => {
                return Err(LinkError::Decode(DecodeError::BadValue {
                    what: "what the other side says of the device",
                    value: other.to_bytes()[0].into(),
                }));
            }
        }
        Ok(())
    }
}

impl Sending {
    /// Says that.
    pub(super) fn say(&mut self, segment: Segment) -> Result<(), LinkError> {
        self.put(segment, &[])
    }

    /// Sends bytes of the lane.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        match bytes.len() {
            0 => Ok(()),
            len => self.put(Segment::Data(len as u64), bytes),
        }
    }

    /// Asks for new queue pairs.
    pub(super) fn ask(&mut self, pairs: &QueuePairs) -> Result<(), LinkError> {
        let pairs = pairs.to_bytes();
        self.put(Segment::Ask(pairs.len() as u32), &pairs)
    }

    /// Answers that.
    pub(super) fn answer(&mut self, answer: Result<QueuePairs, String>) -> Result<(), LinkError> {
        let answer = QueuePairsAnswer(answer).to_bytes();
        self.put(Segment::Answer(answer.len() as u32), &answer)
    }

    fn put(&mut self, segment: Segment, body: &[u8]) -> Result<(), LinkError> {
        // There is one before the device can be given up.
        let Some(tx) = &mut self.tx else {
            return Ok(());
        };
        tx.reserve(SEGMENT_LEN)?[..SEGMENT_LEN].copy_from_slice(&segment.to_bytes());
        tx.commit(SEGMENT_LEN);
        match body {
            [] => tx.flush(),
            body => tx.bulk(body),
        }
    }
}

/// The next segment, and the bytes of its head and message; none if its head is not there yet.
fn next_segment(rx: &mut dyn Rx) -> Result<Option<(Segment, usize)>, LinkError> {
    if !rx.ready(SEGMENT_LEN)? {
        return Ok(None);
    }
    let mut head = [0; SEGMENT_LEN];
    head.copy_from_slice(&rx.peek(SEGMENT_LEN, None)?[..SEGMENT_LEN]);
    let segment = Segment::parse(&head)?;
    let len = match segment {
        Segment::Ask(len) | Segment::Answer(len) => SEGMENT_LEN + len as usize,
        _ => SEGMENT_LEN,
    };
    Ok(Some((segment, len)))
}

/// Takes the head of a segment, and its message; false if it is not there yet.
fn message(base: &Base, rx: &mut dyn Rx, left: &mut u64) -> Result<bool, LinkError> {
    let Some((segment, len)) = next_segment(rx)? else {
        return Ok(false);
    };
    if !rx.ready(len)? {
        return Ok(false);
    }
    match segment {
        Segment::Data(len) => *left = len,
        segment => base.hear(segment, &rx.peek(len, None)?[SEGMENT_LEN..len])?,
    }
    rx.consume(len);
    Ok(true)
}

/// Takes bytes of the lane; false if none are there or there is no room.
fn data(
    rx: &mut dyn Rx,
    left: &mut u64,
    ahead: &mut InBuffer,
    sink: &mut Option<&mut Sink<'_>>,
) -> Result<bool, LinkError> {
    if sink.is_none() && ahead.len() >= AHEAD || !rx.ready(1)? {
        return Ok(false);
    }
    let some = rx.some(usize::try_from(*left).unwrap_or(usize::MAX))?;
    let taken = match sink {
        Some(sink) => sink(some),
        None => {
            ahead.push(some);
            some.len()
        }
    };
    rx.consume(taken);
    *left -= taken as u64;
    Ok(taken > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::channel;
    use crate::stream::Stream;

    /// Else a thread would look for the rest all the time.
    #[test]
    fn a_message_that_came_in_part_is_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (socket, info) = Stream::from(ours).prepare();
        let base = Base::new();
        base.set(channel::link(Arc::new(socket), info));
        let wait = |millis| base.wait(Instant::now() + Duration::from_millis(millis));
        let answer = Segment::Answer(100).to_bytes();
        theirs.write_all(&answer).unwrap();
        assert!(matches!(wait(100), Err(LinkError::TimedOut(_))));
        theirs.write_all(&[0; 100]).unwrap();
        wait(60_000).unwrap();
    }
}
