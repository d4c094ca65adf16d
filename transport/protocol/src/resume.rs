//! How a lane goes on when its connection breaks and another takes its place: what travels on the connection, the
//! messages by which a client attaches again, and the states of a lane in between. No I/O and no clock: whoever uses it
//! says what happened, and when.
//!
//! Bytes are counted from the start of the lane, in each direction. They travel in pieces, each behind a [`Piece`], which
//! also says up to which byte the sender has read what the other side sent. A byte is kept by its sender until the other
//! side has read it. When the connection breaks, both sides say up to which byte they have received, and the rest is sent
//! again: so each byte is taken once, and a frame that was cut is whole again.
//!
//! ```text
//!             the connection breaks            the client tries
//! Attached ───────────────────────▶ Severed ───────────────────▶ Attaching
//!    ▲                                │  ▲                          │  │
//!    │                                │  └──────────────────────────┘  │
//!    │                                │        it did not succeed      │
//!    └────────────────────────────────┼────────────────────────────────┘
//!              positions are known    ▼ the deadline has passed, the other side has ended, ...
//!                                    Dead
//! ```

use thiserror::Error;

use crate::codec::DecodeError;
use crate::handshake::Message;
use crate::members;

/// Bytes of the head of a piece.
pub const PIECE_LEN: usize = 16;
/// Most bytes of a piece.
pub const PIECE_MAX: u32 = 1 << 20;
/// Most bytes that a side keeps for the other one.
pub const WINDOW: u64 = 16 << 20;
/// Bytes that are read before the other side learns so, if nothing else is sent to it.
pub const ACKNOWLEDGE_EVERY: u64 = 1 << 20;

const DATA: u32 = 1;

/// The head of a piece, little-endian: kind, length, what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// So many bytes of the lane follow; 0 only says what was read.
    pub len: u32,
    /// The sender has read what the other side sent up to this byte.
    pub read: u64,
}

impl Piece {
    /// As it travels.
    pub fn to_bytes(self) -> [u8; PIECE_LEN] {
        let mut bytes = [0; PIECE_LEN];
        bytes[..4].copy_from_slice(&DATA.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.read.to_le_bytes());
        bytes
    }

    /// Reads a head.
    ///
    /// # Errors
    ///
    /// [`DecodeError::BadValue`] for an unknown kind, [`DecodeError::TooLong`] for more than [`PIECE_MAX`] bytes.
    pub fn parse(bytes: &[u8; PIECE_LEN]) -> Result<Self, DecodeError> {
        let [k0, k1, k2, k3, l0, l1, l2, l3, read @ ..] = *bytes;
        let kind = u32::from_le_bytes([k0, k1, k2, k3]);
        let len = u32::from_le_bytes([l0, l1, l2, l3]);
        match kind {
            DATA if len > PIECE_MAX => Err(DecodeError::TooLong {
                len: len.into(),
                cap: PIECE_MAX as usize,
            }),
            DATA => Ok(Self {
                len,
                read: u64::from_le_bytes(read),
            }),
            kind => Err(DecodeError::BadValue {
                what: "the kind of a piece",
                value: kind.into(),
            }),
        }
    }
}

/// RESUME, in place of HELLO: the connection is to take the place of one that broke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumeLane {
    /// The lane's number in the session.
    pub lane: u16,
    /// Number of the attempt, which only grows: a connection that was given up on its way comes too late.
    pub attempt: u32,
    /// The client has received up to this byte.
    pub received: u64,
}

/// RESUMED, the answer: bytes of the lane follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneResumed {
    /// The server has received up to this byte.
    pub received: u64,
    /// Proof of the server; zeros in what it covers.
    pub proof: [u8; 32],
}

members!(ResumeLane: lane, attempt, received);

impl Message for ResumeLane {
    const OP: u32 = crate::control::RESUME;
}

members!(LaneResumed: received, proof);

impl Message for LaneResumed {
    const OP: u32 = crate::control::RESUMED;
}

/// A position that cannot be: behind what was sent, or before what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the other side says that it has received {said} bytes, of {from} to {to} that can be")]
pub struct ImpossiblePosition {
    /// What was said.
    pub said: u64,
    /// Fewest that can be.
    pub from: u64,
    /// Most that can be.
    pub to: u64,
}

/// What is sent in one direction, as its sender counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBytes {
    end: u64,
    read: u64,
}

