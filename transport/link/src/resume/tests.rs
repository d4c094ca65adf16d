//! What meets at moments that a network brings about once in a long while.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_protocol::{ACKNOWLEDGE_EVERY, ClientHello, Piece, SessionId};

use super::inlet::{Inlet, Pulled};
use super::rx::ResumeBytes;
use super::{ACKNOWLEDGE_IDLE, Attached, Shared, Side, locked};
use crate::ahead::Incoming as _;
use crate::channel::Channel;
use crate::link::{Endable, LinkError, LinkInfo, LinkKind};
use crate::server::{Admitted, OneSession, Sessions};
use crate::socket::Socket;
use crate::stream::Stream;

/// No test takes that long.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A connection, and its other end.
fn connection() -> (Socket, LinkInfo, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (socket, info) = Stream::from(ours).prepare();
    (socket, info, theirs)
}

/// The server's end of a lane on `channel`.
fn lane(channel: Arc<dyn Channel>, info: &LinkInfo) -> Arc<Shared> {
    let session = OneSession::new(SessionId([1; 16]), 4).unwrap();
    let side = Side::Server(Arc::new(session));
    Shared::new(info, side, PATIENCE, Some(channel), &[])
}

/// The session of a client that has said that it ends.
struct Ending;

impl Sessions for Ending {
    fn secret(&self) -> Option<[u8; 32]> {
        None
    }

    fn admit(&self, _: bool, _: &ClientHello) -> Result<Admitted, String> {
        Err("it ends".into())
    }

    fn client_is_gone(&self) -> bool {
        true
    }
}

/// No thread that sleeps in between asks so often.
const ASKED_MAX: usize = 100_000;

/// Takes some bytes of the first heads, as a socket may that is nearly full, or fails, as where the system has no memory;
/// and then takes all.
struct Narrow {
    socket: Socket,
    takes: Mutex<VecDeque<Option<usize>>>,
    sent: Mutex<Vec<u8>>,
    /// How often it was asked for bytes.
    asked: AtomicUsize,
}

impl Narrow {
    fn new(socket: Socket, takes: &[Option<usize>]) -> Arc<Self> {
        Arc::new(Self {
            socket,
            takes: Mutex::new(takes.iter().copied().collect()),
            sent: Mutex::default(),
            asked: AtomicUsize::new(0),
        })
    }
}

impl Channel for Narrow {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(before < ASKED_MAX, "the thread that waits never sleeps");
        self.socket.receive(into)
    }

    fn send(&self, head: &[u8], _: &[u8]) -> Result<Option<usize>, LinkError> {
        let takes = locked(&self.takes).pop_front();
        let Some(len) = takes.unwrap_or(Some(head.len())) else {
            let error = io::Error::from_raw_os_error(libc::ENOBUFS);
            return Err(LinkError::Io(self.socket.peer.clone(), error));
        };
        locked(&self.sent).extend_from_slice(&head[..len]);
        Ok(Some(len))
    }

    fn drain(&self) -> Result<Option<()>, LinkError> {
        Ok(Some(()))
    }
}

/// Else the other side, which waits for room, would wait for ever.
#[test]
fn what_was_read_counts_as_acknowledged_once_all_of_it_went_out() {
    let (socket, info, _theirs) = connection();
    let channel = Narrow::new(socket, &[Some(5)]);
    let lane = lane(Arc::clone(&channel) as Arc<dyn Channel>, &info);
    lane.read.store(ACKNOWLEDGE_IDLE, Ordering::Release);
    lane.acknowledge();
    assert!(lane.owes(ACKNOWLEDGE_IDLE), "five bytes of it went out");
    for _ in 0..2 {
        lane.acknowledge();
    }
    assert!(!lane.owes(1));
    let head = Piece {
        len: 0,
        read: ACKNOWLEDGE_IDLE,
    };
    assert_eq!(*locked(&channel.sent), head.to_bytes().repeat(2));
}

