//! How a half of an RDMA link waits: for completions, for the connection's end, and for both sides'
//! devices to fail.

use std::os::fd::BorrowedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::shared::Shared;
use crate::link::LinkError;
use crate::spin::Spin;
use crate::wait::{io_error, poll};

/// Longest sleep between two checks whether the other host still answers.
pub(super) const POLL: Duration = Duration::from_secs(1);
/// How often the device takes or brings something between two checks whether it is there.
pub(super) const POLL_EACH: u32 = 64;
/// What the other side wrote before it ended may be on its way behind the end of the socket.
const LAST_WORDS: Duration = Duration::from_millis(20);
/// Polls between two readings of the clock, when spinning.
const POLLS: u32 = 8;

/// One direction of a link.
pub(super) trait Half {
    /// Whether there may be something left for it when the connection has ended: not for who writes, or two
    /// ends that a cut connection joins would go on by the device.
    const DRAINS: bool;
    /// What it has in common with the other half.
    fn shared(&self) -> &Shared;
    fn spin(&mut self) -> &mut Spin;
    /// Takes what has completed, or came by the connection, into account.
    fn advance(&mut self) -> Result<(), LinkError>;
    /// What comes from now on ends a sleep.
    fn arm(&mut self) -> Result<(), LinkError>;
    /// Sleeps until something came; true if the connection has ended.
    fn sleep(&mut self, deadline: Option<Instant>) -> Result<bool, LinkError>;
}

/// Tries `attempt`, each time after taking what has completed, until it gives a value: spinning, then
/// sleeping on queue pair and connection.
pub(super) fn until<H: Half, T>(
    half: &mut H,
    deadline: Option<Instant>,
    mut attempt: impl FnMut(&mut H) -> Option<T>,
) -> Result<T, LinkError> {
    let mut attempt = |half: &mut H| {
        half.advance()?;
        Ok::<_, LinkError>(attempt(half))
    };
    let budget = half.spin().budget();
    let began = Instant::now();
    half.shared().look(began)?;
    if !budget.is_zero() {
        let end = began + budget;
        let end = deadline.map_or(end, |deadline| deadline.min(end));
        loop {
            for _ in 0..POLLS {
                if let Some(value) = attempt(half)? {
                    half.spin().paid();
                    return Ok(value);
                }
                std::hint::spin_loop();
            }
            if Instant::now() >= end {
                break;
            }
        }
    }
    let slept = Instant::now();
    loop {
        half.arm()?;
        // What completed before it was armed raises no event.
        if let Some(value) = attempt(half)? {
            half.spin().slept(!budget.is_zero(), slept.elapsed());
            return Ok(value);
        }
        if half.sleep(deadline)? {
            return match H::DRAINS {
                true => last_words(half, attempt),
                false => Err(half.shared().socket.closed()),
            };
        }
        // Mostly it is what was waited for: to arm it again takes system calls.
        if let Some(value) = attempt(half)? {
            half.spin().slept(!budget.is_zero(), slept.elapsed());
            return Ok(value);
        }
    }
}

/// Sleeps until one of `events` or something on the connection; true if that has ended.
pub(super) fn sleep(
    shared: &Shared,
    events: [Option<BorrowedFd<'_>>; 2],
    deadline: Option<Instant>,
) -> Result<bool, LinkError> {
    let next_check = Instant::now() + POLL;
    let until = deadline.map_or(next_check, |deadline| deadline.min(next_check));
    let socket = PollFd::new(&shared.socket.fd, PollFlags::IN | PollFlags::RDHUP);
    let mut fds = vec![socket];
    let events = events.into_iter().flatten();
    fds.extend(events.map(|events| PollFd::from_borrowed_fd(events, PollFlags::IN)));
    let ready = poll(&mut fds, Some(until));
    if ready.map_err(|error| io_error(&shared.socket.peer, error))? {
        let stirred = !fds[0].revents().is_empty();
        return match stirred {
            true => shared.stirred(),
            false => Ok(false),
        };
    }
    shared.check_host()?;
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(LinkError::TimedOut(shared.socket.peer.clone()));
    }
    shared.look(Instant::now())?;
    // Where a thread of an emulated network reads the connection, nothing shows there.
    shared.hear()?;
    Ok(false)
}

/// The connection has ended: what came before counts.
fn last_words<H: Half, T>(
    half: &mut H,
    mut attempt: impl FnMut(&mut H) -> Result<Option<T>, LinkError>,
) -> Result<T, LinkError> {
    let last = Instant::now() + LAST_WORDS;
    loop {
        if let Some(value) = attempt(half)? {
            return Ok(value);
        }
        if Instant::now() >= last {
            return Err(half.shared().socket.closed());
        }
        thread::sleep(Duration::from_millis(1));
    }
}