impl SentBytes {
    /// Bytes that were ever sent.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Of these, those that the other side has read.
    pub const fn read(&self) -> u64 {
        self.read
    }

    /// Bytes that may be sent before the other side has to read some.
    pub const fn room(&self) -> u64 {
        WINDOW.saturating_sub(self.end - self.read)
    }

    /// So many more bytes are sent.
    pub const fn add(&mut self, len: u64) {
        self.end += len;
    }

    /// The other side has read, or received, up to byte `said`; how many bytes need not be kept any more.
    ///
    /// # Errors
    ///
    /// [`ImpossiblePosition`] for bytes that were never sent.
    pub const fn read_up_to(&mut self, said: u64) -> Result<u64, ImpossiblePosition> {
        if said > self.end {
            return Err(ImpossiblePosition {
                said,
                from: self.read,
                to: self.end,
            });
        }
        let freed = said.saturating_sub(self.read);
        self.read += freed;
        Ok(freed)
    }

    /// A new connection takes over, and the other side has received up to byte `said`: the rest is sent again from there.
    ///
    /// # Errors
    ///
    /// [`ImpossiblePosition`], also for bytes that it had read before.
    pub const fn resume_at(&mut self, said: u64) -> Result<(), ImpossiblePosition> {
        if said < self.read {
            return Err(ImpossiblePosition {
                said,
                from: self.read,
                to: self.end,
            });
        }
        match self.read_up_to(said) {
            Ok(_) => Ok(()),
            Err(impossible) => Err(impossible),
        }
    }
}

/// Where a lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// It has a connection.
    Attached,
    /// Its connection broke; another one may come until then, in ms.
    Severed {
        /// By the clock of whoever says what happens.
        deadline: u64,
    },
    /// The client is trying.
    Attaching {
        /// As before it tried.
        deadline: u64,
    },
    /// It does not go on.
    Dead(Death),
}

/// Why a lane does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Lanes are not resumed here.
    Off,
    /// No connection came in time.
    Deadline,
    /// The other side does not have it any more, or is not the one that had it.
    Refused,
    /// The other side has ended, as is known otherwise.
    Ended,
    /// The other side does not keep to the protocol.
    Broken,
    /// This side has ended it.
    Closed,
}

/// The states of a lane. Times are in ms, of any clock that does not go back.
#[derive(Clone, Copy, Debug)]
pub struct Lifecycle {
    state: Attachment,
    patience: u64,
    /// Number of the attempt that the connection was made by, 0 for the first; and of the last one.
    current: u32,
    last: u32,
}

impl Lifecycle {
    /// Of a lane that has a connection, and waits so long for another one.
    pub const fn new(patience: u64) -> Self {
        Self {
            state: Attachment::Attached,
            patience,
            current: 0,
            last: 0,
        }
    }

    /// Where it stands.
    pub const fn state(&self) -> Attachment {
        self.state
    }

    /// Whether it has its first connection still.
    pub const fn is_first(&self) -> bool {
        self.current == 0 && matches!(self.state, Attachment::Attached)
    }

    /// By which attempt its connection was made.
    pub const fn current(&self) -> u32 {
        self.current
    }

    /// The connection of attempt `attempt` broke. True if it is the lane's: one that was replaced is of no interest.
    pub const fn sever(&mut self, attempt: u32, now: u64) -> bool {
        if attempt != self.current || !matches!(self.state, Attachment::Attached) {
            return false;
        }
        self.state = match self.patience {
            0 => Attachment::Dead(Death::Off),
            patience => Attachment::Severed {
                deadline: now.saturating_add(patience),
            },
        };
        true
    }

    /// Time passes. True if the lane is dead from now on.
    pub const fn pass(&mut self, now: u64) -> bool {
        match self.state {
            Attachment::Severed { deadline } | Attachment::Attaching { deadline }
                if now >= deadline =>
            {
                self.state = Attachment::Dead(Death::Deadline);
                true
            }
            _ => false,
        }
    }

    /// The client tries: the number of its attempt, unless there is nothing to try.
    pub const fn try_attach(&mut self, now: u64) -> Option<u32> {
        self.pass(now);
        match self.state {
            Attachment::Severed { deadline } => {
                self.state = Attachment::Attaching { deadline };
                self.last += 1;
                Some(self.last)
            }
            _ => None,
        }
    }

    /// The attempt did not succeed; another one may.
    pub const fn attempt_failed(&mut self) {
        if let Attachment::Attaching { deadline } = self.state {
            self.state = Attachment::Severed { deadline };
        }
    }

