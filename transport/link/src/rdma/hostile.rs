//! A peer that says what it likes, by its queue pairs and on the connection.
//!
//! What it cannot do is write outside the ring, as its key covers nothing else. What it can do is to lie
//! about what it wrote, what it read, and where both go on; so that is what is tried here.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gtrace_protocol::{Payload as _, QueuePairs, SEGMENT_LEN, Segment};
use gtrace_verbs::{Outcome, VerbsError};
use rustix::event::{EventfdFlags, eventfd};

use super::back::{Fresh, Renew};
use super::counts::RECEIVES;
use super::number;
use super::setup::{Wires, link};
use super::wire::{Source, Wire};
use crate::channel;
use crate::link::{Link, LinkError};
use crate::mapping::{Mapping, Ring};
use crate::socket::Socket;
use crate::stream::Stream;

/// Bytes of the rings, and the number of the first byte of a lane.
const RING: usize = 256 << 10;
const START: u64 = RING as u64;
/// Bytes and messages that this side sends at most while it must not wait.
const SENT_MOST: u64 = 48 << 10;
const MESSAGES_MOST: u32 = 64;

/// What the two queue pairs say next.
#[derive(Debug, Default)]
struct PeerState {
    out: VecDeque<Outcome>,
    incoming: VecDeque<Outcome>,
    /// Whether they have failed behind that.
    broken: bool,
}

/// A queue pair that reports what the test ordered.
struct Liar {
    peer_state: Arc<Mutex<PeerState>>,
    writes: bool,
    bell: OwnedFd,
}

