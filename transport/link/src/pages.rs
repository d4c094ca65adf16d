//! Memory that a socket takes without a copy: vmsplice(2) puts its pages into a pipe, splice(2) moves them to the socket.
//!
//! A socket then has the memory itself, not what was in it, until the other side's system has taken it: over TCP until
//! TCP's acknowledgement, over loopback and a Unix socket until the other side has received it. Who writes there earlier changes
//! what arrives. So only memory goes this way that is not written to before the other side has acknowledged, as that of a
//! [lane](crate::resume) does, that it has read it, which is later than both:
//!
//! * TCP may send once more what was read meanwhile, as an acknowledgement of its own was lost, and from memory that is
//!   in use again. The other side's TCP has those bytes and throws away what comes by the same numbers.
//! * The socket of a connection that has broken may keep pages, and a tunnel may pass on later what is in them then.
//!   Nobody takes it: a client stops reading its old connection before it says by the next one what it has received
//!   (`Shared::freeze`), and before that, nothing behind it counts as read. It would be the same client's data anyway.
//! * Memory of a lane that ends is unmapped, not written to. Pages that a socket has stay as they are, and nobody else's.
#![allow(unsafe_code)]

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::io::{Errno, ioctl_fionbio};
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags};

use crate::link::LinkError;
use crate::socket::Socket;
use crate::wait::io_error;

/// Bytes that a pipe holds: the most that any user may ask for is 1 MiB, and all of a user's pipes together 64 MiB.
const PIPE: usize = 256 << 10;
/// Fewer bytes are copied as quickly.
pub(crate) const PAGES_MIN: usize = 64 << 10;
/// From Linux 6.5 on, 16 pages go to a socket at once (MSG_SPLICE_PAGES), in the end by the code of sendmsg(2). Before, each
/// went by itself, and over a Unix socket by code that had faults (CVE-2023-4622).
const SINCE: (u32, u32) = (6, 5);

/// What of a socket goes this way. One thread sends at a time.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// There are bytes that the socket has not taken.
    holds: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    way: Way,
    /// Bytes in the pipe.
    held: usize,
    /// Those that were there when the socket refused them.
    taken_back: Vec<u8>,
}

#[derive(Debug, Default)]
enum Way {
    #[default]
    Untried,
    /// What is read, and what is written.
    Pipe(OwnedFd, OwnedFd),
    /// The system has none: it is too old, a filter forbids it, or there are too many pipes.
    Refused,
}

impl Way {
    fn new(socket: &Socket) -> Self {
        static IS_NEW: OnceLock<bool> = OnceLock::new();
        if !IS_NEW.get_or_init(|| is_new(&rustix::system::uname().release().to_string_lossy())) {
            return Self::Refused;
        }
        let open = || {
            let (from, to) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
            rustix::pipe::fcntl_setpipe_size(&to, PIPE)?;
            // splice(2) waits for a socket unless this is set; all other calls pass MSG_DONTWAIT.
            ioctl_fionbio(&socket.fd, true)?;
            Ok::<_, Errno>(Self::Pipe(from, to))
        };
        open().unwrap_or(Self::Refused)
    }
}

/// Whether a system of this release is new enough.
fn is_new(release: &str) -> bool {
    let mut numbers = (release.split(|it: char| !it.is_ascii_digit()))
        .map(|number| number.parse::<u32>().unwrap_or_default());
    (
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    ) >= SINCE
}

impl Pages {
    /// Sends what it took and still has: none if the socket is full.
    #[inline]
    pub(crate) fn drain(&self, socket: &Socket) -> Result<Option<()>, LinkError> {
        match self.holds.load(Ordering::Relaxed) {
            false => Ok(Some(())),
            true => self.drain_state(&mut self.state(), socket),
        }
    }

    /// Takes what it can of `body`: bytes; none if the socket is full, and zero if they do not go this way.
    ///
    /// # Safety
    ///
    /// As [`Channel::send_stable`](crate::channel::Channel::send_stable).
    pub(crate) unsafe fn send(
        &self,
        socket: &Socket,
        body: &[u8],
    ) -> Result<Option<usize>, LinkError> {
        let mut state = self.state();
        if self.drain_state(&mut state, socket)?.is_none() {
            return Ok(None);
        }
        if let Way::Pipe(_, to) = &state.way {
            // SAFETY: it is the end that is written to, so that the memory is only read, by the caller's promise also later.
            let taken = unsafe {
                rustix::pipe::vmsplice(to, &[IoSliceRaw::from_slice(body)], SpliceFlags::NONBLOCK)
            };
            match taken {
                Ok(taken @ 1..) => {
                    state.held = taken;
                    self.holds.store(true, Ordering::Relaxed);
                    self.drain_state(&mut state, socket)?;
                    return Ok(Some(taken));
                }
                // Tried again when it comes to that.
                Err(Errno::INTR) => {}
                _ => state.way = Way::Refused,
            }
        }
        Ok(Some(0))
    }