/// The other side would take it for the rest of the piece that has begun.
#[test]
fn nothing_follows_a_piece_whose_rest_could_not_be_sent() {
    let (socket, info, _theirs) = connection();
    let channel = Narrow::new(socket, &[Some(5), None]);
    let lane = lane(Arc::clone(&channel) as Arc<dyn Channel>, &info);
    lane.read.store(ACKNOWLEDGE_IDLE, Ordering::Release);
    for _ in 0..3 {
        lane.acknowledge();
    }
    assert_eq!(locked(&channel.sent).len(), 5);
    assert!(lane.severed.load(Ordering::Acquire));
}

/// The answer to a call, say, behind which the server ends: the thread that waits for it may not have run yet.
#[test]
fn what_came_before_the_end_of_a_connection_is_kept_also_if_a_thread_waits_for_it() {
    let (socket, info, mut theirs) = connection();
    let lane = lane(Arc::new(socket), &info);
    let head = Piece { len: 3, read: 0 };
    let piece = [&head.to_bytes()[..], b"abc"].concat();
    theirs.write_all(&piece).unwrap();
    drop(theirs);
    lane.awaited.store(true, Ordering::Release);
    assert_eq!(lane.freeze(), 3);
    let mut into = [0; 8];
    let pulled = lane.pull(&mut locked(&lane.inlet), &mut into);
    assert!(matches!(pulled, Ok(Pulled::Bytes(3))));
    assert_eq!(&into[..3], b"abc");
}

#[test]
fn the_connection_of_a_client_that_has_ended_is_not_broken_nor_waited_for() {
    let (socket, info, theirs) = connection();
    let side = Side::Server(Arc::new(Ending));
    let lane = Shared::new(&info, side, PATIENCE, Some(Arc::new(socket)), &[]);
    drop(theirs);
    let end = ResumeBytes::new(Arc::clone(&lane)).receive(&mut [0; 64], Some(Instant::now()));
    assert!(matches!(end, Err(LinkError::Closed(_))), "{end:?}");
    assert_eq!(lane.changes.severances(), 0);
}

/// Else a look at the wrong moment would find it broken, with what says that the client ends still to be read.
#[test]
fn the_end_of_a_connection_is_left_to_the_thread_that_waits_for_its_bytes() {
    let (socket, info, theirs) = connection();
    let lane = lane(Arc::new(socket), &info);
    drop(theirs);
    lane.awaited.store(true, Ordering::Release);
    assert!(lane.is_alive());
    assert_eq!(lane.changes.severances(), 0);
    lane.awaited.store(false, Ordering::Release);
    assert!(lane.is_alive(), "it may come back");
    assert_eq!(lane.changes.severances(), 1);
}

/// It costs a system call each time.
#[test]
fn a_connection_that_has_nothing_is_asked_once_before_the_thread_sleeps() {
    let (socket, info, _theirs) = connection();
    let channel = Narrow::new(socket, &[]);
    let lane = lane(Arc::clone(&channel) as Arc<dyn Channel>, &info);
    let late = ResumeBytes::new(lane).receive(&mut [0; 64], Some(Instant::now()));
    assert!(matches!(late, Err(LinkError::TimedOut(_))), "{late:?}");
    assert_eq!(channel.asked.load(Ordering::Relaxed), 1);
}

/// A socket has room nearly always: who waits for that too, with nothing to say, never sleeps, nor finds that it is too late.
#[test]
fn a_thread_that_had_no_room_to_say_what_it_read_sleeps_once_it_has_said_it() {
    let (socket, info, _theirs) = connection();
    let channel = Narrow::new(socket, &[Some(0), Some(0)]);
    let lane = lane(channel, &info);
    lane.read.store(ACKNOWLEDGE_EVERY, Ordering::Release);
    let deadline = Instant::now() + Duration::from_millis(50);
    let late = ResumeBytes::new(Arc::clone(&lane)).receive(&mut [0; 64], Some(deadline));
    assert!(matches!(late, Err(LinkError::TimedOut(_))), "{late:?}");
    assert!(!lane.owes(1));
}

