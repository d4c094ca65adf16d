//! Connected stream sockets, TCP and Unix.

use std::io::IoSlice;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};

use crate::channel::Channel;
use crate::inherited::Inherited;
use crate::link::{End as How, Ended, LinkError};
use crate::pages::Pages;
use crate::spin::{Peer, Spin};
use crate::wait::{Wait, gone, has_moved, io_error, poll};
use crate::{sys, tcp};

/// Longest time that a refused client has for reading why.
const LINGER: Duration = Duration::from_millis(300);
/// Most pieces of 1 KiB that a refused client may still send meanwhile.
const LINGER_READS: u32 = 64;

/// A connected socket that both halves have.
#[derive(Debug)]
pub(crate) struct Socket {
    /// Given up before the descriptor is.
    _inherited: Inherited,
    pub(crate) fd: OwnedFd,
    /// What the descriptor named when it was taken: device and number.
    identity: Option<(u64, u64)>,
    pub(crate) peer: String,
    pub(crate) tcp: bool,
    /// Another connection takes the place of this one if it breaks.
    replaceable: AtomicBool,
    pub(crate) pages: Pages,
}

impl Socket {
    pub(crate) fn new(fd: OwnedFd, peer: String, tcp: bool) -> Self {
        let identity = sys::identity(fd.as_fd());
        let inode = identity.map_or(0, |(_, inode)| inode);
        Self {
            _inherited: Inherited::new(fd.as_fd(), inode),
            fd,
            identity,
            peer,
            tcp,
            replaceable: AtomicBool::new(false),
            pages: Pages::default(),
        }
    }

    /// From now on another connection takes the place of this one if it breaks.
    pub(crate) fn set_replaceable(&self) {
        self.replaceable.store(true, Ordering::Relaxed);
    }

    /// Whether nothing comes through any more, although nothing has said that it has ended.
    pub(crate) fn is_dead(&self) -> bool {
        let replaceable = self.replaceable.load(Ordering::Relaxed);
        self.tcp && (gone(self.fd.as_fd()) || replaceable && has_moved(self.fd.as_fd()))
    }

    /// Whether the descriptor is still the one that was taken: a program that closes all its descriptors closes it too,
    /// and may open something else by its number.
    pub(crate) fn is_own(&self) -> bool {
        sys::identity(self.fd.as_fd()) == self.identity
    }

    /// Where the other side runs, as far as its address says: behind a tunnel or a proxy of this host it is another one.
    pub(crate) fn host(&self) -> Peer {
        match self.tcp && !tcp::is_local(&self.fd) {
            true => Peer::AnotherHost,
            false => Peer::ThisHost,
        }
    }

    pub(crate) fn closed(&self) -> LinkError {
        Ended::new(&self.peer, How::Closed).into()
    }

