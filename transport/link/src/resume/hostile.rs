//! The server's end of a lane whose other side sends any bytes, breaks its connection at any time, and comes back with any
//! claims: what it sends is read once and in order, what it is sent is as it was, and what cannot be ends the lane.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use gtrace_protocol::{LaneResumed, PIECE_LEN, Piece, ResumeLane, SessionId};

use super::{OpeningLane, Resumption};
use crate::channel;
use crate::link::{Link, LinkError};
use crate::server::OneSession;
use crate::stream::Stream;

/// Steps, and bytes that are sent in all, so that a socket always takes them.
const STEPS: usize = 64;
const MOST: u64 = 32 << 10;
/// No test takes that long.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The byte of each direction at this position.
fn byte(at: u64, direction: u64) -> u8 {
    (at.wrapping_mul(31).wrapping_add(direction * 101) % 251) as u8
}

const HERE: u64 = 0;
const THERE: u64 = 1;

/// The other side, and what it knows.
struct Peer {
    /// None while there is no connection.
    socket: Option<UnixStream>,
    /// What came on this connection and was not looked at yet, and what is left of a piece.
    come: Vec<u8>,
    left: usize,
    /// Bytes of the lane that it was given, and that it has sent.
    received: u64,
    sent: u64,
    /// The furthest that it has ever claimed to have read, and sent.
    claimed: u64,
    furthest: u64,
    /// The last attempt by which it has the lane.
    attempt: u32,
    /// It has sent nothing but what the protocol has.
    is_good: bool,
}

