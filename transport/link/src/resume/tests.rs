//! What meets at moments that a network brings about once in a long while.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_protocol::{Piece, SessionId};

use super::{Attached, Shared, Side, TELL_IDLE, locked};
use crate::channel::Channel;
use crate::link::{Endable, LinkError, LinkInfo};
use crate::server::OneSession;
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

/// Takes five bytes at first, as a socket may that is nearly full, and then all.
struct Narrow {
    socket: Socket,
    is_narrow: AtomicBool,
    sent: Mutex<Vec<u8>>,
}

impl Endable for Narrow {
    fn end(&self) {
        self.socket.end();
    }

    fn is_alive(&self) -> bool {
        self.socket.is_alive()
    }
}

impl Channel for Narrow {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        self.socket.receive(into)
    }

    fn send(&self, head: &[u8], _: &[u8]) -> Result<Option<usize>, LinkError> {
        let len = match self.is_narrow.swap(false, Ordering::Relaxed) {
            true => 5,
            false => head.len(),
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
fn what_was_read_counts_as_told_once_all_of_it_went_out() {
    let (socket, info, _theirs) = connection();
    let channel = Arc::new(Narrow {
        socket,
        is_narrow: AtomicBool::new(true),
        sent: Mutex::default(),
    });
    let lane = lane(Arc::clone(&channel) as Arc<dyn Channel>, &info);
    lane.read.store(TELL_IDLE, Ordering::Release);
    lane.tell();
    assert!(lane.owes(TELL_IDLE), "five bytes of it went out");
    for _ in 0..2 {
        lane.tell();
    }
    assert!(!lane.owes(1));
    let head = Piece {
        len: 0,
        read: TELL_IDLE,
    };
    assert_eq!(*locked(&channel.sent), head.to_bytes().repeat(2));
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