fn lock(peer_state: &Mutex<PeerState>) -> MutexGuard<'_, PeerState> {
    peer_state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire for Liar {
    fn write(
        &mut self,
        (at, len): (usize, usize),
        _: Source,
        _: Option<u32>,
        _: bool,
    ) -> Result<(), VerbsError> {
        assert!(self.writes && at + len <= RING, "{len} bytes at {at}");
        Ok(())
    }

    fn send_imm(&mut self, number: u32, _: bool) -> Result<(), VerbsError> {
        assert!(!self.writes && number != 0);
        Ok(())
    }

    fn receive(&mut self, _: u32) -> Result<(), VerbsError> {
        Ok(())
    }

    fn poll(&mut self, each: &mut dyn FnMut(Outcome)) -> Result<(), VerbsError> {
        let mut peer_state = lock(&self.peer_state);
        match self.writes {
            true => peer_state.out.drain(..).for_each(each),
            false => peer_state.incoming.drain(..).for_each(each),
        }
        match peer_state.broken {
            true => Err(VerbsError::Work("the peer is gone")),
            false => Ok(()),
        }
    }

    fn arm(&mut self) -> Result<(), VerbsError> {
        Ok(())
    }

    fn clear(&mut self) {}

    fn events(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    fn check(&self) -> Result<(), VerbsError> {
        Ok(())
    }
}

fn wires(peer_state: &Arc<Mutex<PeerState>>) -> Result<Wires, String> {
    let liar = |writes| {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok::<_, String>(Box::new(Liar {
            peer_state: Arc::clone(peer_state),
            writes,
            bell: bell.map_err(|error| error.to_string())?,
        }))
    };
    Ok(Wires {
        out: liar(true)?,
        incoming: liar(false)?,
        receives: RECEIVES,
    })
}

/// New ones whenever they are asked for.
struct Again(Arc<Mutex<PeerState>>);

impl Renew for Again {
    fn prepare(&self) -> Result<Box<dyn Fresh>, String> {
        Ok(Box::new(Self(Arc::clone(&self.0))))
    }
}

impl Fresh for Again {
    fn peer_state(&self) -> QueuePairs {
        QueuePairs::default()
    }

    fn connect(self: Box<Self>, theirs: &QueuePairs) -> Result<Wires, String> {
        match theirs.key % 2 {
            0 => wires(&self.0),
            _ => Err("they cannot be connected".into()),
        }
    }
}

/// An honest end, and what a dishonest one has.
struct Both {
    link: Link,
    peer_state: Arc<Mutex<PeerState>>,
    peer: UnixStream,
    /// Bytes of the lane that the peer has announced or sent, at most.
    claimed: u64,
    consumed: u64,
    sent: u64,
    messages: u32,
    /// Up to where it first claimed to have received.
    moved: Option<u64>,
}

/// Byte `at` of what the honest end sends.
fn byte(at: u64) -> u8 {
    (at % 251) as u8
}

impl Both {
    fn new(client: bool) -> Result<Self, LinkError> {
        let failed = |error| LinkError::Io("hostile".into(), error);
        let (mapping, _) = Mapping::create(RING).map_err(failed)?;
        let (ours, peer) = UnixStream::pair().map_err(failed)?;
        peer.set_nonblocking(true).map_err(failed)?;
        let watch = ours.try_clone().map_err(failed)?;
        let watch = Socket::new(watch.into(), "hostile".into(), false);
        let (socket, info) = Stream::from(ours).prepare();
        let base = channel::link(Arc::new(socket), info);
        let peer_state = Arc::default();
        let sends = match client {
            true => Ring::ToServer,
            false => Ring::ToClient,
        };
        let again = Again(Arc::clone(&peer_state));
        let wires = wires(&peer_state).map_err(LinkError::Usage)?;
        let made = link(
            wires,
            &Arc::new(mapping),
            sends,
            Some(Box::new(again)),
            watch,
        );
        let (link, shared) = made.map_err(failed)?;
        shared.settle(base);
        Ok(Self {
            link,
            peer_state,
            peer,
            claimed: 0,
            consumed: 0,
            sent: 0,
            messages: 0,
            moved: None,
        })
    }

    fn say_out(&self, outcome: Outcome) {
        lock(&self.peer_state).out.push_back(outcome);
    }

    fn say_in(&mut self, outcome: Outcome) {
        if let Outcome::Written(number) = outcome {
            self.claimed += u64::from(number::len(number));
        }
        lock(&self.peer_state).incoming.push_back(outcome);
    }

    /// On the connection; what there is no room for is lost, as the peer may say half of a thing.
    fn say(&mut self, segment: Segment, behind: &[u8]) {
        if let Segment::Move { received, .. } = segment {
            self.moved.get_or_insert(received);
        }
        let bytes = [&segment.to_bytes()[..], behind].concat();
        self.claimed += bytes.len() as u64;
        let _ = self.peer.write(&bytes);
    }

    /// Sends, while that does not wait.
    fn send(&mut self, len: usize) -> Result<(), LinkError> {
        let fallen = self.link.info.changes.is_fallen() || self.moved.is_some();
        let much = self.sent + len as u64 > SENT_MOST || self.messages == MESSAGES_MOST;
        if fallen || much {
            return self.link.tx.poll_completions();
        }
        let room = self.link.tx.reserve(len)?;
        assert!(room.len() >= len);
        for (place, at) in room[..len].iter_mut().zip(self.sent..) {
            *place = byte(at);
        }
        self.link.tx.commit(len);
        (self.sent, self.messages) = (self.sent + len as u64, self.messages + 1);
        self.link.tx.flush()
    }

    /// Reads what is there, and that is no more than the peer can have written.
    fn read(&mut self, wanted: usize) -> Result<(), LinkError> {
        while self.link.rx.ready(wanted.max(1))? {
            let len = self.link.rx.some(usize::MAX)?.len();
            assert!(len > 0);
            self.link.rx.consume(len);
            self.consumed += len as u64;
            assert!(self.consumed <= self.claimed, "what nobody wrote was read");
        }
        Ok(())
    }

    /// The peer goes, and with it everything that could be waited for.
    fn end(mut self, broken: bool) {
        lock(&self.peer_state).broken = broken;
        let mut received = Vec::new();
        let _ = self.peer.read_to_end(&mut received);
        let _ = self.peer.shutdown(Shutdown::Both);
        let _ = self.link.tx.poll_completions();
        let ended = (0..8).any(|_| self.link.tx.bulk(&[0; 100_000]).is_err());
        assert!(ended, "it sends for ever");
        while let Ok(some) = self.link.rx.some(usize::MAX) {
            let len = some.len();
            self.link.rx.consume(len);
            self.consumed += len as u64;
            assert!(self.consumed <= self.claimed, "what nobody wrote was read");
        }
        self.check(&received);
    }

    /// What this side sent on the connection is valid, whatever it received: segments, and bytes
    /// that follow those that the peer claims to have received.
    fn check(&self, mut received: &[u8]) {
        let mut at = self.moved.map(|moved| moved.wrapping_sub(START));
        let mut again = 0;
        while let Some((head, behind)) = received.split_first_chunk::<SEGMENT_LEN>() {
            received = behind;
            let skipped = match Segment::parse(head) {
                Ok(Segment::Data(len)) => {
                    let bytes = &received[..received.len().min(len as usize)];
                    again += bytes.len() as u64;
                    assert!(again <= self.sent, "more is sent again than was sent");
                    if let Some(at) = &mut at {
                        let right = bytes.iter().zip(*at..).all(|(b, at)| *b == byte(at));
                        assert!(right, "other bytes from {at} on");
                        *at += bytes.len() as u64;
                    }
                    bytes.len()
                }
                Ok(Segment::Ask(len) | Segment::Answer(len)) => received.len().min(len as usize),
                Ok(_) => 0,
                Err(error) => panic!("this side does not keep to the protocol: {error}"),
            };
            received = &received[skipped..];
        }
    }
}

/// A number that is near what can be as often as it is far away.
fn near(choice: u8, value: u32) -> u32 {
    match choice % 4 {
        0 => value % 512,
        1 => value % (2 * RING as u32),
        2 => (value % 512) | 1 << 31,
        _ => value,
    }
}

/// An end whose peer says what `data` says: nothing outside the ring is touched, nothing is read that was
/// not written, and what it says itself stays right.
///
/// # Panics
///
/// When that is not so.
#[allow(unreachable_pub, reason = "the fuzz target calls it")]
pub fn hostile(data: &[u8]) {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    let Ok(mut both) = Both::new(first & 1 != 0) else {
        return;
    };
    for step in data.chunks_exact(6) {
        let [choice, kind, rest @ ..] = step else {
            break;
        };
        let value = rest.iter().fold(0, |value, b| value << 8 | u32::from(*b));
        let number = near(*kind, value);
        let position = START.wrapping_add(match kind & 64 {
            0 => u64::from(number),
            _ => u64::from(value) << 32,
        });
        let generation = match kind & 32 {
            0 => 1 + u32::from(kind & 1),
            _ => value,
        };
        match choice % 9 {
            0 => both.say_out(Outcome::SendImm(number)),
            // The ring is empty until something comes by the connection, which the peer knows.
            1 => both.say_in(Outcome::Written(match kind & 16 {
                0 => number::of(&vec![0; number::len(number) as usize]),
                _ => number,
            })),
            2 => both.say_out(match kind % 3 {
                0 => Outcome::Written(number),
                1 => Outcome::NoImm,
                _ => Outcome::Sent,
            }),
            3 => both.say_in(match kind % 3 {
                0 => Outcome::SendImm(number),
                1 => Outcome::NoImm,
                _ => Outcome::Sent,
            }),
            4 => both.say(
                Segment::Move {
                    generation,
                    received: position,
                },
                &[],
            ),
            5 => {
                let len = match kind & 16 {
                    0 => u64::from(value % 2048),
                    _ => position,
                };
                both.say(Segment::Data(len), &vec![*choice; value as usize % 2048]);
            }
            6 => {
                let mut writer = gtrace_protocol::Writer::default();
                let pairs = QueuePairs {
                    key: value,
                    ..QueuePairs::default()
                };
                let segment: fn(u32) -> Segment = match kind & 1 {
                    0 => {
                        pairs.write(&mut writer);
                        Segment::Ask
                    }
                    _ => {
                        let answer = gtrace_protocol::QueuePairsAnswer(Ok(pairs));
                        answer.write(&mut writer);
                        Segment::Answer
                    }
                };
                let len = match kind & 16 {
                    0 => writer.len() as u32,
                    _ => number % 300,
                };
                both.say(segment(len), writer.as_slice());
            }
            7 => both.say(
                Segment::Switch {
                    generation,
                    position,
                },
                &[],
            ),
            _ => {
                if both.send(1 + value as usize % 1500).is_err() {
                    break;
                }
            }
        }
        if both.read(value as usize % 64).is_err() {
            break;
        }
    }
    both.end(first & 2 != 0);
}

#[cfg(test)]
mod tests;
