//! From WELCOME to SWITCH: which link a client that was let in uses.

use std::cell::Cell;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use gtrace_protocol::{DecodeError, HEADER_LEN, control};
use rustix::event::{PollFd, PollFlags};

use crate::control::{receive, send_frame};
use crate::link::{End, Ended, Link, LinkError, LinkKind};
use crate::networks::Networks;
use crate::offer::Offers;
use crate::rdma;
use crate::wait::{io_error, poll};

/// Most bytes of a lane's echoes, of which a probe has some hundred: so many never wait for a client that does not read.
const ECHOED_MOST: usize = 16 << 10;
/// Times that a lane may ask for RDMA, likewise. Each reason why there is none is kept, and in the log.
const ASKED_MOST: u32 = 4;

/// An accepted lane whose client has not yet stated which link it uses.
pub(crate) struct Settling<'a> {
    pub(crate) socket: &'a OwnedFd,
    pub(crate) trusted: &'a Networks,
    pub(crate) deadline: Instant,
    /// Bytes of echoes so far.
    pub(crate) echoed: Cell<usize>,
    /// Times that RDMA was asked for.
    pub(crate) asked: Cell<u32>,
}

/// The client's message.
enum Step {
    /// It probes, or could not be given what it asked for.
    Probe,
    /// What follows is the lane's.
    Switch,
    /// It has queue pairs now, and says SWITCH there if they work.
    Rdma(Link, Arc<rdma::Shared>),
}

impl Settling<'_> {
    /// Answers probes, lets the client take offers, and gives the link on which it says SWITCH.
    pub(crate) fn settle(
        &self,
        mut link: Link,
        mut offers: Option<Offers>,
    ) -> Result<Link, LinkError> {
        loop {
            if offers.is_none() || link.rx.ready(HEADER_LEN)? {
                match self.step(&mut link)? {
                    Step::Probe => {}
                    Step::Switch => return Ok(link),
                    Step::Rdma(mut better, shared) => {
                        if self.settle_on(&mut better) {
                            better.info.under = Some(link.info.kind);
                            shared.settle(link);
                            return Ok(better);
                        }
                        link.info.changes.refuse();
                        let reason = "rdma: the client could not use the queue pairs";
                        link.info.fallbacks.push(reason.into());
                    }
                }
                continue;
            }
            let Some(offers) = &mut offers else { continue };
            let mut fds = [
                PollFd::new(self.socket, PollFlags::IN),
                PollFd::from_borrowed_fd(offers.as_fd(), PollFlags::IN),
            ];
            let ready = poll(&mut fds, Some(self.deadline));
            let ready = ready.map_err(|e| io_error(&link.info.peer, e))?;
            // Also if others come to the offers again and again.
            if !ready || Instant::now() >= self.deadline {
                return Err(LinkError::TimedOut(link.info.peer.clone()));
            }
            if fds[1].revents().is_empty() {
                continue;
            }
            let peer = link.info.peer.clone();
            // Otherwise the client falls back, and keeps the reason.
            if let Some(Ok(mut better)) = offers.accept(&peer, self.socket.as_fd())
                && self.settle_on(&mut better)
            {
                return Ok(better);
            }
        }
    }

    /// Whether the client, having probed it, uses this link.
    fn settle_on(&self, link: &mut Link) -> bool {
        loop {
            match self.step(link) {
                Ok(Step::Switch) => return true,
                Ok(Step::Probe) => {}
                Ok(Step::Rdma(..)) | Err(_) => return false,
            }
        }
    }

    /// Answers one frame after WELCOME.
    fn step(&self, link: &mut Link) -> Result<Step, LinkError> {
        // What lies here already is not waited for, however much of it there is.
        if Instant::now() >= self.deadline {
            return Err(LinkError::TimedOut(link.info.peer.clone()));
        }
        let frame = receive(&mut *link.rx, self.deadline)?;
        let tcp = matches!(link.info.kind, LinkKind::Tcp | LinkKind::Tls);
        match frame.op {
            control::ECHO => {
                let echoed = self.echoed.get() + HEADER_LEN + frame.payload.len();
                if echoed > ECHOED_MOST {
                    return Err(DecodeError::TooLong {
                        len: echoed as u64,
                        cap: ECHOED_MOST,
                    }
                    .into());
                }
                self.echoed.set(echoed);
                send_frame(&mut *link.tx, control::ECHO, &frame.payload).map(|()| Step::Probe)
            }
            control::SWITCH => Ok(Step::Switch),
            control::RDMA if tcp && self.asked.get() < ASKED_MOST => {
                self.asked.set(self.asked.get() + 1);
                let made = rdma::answer(link, self.socket, self.trusted, &frame)?;
                Ok(made.map_or(Step::Probe, |(better, shared)| Step::Rdma(better, shared)))
            }
            control::GOODBYE => {
                let how = End::Goodbye("it takes none of the links".into());
                Err(Ended::new(&link.info.peer, how).into())
            }
            op => Err(DecodeError::BadValue {
                what: "a frame where the client should say which link it uses",
                value: op.into(),
            }
            .into()),
        }
    }
}
