//! The client's side of coming back: a thread that opens another connection, again and again until the lane's deadline.

use std::io;
use std::net::IpAddr;
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_protocol::{Attachment, Death, LaneResumed, RefusalKind, ResumeLane};

use super::{Attached, Shared, locked};
use crate::client::{self, Session};
use crate::link::LinkError;
use crate::sys;
use crate::target::{Address, Target};

/// Pauses between two attempts, each twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// Longest attempt: a network that is gone answers nothing, and may be back a moment later.
const ATTEMPT: Duration = Duration::from_secs(3);
/// Attempts at the same time, of all lanes of this process.
const AT_ONCE: usize = 8;
/// Threads that do nothing but this need little.
const STACK: usize = 256 << 10;

/// How a client reaches the server of a lane again.
#[derive(Clone)]
pub(crate) struct ClientLane {
    pub(crate) target: Target,
    pub(crate) session: Session,
    /// Its number in the session.
    pub(crate) number: u16,
    /// The server runs on this host, so that nothing lies between.
    pub(crate) server_is_here: bool,
}

pub(super) struct Client {
    lane: Box<ClientLane>,
}

/// Lets so many threads on at a time.
#[derive(Debug)]
struct Turns {
    count: Mutex<usize>,
    changed: Condvar,
}

static TURNS: Turns = Turns {
    count: Mutex::new(0),
    changed: Condvar::new(),
};

struct Turn;

impl Turns {
    fn turn(&self) -> Turn {
        let count = locked(&self.count);
        let waited = self.changed.wait_while(count, |count| *count >= AT_ONCE);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *locked(&TURNS.count) -= 1;
        TURNS.changed.notify_one();
    }
}

impl Client {
    pub(super) fn new(lane: ClientLane) -> Self {
        Self {
            lane: Box::new(lane),
        }
    }

    /// Starts the thread; nothing of the program's runs in it.
    pub(super) fn start(&self, shared: &Weak<Shared>) {
        let (lane, weak) = (self.lane.clone(), Weak::clone(shared));
        let started = sys::without_signals(|| {
            thread::Builder::new()
                .name("gtrace-attach".into())
                .stack_size(STACK)
                .spawn(move || attach_again(&lane, &weak))
        });
        if let (Err(error), Some(shared)) = (started, shared.upgrade()) {
            shared.die(Death::Refused, &format!("no thread for it: {error}"));
        }
    }
}

/// Until the lane has a connection or is dead.
fn attach_again(lane: &ClientLane, shared: &Weak<Shared>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        {
            let turn = TURNS.turn();
            let Some(attempt) = shared.begin_attempt() else {
                return;
            };
            match try_once(lane, &shared, attempt, turn) {
                Ok(()) => return,
                Err(error) => shared.note_failure(lane, &error),
            }
        }
        shared.pause(pause);
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

fn try_once(lane: &ClientLane, shared: &Shared, attempt: u32, turn: Turn) -> Result<(), LinkError> {
    let mut target = lane.target.clone();
    target.timeout = target.timeout.min(ATTEMPT).min(shared.time_left());
    if target.timeout.is_zero() {
        return Err(LinkError::TimedOut(target.address.to_string()));
    }
    let asked = ResumeLane {
        lane: lane.number,
        attempt,
        received: shared.freeze(),
    };
    let (link, LaneResumed { received, .. }) = client::resume(&target, &lane.session, &asked)?;
    // Sending what is kept takes as long as the server's call.
    drop(turn);
    shared.attach(attempt, received, |_| {
        Attached::of(link)
            .map_err(|_| LinkError::Usage("no connection that a lane goes on by".into()))
    })
}

/// Whether no further attempt can succeed.
fn is_final(error: &LinkError, lane: &ClientLane) -> bool {
    match error {
        LinkError::Refused(refused) => !matches!(
            refused.kind,
            RefusalKind::Busy | RefusalKind::MaxClients | RefusalKind::System
        ),
        LinkError::Position(_) => true,
        // Nobody listens there any more. At an address of this host that may be a tunnel, which comes back.
        LinkError::Io(_, error) => {
            let nobody = matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
            );
            let tunnel = match &lane.target.address {
                Address::Tcp(host, _) => {
                    let loopback = host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
                    !lane.server_is_here && (loopback || host == "localhost")
                }
                Address::Unix(_) => !lane.server_is_here,
            };
            nobody && !tunnel
        }
        _ => false,
    }
}

impl Shared {
    fn begin_attempt(&self) -> Option<u32> {
        let attempt = self.fate().life.try_attach(self.now());
        if attempt.is_none() {
            // It may have died of that.
            self.changed.notify_all();
        }
        attempt
    }

    fn time_left(&self) -> Duration {
        match self.fate().life.state() {
            Attachment::Severed { deadline } | Attachment::Attaching { deadline } => {
                Duration::from_millis(deadline.saturating_sub(self.now()))
            }
            _ => Duration::ZERO,
        }
    }

    fn note_failure(&self, lane: &ClientLane, error: &LinkError) {
        if is_final(error, lane) {
            let why = match error {
                LinkError::Refused(refused) if refused.kind == RefusalKind::Session => {
                    format!("the server was started again, or has given the session up: {refused}")
                }
                LinkError::Io(..) => format!("the server has ended: {error}"),
                error => error.to_string(),
            };
            self.die(Death::Refused, &why);
            return;
        }
        let mut fate = self.fate();
        fate.life.attempt_failed();
        fate.why = error.to_string();
    }

    /// Waits before the next attempt, unless the lane dies.
    fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut fate = self.fate();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let severed = matches!(fate.life.state(), Attachment::Severed { .. });
            if left.is_zero() || !severed {
                return;
            }
            let waited = self.changed.wait_timeout(fate, left);
            fate = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
