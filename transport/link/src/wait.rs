//! Waiting for a descriptor: spin first, then sleep, and check the peer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::link::{End, Ended, LinkError};
use crate::spin::Spin;
use crate::sys;

/// Longest sleep between two checks whether the other host still answers.
const POLL: Duration = Duration::from_secs(1);
/// A host that acknowledged nothing for so long, although it was asked to, is gone. A living one
/// acknowledges at least the probes of an idle connection, which come every 5 s.
const SILENCE: Duration = Duration::from_secs(10);
/// Unanswered probes of a closed window, 3 s apart from Linux 6.15 on. Older kernels double the time
/// between them up to 120 s, so that there it takes minutes if the host dies in a long stall.
const PROBES: u8 = 3;

/// The error of a system call on the connection to `peer`.
pub(crate) fn io_error(peer: &str, error: impl Into<io::Error>) -> LinkError {
    let error = error.into();
    let how = match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected | io::ErrorKind::UnexpectedEof => {
            End::Closed
        }
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => End::Reset,
        io::ErrorKind::TimedOut => End::Silent,
        _ => return LinkError::Io(peer.to_owned(), error),
    };
    Ended::new(peer, how).into()
}

/// Sleeps until one of `fds` is ready or `deadline` has passed; whether one is ready.
pub(crate) fn poll(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let timeout = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        match rustix::event::poll(fds, timeout.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What a wait is for.
pub(crate) struct Wait<'a> {
    pub(crate) socket: BorrowedFd<'a>,
    pub(crate) peer: &'a str,
    /// Whether TCP is to be asked about the other host.
    pub(crate) tcp: bool,
    /// Whether another connection takes the place of this one if it is of no use any more.
    pub(crate) replaceable: bool,
    pub(crate) events: PollFlags,
    pub(crate) deadline: Option<Instant>,
}

impl Wait<'_> {
    /// Tries `attempt` until it gives a value: at once, then spinning as `spin` says, then sleeping.
    ///
    /// # Errors
    ///
    /// [`LinkError::TimedOut`] after the deadline, those of `attempt`, and [`LinkError::Closed`] if
    /// the other host no longer answers.
    #[inline]
    pub(crate) fn until<T>(
        &self,
        spin: &mut Spin,
        mut attempt: impl FnMut() -> Result<Option<T>, LinkError>,
    ) -> Result<T, LinkError> {
        match attempt()? {
            Some(value) => Ok(value),
            None => self.until_later(spin, attempt),
        }
    }

    /// As [`Self::until`], after an attempt in vain.
    pub(crate) fn until_later<T>(
        &self,
        spin: &mut Spin,
        mut attempt: impl FnMut() -> Result<Option<T>, LinkError>,
    ) -> Result<T, LinkError> {
        let budget = spin.budget();
        let began = Instant::now();
        if !budget.is_zero() {
            let end = began + budget;
            let end = self.deadline.map_or(end, |deadline| deadline.min(end));
            while Instant::now() < end {
                if let Some(value) = attempt()? {
                    spin.paid();
                    return Ok(value);
                }
            }
        }
        let slept = Instant::now();
        loop {
            self.sleep()?;
            if let Some(value) = attempt()? {
                spin.slept(!budget.is_zero(), slept.elapsed());
                return Ok(value);
            }
        }
    }

    /// Sleeps until the descriptor is ready.
    ///
    /// # Errors
    ///
    /// As [`Self::until`], but for those of an attempt.
    pub(crate) fn sleep(&self) -> Result<(), LinkError> {
        loop {
            let next_check = Instant::now() + POLL;
            let until = self
                .deadline
                .map_or(next_check, |deadline| deadline.min(next_check));
            let mut fds = [PollFd::from_borrowed_fd(self.socket, self.events)];
            if poll(&mut fds, Some(until)).map_err(|e| io_error(self.peer, e))? {
                return Ok(());
            }
            // Before the deadline, as who waits again and again, each time for a moment, has to learn it too.
            if self.tcp && (gone(self.socket) || self.replaceable && has_moved(self.socket)) {
                return Err(Ended::new(self.peer, End::Silent).into());
            }
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                return Err(LinkError::TimedOut(self.peer.to_owned()));
            }
        }
    }
}

/// Whether the other host no longer answers. TCP_USER_TIMEOUT would say so too, but it also ends a
/// connection whose peer is alive and reads nothing for that long, as a server does in a long kernel.
pub(crate) fn gone(socket: BorrowedFd<'_>) -> bool {
    sys::liveness(socket)
        .is_ok_and(|tcp| tcp.last_ack >= SILENCE && (tcp.retransmits > 0 || tcp.probes >= PROBES))
}

/// Whether nothing comes back because this host has not the address any more from which the connection was made: TCP goes
/// on trying with it. Another connection need not wait for as long as [`gone`] does.
pub(crate) fn has_moved(socket: BorrowedFd<'_>) -> bool {
    let unanswered = sys::liveness(socket).is_ok_and(|tcp| tcp.retransmits > 0 || tcp.probes > 0);
    unanswered && !is_own_address(socket)
}

/// Whether this host has the address of a connection's own end. Where that cannot be found out, it has: a worker may open
/// no such sockets.
fn is_own_address(socket: BorrowedFd<'_>) -> bool {
    let address = rustix::net::getsockname(socket).ok();
    let Some(mut address) = address.and_then(|address| SocketAddr::try_from(address).ok()) else {
        return true;
    };
    // A socket of another kind, so that nobody is kept from the port.
    address.set_port(0);
    match UdpSocket::bind(address) {
        Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
            !is_of_this_network(socket)
        }
        _ => true,
    }
}

/// Whether a socket was made in the network namespace that this thread is in: a program may have left it since, and the
/// addresses of the new one say nothing of the old.
fn is_of_this_network(socket: BorrowedFd<'_>) -> bool {
    let here = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let here = here.and_then(|here| sys::network(here.as_fd()));
    match (here, sys::network(socket)) {
        (Ok(here), Ok(there)) => here == there,
        // An older kernel does not say.
        _ => true,
    }
}