/// The other side sends large copies from the memory again that was read: the less of it, the more lies in a cache.
#[test]
fn a_reader_that_never_waits_says_more_often_over_a_unix_socket_what_it_read() {
    for (kind, says) in [(LinkKind::Unix, true), (LinkKind::Tcp, false)] {
        let (socket, mut info, mut theirs) = connection();
        info.kind = kind;
        let channel = Narrow::new(socket, &[]);
        let lane = lane(Arc::clone(&channel) as Arc<dyn Channel>, &info);
        lane.read.store(ACKNOWLEDGE_IDLE, Ordering::Release);
        let head = Piece { len: 3, read: 0 };
        let piece = [&head.to_bytes()[..], b"abc"].concat();
        theirs.write_all(&piece).unwrap();
        let received = ResumeBytes::new(lane).receive(&mut [0; 8], None);
        assert!(matches!(received, Ok(3)), "{kind}: {received:?}");
        assert_eq!(!locked(&channel.sent).is_empty(), says, "{kind}");
    }
}

#[test]
fn what_is_wanted_of_a_large_piece_is_received_at_once() {
    let (socket, info, mut theirs) = connection();
    let channel = Narrow::new(socket, &[]);
    let lane = lane(Arc::clone(&channel) as Arc<dyn Channel>, &info);
    let head = Piece {
        len: 200_000,
        read: 0,
    };
    let begun = [&head.to_bytes()[..], &[7; 60_000]].concat();
    theirs.write_all(&begun).unwrap();
    let mut inlet = locked(&lane.inlet);
    // What came with the head.
    assert!(lane.pull(&mut inlet, &mut [0; 16 << 10]).is_ok());
    let before = channel.asked.load(Ordering::Relaxed);
    for len in [8 << 10, 4 << 10, 15_000] {
        let pulled = lane.pull(&mut inlet, &mut vec![0_u8; len]);
        assert!(matches!(pulled, Ok(Pulled::Bytes(got)) if got == len));
    }
    assert_eq!(channel.asked.load(Ordering::Relaxed), before + 3);
}

/// A thread that has found a connection broken ends it when another one has its place already.
#[test]
fn who_ends_a_connection_late_leaves_the_next_one_alone() {
    let ((first, info, _far), (second, _, _there)) = (connection(), connection());
    let (first, second) = (Arc::new(first), Arc::new(second));
    let lane = lane(Arc::clone(&first) as Arc<dyn Channel>, &info);
    let attached = Attached {
        channel: Arc::clone(&second) as Arc<dyn Channel>,
        unread: Vec::new(),
    };
    lane.attach(1, 0, |_| Ok(attached)).unwrap();
    assert!(!first.is_alive());
    lane.end_channel(0);
    assert!(second.is_alive());
    lane.end_channel(1);
    assert!(!second.is_alive());
}

/// By an attempt that had its turn while the next one waited for it: nobody else ends that connection, and its other end may be
/// gone without a word.
#[test]
fn a_connection_that_is_replaced_before_anybody_ends_it_ends() {
    let (socket, _info, _theirs) = connection();
    let socket = Arc::new(socket);
    let mut inlet = Inlet::new(Some(Arc::clone(&socket) as Arc<dyn Channel>), &[]);
    inlet.cut();
    assert!(!socket.is_alive());
}

/// Else this side would send it heads of pieces without bytes, and never come to an end.
#[test]
fn what_the_other_side_claims_to_have_read_is_not_given_to_it() {
    let (socket, info, _theirs) = connection();
    let lane = lane(Arc::new(socket), &info);
    let mut outlet = locked(&lane.outlet);
    // As where the socket was full.
    outlet.kept.push(&[1; 100]);
    outlet.sent.add(100);
    lane.peer_read.store(100, Ordering::Release);
    lane.forget(&mut outlet).unwrap();
    assert_eq!(outlet.given, outlet.kept.end());
    assert!(lane.give_some(&mut outlet).unwrap());
}