    /// Whether a client may take the lane over by attempt `attempt`: not one that was given up meanwhile, and no dead
    /// lane.
    pub const fn may_attach(&self, attempt: u32) -> bool {
        attempt > self.current && !matches!(self.state, Attachment::Dead(_))
    }

    /// The connection of attempt `attempt` is the lane's. False if it comes too late.
    pub const fn attach(&mut self, attempt: u32) -> bool {
        if !self.may_attach(attempt) {
            return false;
        }
        self.state = Attachment::Attached;
        self.current = attempt;
        if attempt > self.last {
            self.last = attempt;
        }
        true
    }

    /// It does not go on. False if it is dead already, and stays so for the first reason.
    pub const fn die(&mut self, death: Death) -> bool {
        let alive = !matches!(self.state, Attachment::Dead(_));
        if alive {
            self.state = Attachment::Dead(death);
        }
        alive
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload as _;
    use proptest::prelude::*;

    #[test]
    fn heads_and_messages_come_back() {
        let piece = Piece {
            len: PIECE_MAX,
            read: u64::MAX,
        };
        assert_eq!(Piece::parse(&piece.to_bytes()), Ok(piece));
        let long = Piece {
            len: PIECE_MAX + 1,
            ..piece
        };
        Piece::parse(&long.to_bytes()).unwrap_err();
        Piece::parse(&[9; PIECE_LEN]).unwrap_err();
        let resume = ResumeLane {
            lane: 7,
            attempt: 3,
            received: 1 << 40,
        };
        assert_eq!(ResumeLane::parse(&resume.to_bytes()), Ok(resume));
        let resumed = LaneResumed {
            received: 5,
            proof: [4; 32],
        };
        assert_eq!(LaneResumed::parse(&resumed.to_bytes()), Ok(resumed));
    }

    #[test]
    fn a_lane_is_severed_attached_again_and_dead_at_its_deadline() {
        let mut lane = Lifecycle::new(1000);
        assert_eq!(lane.try_attach(5), None, "it has a connection");
        assert!(lane.sever(0, 10));
        assert!(!lane.sever(0, 500), "once");
        assert_eq!(lane.try_attach(20), Some(1));
        assert_eq!(lane.try_attach(21), None, "one at a time");
        lane.attempt_failed();
        assert_eq!(lane.state(), Attachment::Severed { deadline: 1010 });
        assert_eq!(lane.try_attach(30), Some(2));
        assert!(lane.attach(2));
        assert!(!lane.attach(2) && !lane.attach(1), "too late");
        assert!(!lane.sever(0, 40), "of a connection that was replaced");
        assert!(lane.sever(2, 50));
        assert!(!lane.pass(1049));
        assert!(lane.pass(1050));
        assert_eq!(lane.state(), Attachment::Dead(Death::Deadline));
        assert!(!lane.attach(3) && !lane.die(Death::Closed));
        assert_eq!(lane.try_attach(1051), None);
    }

    #[test]
    fn a_server_takes_a_client_that_comes_back_before_it_has_noticed() {
        let mut lane = Lifecycle::new(1000);
        assert!(lane.attach(4));
        assert_eq!((lane.state(), lane.current()), (Attachment::Attached, 4));
        assert!(!lane.may_attach(3), "given up by the client meanwhile");
    }

    #[test]
    fn without_patience_a_lane_dies_with_its_connection() {
        let mut lane = Lifecycle::new(0);
        assert!(lane.sever(0, 10));
        assert_eq!(lane.state(), Attachment::Dead(Death::Off));
    }

    #[test]
    fn positions_that_cannot_be_are_refused() {
        let mut sent = SentBytes::default();
        sent.add(100);
        assert_eq!(sent.read_up_to(60), Ok(60));
        assert_eq!(sent.read_up_to(50), Ok(0), "said before");
        sent.read_up_to(101).unwrap_err();
        sent.resume_at(59).unwrap_err();
        sent.resume_at(101).unwrap_err();
        assert_eq!(sent.resume_at(80), Ok(()));
        assert_eq!((sent.read(), sent.end()), (80, 100));
        assert_eq!(sent.room(), WINDOW - 20);
    }

    /// One side of a lane, as simply as can be.
    #[derive(Default)]
    struct Side {
        sent: SentBytes,
        /// All that was ever sent, and up to where the connection was given it.
        all: Vec<u8>,
        given: u64,
        received: Vec<u8>,
    }

    impl Side {
        fn put(&mut self, len: u64) {
            let len = len.min(self.sent.room());
            for _ in 0..len {
                // Every byte differs from those near it.
                self.all.push((self.all.len() % 251) as u8);
            }
            self.sent.add(len);
        }

        /// Gives the connection a piece of at most `most` bytes.
        fn give(&mut self, most: u64, wire: &mut Vec<u8>) {
            let len = most.min(self.sent.end() - self.given);
            let head = Piece {
                len: len as u32,
                read: self.received.len() as u64,
            };
            wire.extend_from_slice(&head.to_bytes());
            let from = self.given as usize;
            wire.extend_from_slice(&self.all[from..from + len as usize]);
            self.given += len;
        }

        /// Takes the first `most` bytes of the connection, whole heads with what has come behind them.
        fn take(&mut self, wire: &mut Vec<u8>, most: usize) {
            let mut come: Vec<u8> = wire.drain(..most.min(wire.len())).collect();
            while let Some((head, rest)) = come.split_first_chunk() {
                let head = Piece::parse(head).unwrap();
                self.sent.read_up_to(head.read).unwrap();
                let len = rest.len().min(head.len as usize);
                self.received.extend_from_slice(&rest[..len]);
                if len < head.len as usize {
                    break;
                }
                come = rest[len..].to_vec();
            }
        }
    }

    proptest! {
        /// Whatever was cut wherever, each byte is received once, in its place.
        #[test]
        fn every_byte_is_taken_once(
            steps in proptest::collection::vec((0_u64..500, 1_u64..80, 0_usize..200, 0_usize..200), 1..60),
        ) {
            let (mut a, mut b) = (Side::default(), Side::default());
            let (mut there, mut back) = (Vec::new(), Vec::new());
            let mut lane = Lifecycle::new(10);
            let mut now = 0;
            for (len, piece, to_b, to_a) in steps {
                a.put(len);
                b.put(len / 3);
                while a.given < a.sent.end() {
                    a.give(piece, &mut there);
                }
                b.give(piece, &mut back);
                // Each connection brings that much and breaks.
                b.take(&mut there, to_b);
                a.take(&mut back, to_a);
                now += 1;
                prop_assert!(lane.sever(lane.current(), now));
                let attempt = lane.try_attach(now).unwrap();
                there.clear();
                back.clear();
                a.sent.resume_at(b.received.len() as u64).unwrap();
                b.sent.resume_at(a.received.len() as u64).unwrap();
                (a.given, b.given) = (b.received.len() as u64, a.received.len() as u64);
                prop_assert!(lane.attach(attempt));
                prop_assert_eq!(&b.received[..], &a.all[..b.received.len()]);
                prop_assert_eq!(&a.received[..], &b.all[..a.received.len()]);
            }
            while a.given < a.sent.end() {
                a.give(1 << 10, &mut there);
            }
            b.take(&mut there, usize::MAX);
            prop_assert_eq!(b.received, a.all);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in any::<[u8; PIECE_LEN]>()) {
            if let Ok(piece) = Piece::parse(&bytes) {
                prop_assert_eq!(Piece::parse(&piece.to_bytes()), Ok(piece));
            }
            let _ = ResumeLane::parse(&bytes);
            let _ = LaneResumed::parse(&bytes);
        }

        /// Whatever happens in whatever order: an attempt that was given up never takes over, and the dead stay dead.
        #[test]
        fn states_follow_from_what_happens(events in proptest::collection::vec((0_u8..6, 0_u32..8), 0..80)) {
            let mut lane = Lifecycle::new(5);
            for (now, (event, attempt)) in events.into_iter().enumerate() {
                let (before, current) = (lane.state(), lane.current());
                match event {
                    0 => { lane.sever(attempt, now as u64); }
                    1 => { lane.pass(now as u64); }
                    2 => { lane.try_attach(now as u64); }
                    3 => lane.attempt_failed(),
                    4 => {
                        let attached = lane.attach(attempt);
                        prop_assert!(!attached || attempt > current);
                    }
                    _ => { if attempt == 7 { lane.die(Death::Refused); } }
                }
                if let Attachment::Dead(_) = before {
                    prop_assert_eq!(lane.state(), before);
                }
                prop_assert!(lane.current() >= current);
            }
        }
    }
}