impl Peer {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(socket) = &mut self.socket
            && socket.write_all(bytes).is_err()
        {
            self.socket = None;
        }
    }

    /// Sends a piece of the lane.
    fn piece(&mut self, len: u64, read: u64) {
        if self.socket.is_none() {
            return;
        }
        let head = Piece {
            len: len as u32,
            read,
        };
        let mut bytes = head.to_bytes().to_vec();
        bytes.extend((self.sent..self.sent + len).map(|at| byte(at, THERE)));
        self.claimed = self.claimed.max(read);
        self.sent += len;
        self.furthest = self.furthest.max(self.sent);
        self.write(&bytes);
    }

    /// Takes what was sent to it, and compares.
    fn take(&mut self) {
        let Some(socket) = &mut self.socket else {
            return;
        };
        let mut some = [0; 4096];
        loop {
            match socket.read(&mut some) {
                Ok(0) => break,
                Ok(len) => self.come.extend_from_slice(&some[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let mut at = 0;
        loop {
            let rest = &self.come[at..];
            if self.left > 0 {
                let len = self.left.min(rest.len());
                for (behind, got) in (0..).zip(&rest[..len]) {
                    assert_eq!(*got, byte(self.received + behind, HERE), "another byte");
                }
                self.received += len as u64;
                (self.left, at) = (self.left - len, at + len);
                if len == 0 {
                    break;
                }
            } else if let Some(head) = rest.first_chunk::<PIECE_LEN>() {
                let Ok(head) = Piece::parse(head) else {
                    panic!("the lane sends what is no piece");
                };
                assert!(
                    !self.is_good || head.read <= self.furthest,
                    "it has read what was never sent"
                );
                (self.left, at) = (head.len as usize, at + PIECE_LEN);
            } else {
                break;
            }
        }
        self.come.drain(..at);
    }

    fn hang_up(&mut self) {
        self.socket = None;
        self.come.clear();
        self.left = 0;
    }
}

/// A connection: a link on it, and its other end.
fn connection() -> Option<(Link, UnixStream)> {
    let (ours, theirs) = UnixStream::pair().ok()?;
    theirs.set_nonblocking(true).ok()?;
    let (socket, info) = Stream::from(ours).prepare();
    Some((channel::link(Arc::new(socket), info), theirs))
}

/// The lane under test.
struct Lane {
    link: Link,
    resumption: Resumption,
    sent: u64,
    read: u64,
    /// It has ended, which is for good.
    is_dead: bool,
}

impl Lane {
    fn send(&mut self, len: u64) -> Result<(), LinkError> {
        let len = len.min(MOST - self.sent);
        let room = self.link.tx.reserve(len as usize)?;
        for (at, place) in (self.sent..).zip(room) {
            *place = byte(at, HERE);
        }
        self.link.tx.commit(len as usize);
        self.sent += len;
        self.link.tx.flush_some().map(drop)
    }

    fn receive(&mut self, peer: &Peer) -> Result<(), LinkError> {
        while self.link.rx.ready(1)? {
            let got = self.link.rx.peek(1, None)?[0];
            assert!(
                !peer.is_good || got == byte(self.read, THERE) && self.read < peer.furthest,
                "byte {} is read otherwise than it was sent",
                self.read
            );
            self.link.rx.consume(1);
            self.read += 1;
        }
        Ok(())
    }

    /// Whatever has ended it stays.
    fn outcome(&mut self, done: Result<(), LinkError>) {
        assert!(
            !(self.is_dead && done.is_ok()),
            "a lane that had ended goes on"
        );
        self.is_dead |= done.is_err();
    }
}

/// What a step asks for, by its first byte.
fn step(lane: &mut Lane, peer: &mut Peer, kind: u8, payload: &[u8]) {
    let first = u64::from(payload.first().copied().unwrap_or(0));
    match kind % 8 {
        0 => peer.piece(first * 4, peer.received),
        1 => {
            peer.is_good &= payload.is_empty();
            peer.write(payload);
        }
        2 => {
            let claim = match kind & 0x80 {
                0 => first,
                _ => u64::MAX - first,
            };
            // What it says twice, and less than before, is of no interest.
            peer.piece(1, claim);
        }
        3 => {
            let done = lane.send(first * 8);
            lane.outcome(done);
        }
        4 => {
            let done = lane.receive(peer);
            // Waiting for more is no error, so that only a lane that has ended gives one.
            if done.is_err() || lane.link.end.is_alive() {
                lane.outcome(done);
            }
        }
        5 => peer.take(),
        6 => peer.hang_up(),
        _ => attach_again(lane, peer, kind, first),
    }
}

fn attach_again(lane: &mut Lane, peer: &mut Peer, kind: u8, lie: u64) {
    let Some((link, theirs)) = connection() else {
        return;
    };
    peer.take();
    let received = match kind & 0x60 {
        0x20 => lie,
        0x40 => u64::MAX - lie,
        _ => peer.received,
    };
    let attempt = match kind & 0x80 {
        0 => peer.attempt + 1,
        _ => lie as u32 % 4,
    };
    let asked = ResumeLane {
        lane: 1,
        attempt,
        received,
    };
    let mut answered = None;
    let done = lane
        .resumption
        .take_over(&asked, link, |_, resumed: LaneResumed| {
            answered = Some(resumed.received);
            Ok(())
        });
    let may = attempt > peer.attempt && !lane.is_dead;
    if !may || received > lane.sent {
        assert!(answered.is_none(), "it takes what cannot be: {asked:?}");
    } else if peer.is_good && peer.claimed <= received {
        // Bytes of any kind may have been a piece with a claim.
        assert!(answered.is_some(), "it does not take {asked:?}: {done:?}");
    }
    match answered {
        Some(at) => {
            assert!(
                !peer.is_good || at <= peer.furthest,
                "it received what was never sent"
            );
            peer.hang_up();
            peer.socket = Some(theirs);
            peer.attempt = attempt;
            peer.received = received;
            peer.claimed = peer.claimed.max(received);
            peer.sent = at;
        }
        // A claim that cannot be ends the lane; one that comes too late does not.
        None => lane.is_dead |= may,
    }
}

/// What a fuzzer does with the other side of a lane.
#[cfg_attr(
    not(feature = "fuzzing"),
    allow(unreachable_pub, reason = "an entry of a fuzz target")
)]
pub fn hostile(data: &[u8]) {
    let Some((link, theirs)) = connection() else {
        return;
    };
    let Ok(session) = OneSession::new(SessionId([1; 16]), 4) else {
        return;
    };
    let (opening, resumption) = OpeningLane::new(&link, Arc::new(session), PATIENCE);
    let mut lane = Lane {
        link: opening.settled(link),
        resumption,
        sent: 0,
        read: 0,
        is_dead: false,
    };
    let mut peer = Peer {
        socket: Some(theirs),
        come: Vec::new(),
        left: 0,
        received: 0,
        sent: 0,
        claimed: 0,
        furthest: 0,
        attempt: 0,
        is_good: true,
    };
    let mut rest = data;
    for _ in 0..STEPS {
        let [kind, len, after @ ..] = rest else { break };
        let (payload, after) = after.split_at(usize::from(*len).min(after.len()));
        rest = after;
        step(&mut lane, &mut peer, *kind, payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::Bytes;

    #[test]
    fn a_peer_may_send_anything_and_come_back_as_it_likes() {
        // Both send and take, the connection breaks in the middle, and it goes on by the next one.
        let good = [
            [0, 1, 40].as_slice(),
            &[3, 1, 50],
            &[4, 0],
            &[0, 1, 9],
            &[6, 0],
            &[3, 1, 7],
            &[7, 1, 0],
            &[0, 1, 30],
            &[4, 0],
            &[5, 0],
        ]
        .concat();
        hostile(&good);
        // Any bytes, which are a piece that claims to have read what was never sent.
        let piece = Piece {
            len: 0,
            read: 1 << 61,
        };
        let claim = [
            [1, PIECE_LEN as u8].as_slice(),
            &piece.to_bytes(),
            &[7, 1, 0],
        ]
        .concat();
        hostile(&claim);
        let mut bytes = Bytes::new(5);
        for len in [2, 30, 300, 3000] {
            for _ in 0..25 {
                let data: Vec<u8> = (0..len).map(|_| bytes.next() as u8).collect();
                hostile(&data);
                // Short payloads, so that more steps are made.
                let steps: Vec<u8> = data
                    .chunks_exact(2)
                    .flat_map(|two| [two[0], 1, two[1]])
                    .collect();
                hostile(&steps);
            }
        }
    }
}
