//! A timer for threads that run tokio.
#![allow(unsafe_code)] // a descriptor is registered with the runtime

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A timer of the kernel. It wakes the thread once: tokio's own wakes it two or three times for one of some seconds, as it moves to a
/// smaller slot each time (tokio/src/runtime/time/wheel).
#[derive(Debug)]
pub struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    /// One of the runtime of this thread, which drives I/O.
    ///
    /// # Errors
    ///
    /// If the process has no file descriptor left.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: an `OwnedFd` is open, and the same one, until it is dropped.
        let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
        Ok(Self(timer?))
    }

    /// Returns after `time`. One at a time: another begins the timer anew.
    ///
    /// # Errors
    ///
    /// The system's, which a timer does not give.
    pub async fn sleep(&self, time: Duration) -> io::Result<()> {
        // None at all would be never.
        let time = Timespec::try_from(time.max(Duration::from_nanos(1)));
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: time.map_err(io::Error::other)?,
        };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        let read = |timer: &OwnedFd| Ok(rustix::io::read(timer, &mut [0; 8])?);
        self.0.async_io(Interest::READABLE, read).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    #[tokio::test]
    async fn a_timer_that_is_begun_anew_waits_for_the_new_time() {
        let timer = Timer::new().unwrap();
        timer.sleep(Duration::ZERO).await.unwrap();
        let short = Duration::from_millis(2);
        tokio::select! {
            biased;
            over = timer.sleep(short) => over.unwrap(),
            () = std::future::ready(()) => {}
        }
        // It is over, and nobody waits for it.
        let mut fds = [PollFd::from_borrowed_fd(
            timer.0.get_ref().as_fd(),
            PollFlags::IN,
        )];
        poll(&mut fds, None).unwrap();
        let (began, long) = (Instant::now(), Duration::from_millis(20));
        timer.sleep(long).await.unwrap();
        assert!(began.elapsed() >= long);
    }
}