    /// Whether bytes go this way, as far as is known.
    pub(crate) fn is_open(&self, socket: &Socket) -> bool {
        let mut state = self.state();
        if matches!(state.way, Way::Untried) {
            state.way = Way::new(socket);
        }
        matches!(state.way, Way::Pipe(..))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drain_state(&self, state: &mut State, socket: &Socket) -> Result<Option<()>, LinkError> {
        while let (1.., Way::Pipe(from, _)) = (state.held, &state.way) {
            let flags = SpliceFlags::NONBLOCK;
            match rustix::pipe::splice(from, None, &socket.fd, None, state.held, flags) {
                Ok(moved @ 1..) => state.held -= moved,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Ok(0) | Err(Errno::INVAL | Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    state
                        .take_back()
                        .map_err(|error| io_error(&socket.peer, error))?;
                }
                Err(error) => return Err(io_error(&socket.peer, error)),
            }
        }
        while !state.taken_back.is_empty() {
            match socket.send(&[IoSlice::new(&state.taken_back)])? {
                Some(sent) => drop(state.taken_back.drain(..sent)),
                None => return Ok(None),
            }
        }
        self.holds.store(false, Ordering::Relaxed);
        Ok(Some(()))
    }
}

impl State {
    /// The socket takes nothing from a pipe: what is there is sent as any other bytes, and so is all that follows.
    fn take_back(&mut self) -> Result<(), Errno> {
        if let Way::Pipe(from, _) = std::mem::replace(&mut self.way, Way::Refused) {
            self.taken_back.resize(self.held, 0);
            let mut read = 0;
            while read < self.held {
                match rustix::io::read(&from, &mut self.taken_back[read..])? {
                    0 => return Err(Errno::PIPE),
                    some => read += some,
                }
            }
            self.held = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use rustix::fs::OFlags;

    use super::*;
    use crate::channel::Channel;
    use crate::stream::Stream;

    fn unix() -> (Socket, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Stream::from(ours).prepare().0, theirs)
    }

    fn tcp() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, _) = listener.accept().unwrap();
        (Stream::from(ours).prepare().0, theirs)
    }

    fn send_stable(socket: &Socket, head: &[u8], body: &[u8]) -> Option<usize> {
        // SAFETY: memory of these tests, which know when it is written to.
        unsafe { socket.send_stable(head, body).unwrap() }
    }

    /// Heads and bodies of all sizes, sent without a wait; whoever reads has what the socket holds. At the end all of the
    /// memory is written to, before the last of it is read: whether what arrives is what was sent.
    fn arrives(socket: &Socket, theirs: &mut impl io::Read) -> bool {
        let mut memory: Vec<u8> = (0..3 << 20).map(|at| (at * 7 + at / 256) as u8).collect();
        let sent = memory.clone();
        let (mut at, mut received) = (0, Vec::new());
        let mut into = vec![0; 300 << 10];
        for step in 0.. {
            let rest = memory.len() - at;
            let head = rest.min(step * 13 % 60);
            let body = (rest - head).min(step * 70_001 % 400_000);
            let (mut head, mut body) = memory[at..at + head + body].split_at(head);
            while !head.is_empty() || !body.is_empty() {
                let taken = match step % 4 {
                    0 => Channel::send(socket, head, body).unwrap(),
                    _ => send_stable(socket, head, body),
                };
                let Some(taken) = taken else {
                    let some = theirs
                        .read(&mut into[..1 + step * 9_973 % 300_000])
                        .unwrap();
                    received.extend_from_slice(&into[..some]);
                    continue;
                };
                at += taken;
                body = &body[taken.saturating_sub(head.len())..];
                head = &head[taken.min(head.len())..];
            }
            if at == memory.len() {
                break;
            }
        }
        while socket.drain().unwrap().is_none() {
            let some = theirs.read(&mut into).unwrap();
            received.extend_from_slice(&into[..some]);
        }
        assert!(received.len() < sent.len());
        memory.fill(0xee);
        let before = received.len();
        received.resize(sent.len(), 0);
        theirs.read_exact(&mut received[before..]).unwrap();
        assert!(received[..before] == sent[..before]);
        received == sent
    }

    #[test]
    fn what_is_left_to_a_socket_arrives_in_order_and_is_the_memory_itself() {
        let (ours, mut theirs) = unix();
        let unix = arrives(&ours, &mut theirs);
        let open = ours.pages.is_open(&ours);
        let (ours, mut theirs) = tcp();
        assert_eq!(
            (unix, arrives(&ours, &mut theirs)),
            (!open, !ours.pages.is_open(&ours))
        );
    }

    /// As with a filter of system calls that knows one of the two only.
    #[test]
    fn a_socket_that_takes_nothing_from_a_pipe_is_sent_copies() {
        let (ours, mut theirs) = unix();
        rustix::fs::fcntl_setfl(&ours.fd, OFlags::APPEND).unwrap();
        if !ours.pages.is_open(&ours) {
            return;
        }
        rustix::fs::fcntl_setfl(&ours.fd, OFlags::APPEND | OFlags::NONBLOCK).unwrap();
        assert!(arrives(&ours, &mut theirs));
        assert!(!ours.pages.is_open(&ours));
    }

    #[test]
    fn a_system_is_as_new_as_its_release_says() {
        for (release, new) in [
            ("6.5.0", true),
            ("6.18.44-fc", true),
            ("7.0-rc1", true),
            ("6.4.16-200.fc38", false),
            ("5.15.0-91-generic", false),
            ("", false),
        ] {
            assert_eq!(is_new(release), new, "{release}");
        }
    }
}