    /// Sends what the socket takes now: bytes, or none if it is full.
    pub(crate) fn send(&self, bytes: &[IoSlice<'_>]) -> Result<Option<usize>, LinkError> {
        self.send_by(bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
    }

    fn send_by(&self, bytes: &[IoSlice<'_>], flags: SendFlags) -> Result<Option<usize>, LinkError> {
        loop {
            let sent = match bytes {
                [one] => rustix::net::send(&self.fd, one, flags),
                many => {
                    rustix::net::sendmsg(&self.fd, many, &mut SendAncillaryBuffer::default(), flags)
                }
            };
            match sent {
                Ok(sent) => return Ok(Some(sent)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(io_error(&self.peer, error)),
            }
        }
    }

    /// Receives what is there: bytes, or none if there is nothing yet.
    #[inline]
    pub(crate) fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        loop {
            match rustix::net::recv(&self.fd, &mut *into, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(self.closed()),
                Ok((received, _)) => return Ok(Some(received)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(io_error(&self.peer, error)),
            }
        }
    }

    /// Copies the bytes that are there without taking them.
    pub(crate) fn look(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        match rustix::net::recv(&self.fd, into, RecvFlags::DONTWAIT | RecvFlags::PEEK) {
            Ok((0, _)) => Err(self.closed()),
            Ok((seen, _)) => Ok(Some(seen)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(io_error(&self.peer, error)),
        }
    }

    pub(crate) fn wait(&self, events: PollFlags, deadline: Option<Instant>) -> Wait<'_> {
        Wait {
            socket: self.fd.as_fd(),
            peer: &self.peer,
            tcp: self.tcp,
            replaceable: self.replaceable.load(Ordering::Relaxed),
            events,
            deadline,
        }
    }
}

impl Channel for Socket {
    fn socket(&self) -> &Socket {
        self
    }

    #[inline]
    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        Socket::receive(self, into)
    }

    fn send(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError> {
        if self.pages.drain(self)?.is_none() {
            return Ok(None);
        }
        let both = [IoSlice::new(head), IoSlice::new(body)];
        match (head.is_empty(), body.is_empty()) {
            (false, false) => Socket::send(self, &both),
            (false, true) => Socket::send(self, &both[..1]),
            _ => Socket::send(self, &both[1..]),
        }
    }

    #[allow(unsafe_code)]
    unsafe fn send_stable(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError> {
        if !self.pages.is_open(self) {
            return Channel::send(self, head, body);
        }
        if !head.is_empty() {
            if self.pages.drain(self)?.is_none() {
                return Ok(None);
            }
            // The body follows at once.
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL | SendFlags::MORE;
            return self.send_by(&[IoSlice::new(head)], flags);
        }
        // SAFETY: the caller's promise.
        match unsafe { self.pages.send(self, body)? } {
            Some(0) => Channel::send(self, &[], body),
            taken => Ok(taken),
        }
    }

    fn drain(&self) -> Result<Option<()>, LinkError> {
        self.pages.drain(self)
    }
}

impl Socket {
    pub(crate) fn end(&self) {
        // A socket that is not connected any more is at its end already.
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Both);
    }

    pub(crate) fn is_alive(&self) -> bool {
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        let mut fds = [PollFd::new(&self.fd, PollFlags::RDHUP)];
        match rustix::event::poll(&mut fds, Some(&Timespec::default())) {
            Ok(_) => !fds[0].revents().intersects(gone),
            Err(_) => true,
        }
    }
}

/// Receives a whole slice from `socket` without a link: before there is one.
pub(crate) fn receive_exact(
    socket: &Socket,
    into: &mut [u8],
    deadline: Instant,
) -> Result<(), LinkError> {
    let mut at = 0;
    while at < into.len() {
        at += receive_some(socket, &mut into[at..], deadline)?;
    }
    Ok(())
}

fn receive_some(socket: &Socket, into: &mut [u8], deadline: Instant) -> Result<usize, LinkError> {
    socket
        .wait(PollFlags::IN, Some(deadline))
        .until(&mut Spin::never(), || socket.receive(into))
}

/// Says that nothing more comes and waits, not long, until the other side has closed too. Closing at
/// once would throw away what it has not read yet, if it has sent what was not read here (RFC 1122,
/// 4.2.2.13).
pub(crate) fn linger(socket: BorrowedFd<'_>) {
    let deadline = Instant::now() + LINGER;
    let _ = rustix::net::shutdown(socket, Shutdown::Write);
    let mut left = [0; 1024];
    for _ in 0..LINGER_READS {
        let mut fds = [PollFd::from_borrowed_fd(socket, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(deadline)), Ok(true)) {
            break;
        }
        match rustix::net::recv(socket, &mut left, RecvFlags::DONTWAIT) {
            Ok((0, _)) | Err(_) => break,
            Ok(_) => {}
        }
    }
}

/// Sends all bytes to `socket` without a link.
pub(crate) fn send_all(socket: &Socket, bytes: &[u8], deadline: Instant) -> Result<(), LinkError> {
    let mut spin = Spin::never();
    let mut at = 0;
    while at < bytes.len() {
        let slices = [IoSlice::new(&bytes[at..])];
        at += socket
            .wait(PollFlags::OUT, Some(deadline))
            .until(&mut spin, || socket.send(&slices))?;
    }
    Ok(())
}
