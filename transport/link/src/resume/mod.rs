//! Links that outlive their connection: TCP, TLS and Unix sockets.
//!
//! What is sent travels in [pieces](gtrace_protocol::Piece) and is kept until the other side has read it. When the
//! connection breaks, the client opens another one (`attach`), both sides say what they have received, and the rest is
//! sent again. Threads that send go on until nothing more can be kept; threads that receive wait. Where each lane stands
//! is [`gtrace_protocol::Lifecycle`]'s to say.

mod attach;
#[cfg(any(test, feature = "fuzzing"))]
mod hostile;
mod inlet;
mod kept;
mod outlet;
mod rx;
#[cfg(test)]
mod tests;
mod tx;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use gtrace_protocol::{ACKNOWLEDGE_EVERY, Attachment, Death, LaneResumed, Lifecycle, ResumeLane};

use self::attach::Client;
use self::inlet::Inlet;
use self::outlet::Outlet;
use self::rx::ResumeBytes;
use self::tx::ResumeTx;
use crate::ahead::AheadRx;
use crate::changes::Changes;
use crate::channel::Channel;
use crate::link::{End, Endable, Ended, Ender, Link, LinkError, LinkInfo, LinkKind};
use crate::server::Sessions;

pub(crate) use self::attach::ClientLane;
#[cfg(feature = "fuzzing")]
pub use self::hostile::hostile;

/// What was read before the other side learns so where nothing else is to be done: it can use the memory again that
/// lies in a cache.
const ACKNOWLEDGE_IDLE: u64 = 512 << 10;
/// Between two checks whether the other side has ended, of the deadline, and whether another thread still reads.
const CHECK: Duration = Duration::from_millis(100);

/// How a lane ends.
struct Fate {
    life: Lifecycle,
    /// How its connection ended, and why no other one came.
    how: Option<End>,
    why: String,
}

/// Which side this is.
enum Side {
    Client(Client),
    Server(Arc<dyn Sessions>),
}

/// What both halves have.
pub(crate) struct Shared {
    /// For the thread that attaches it again.
    itself: Weak<Self>,
    peer: String,
    side: Side,
    outlet: Mutex<Outlet>,
    inlet: Mutex<Inlet>,
    fate: Mutex<Fate>,
    changed: Condvar,
    opened: Instant,
    patience: Duration,
    /// What the other side says that it has read.
    peer_read: AtomicU64,
    /// What was read here, and what of it the other side knows.
    read: AtomicU64,
    acknowledged: AtomicU64,
    /// Bytes that are read before the other side learns so, whatever else is to be done.
    acknowledge_every: u64,
    /// There is no connection.
    severed: AtomicBool,
    /// A thread waits for bytes. It says so while it has the inlet.
    awaited: AtomicBool,
    changes: Arc<Changes>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets a counter that only grows. Its lock is held: `read` and `peer_read` are the inlet's, `acknowledged` the outlet's.
fn raise(counter: &AtomicU64, to: u64) {
    if counter.load(Ordering::Relaxed) < to {
        counter.store(to, Ordering::Release);
    }
}

/// A connection of a lane that is to go on without it: the link over it, and bytes that were received with it already.
pub(crate) struct Attached {
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) unread: Vec<u8>,
}

impl Attached {
    /// What a link is over, unless it is one that cannot be resumed.
    pub(crate) fn of(link: Link) -> Result<Self, Box<Link>> {
        let Some(channel) = link.channel else {
            return Err(Box::new(link));
        };
        Ok(Self {
            channel,
            unread: link.rx.into_unread(),
        })
    }
}

/// The client's end of a lane that outlives its connection.
pub(crate) fn client(link: Link, lane: ClientLane, patience: Duration) -> Link {
    let mut info = link.info.clone();
    let Attached { channel, unread } = match Attached::of(link) {
        Ok(attached) => attached,
        Err(link) => return *link,
    };
    info.resume = Some(patience);
    let side = Side::Client(Client::new(lane));
    let shared = Shared::new(&info, side, patience, Some(channel), &unread);
    shared.into_link(info)
}

/// The same of a lane that the server has opened, whose connection broke before the client could say which link it uses.
///
/// # Errors
///
/// `error` if it is none that another connection mends.
pub(crate) fn client_severed(
    mut info: LinkInfo,
    error: LinkError,
    lane: ClientLane,
    patience: Duration,
) -> Result<Link, LinkError> {
    info.resume = Some(patience);
    let side = Side::Client(Client::new(lane));
    let shared = Shared::new(&info, side, patience, None, &[]);
    shared.into_severed(info, error)
}

/// The server's end of a lane from WELCOME on. Its client may come back from then on, also if it could not say any more
/// which link it uses.
pub(crate) struct OpeningLane {
    shared: Arc<Shared>,
    info: LinkInfo,
}

impl OpeningLane {
    /// Of the lane that is opened on `link`; also by what it is resumed.
    pub(crate) fn new(
        link: &Link,
        sessions: Arc<dyn Sessions>,
        patience: Duration,
    ) -> (Self, Resumption) {
        let mut info = link.info.clone();
        info.resume = Some(patience);
        let side = Side::Server(sessions);
        let shared = Shared::new(&info, side, patience, link.channel.clone(), &[]);
        let resumption = Resumption(Arc::downgrade(&shared));
        (Self { shared, info }, resumption)
    }

    /// The client uses `link`; unless it has come back by another connection since.
    pub(crate) fn settled(self, link: Link) -> Link {
        let info = LinkInfo {
            resume: self.info.resume,
            changes: self.info.changes,
            ..link.info.clone()
        };
        let Attached { channel, unread } = match Attached::of(link) {
            Ok(attached) => attached,
            Err(link) => {
                self.shared.abandon();
                return *link;
            }
        };
        {
            let mut outlet = locked(&self.shared.outlet);
            let mut inlet = locked(&self.shared.inlet);
            if self.shared.fate().life.is_first() {
                inlet.raw.push(&unread);
                inlet.channel = Some(Arc::clone(&channel));
                outlet.channel = Some(channel);
            }
        }
        self.shared.into_link(info)
    }

    /// Its connection broke before that.
    ///
    /// # Errors
    ///
    /// `error` if it is none that another connection mends.
    pub(crate) fn severed(self, error: LinkError) -> Result<Link, LinkError> {
        if !error.is_break() {
            self.shared.abandon();
            return Err(error);
        }
        self.shared.into_severed(self.info, error)
    }
}

impl Shared {
    fn new(
        info: &LinkInfo,
        side: Side,
        patience: Duration,
        channel: Option<Arc<dyn Channel>>,
        unread: &[u8],
    ) -> Arc<Self> {
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        if let Some(channel) = &channel {
            channel.socket().set_replaceable();
        }
        Arc::new_cyclic(|itself| Self {
            itself: Weak::clone(itself),
            peer: info.peer.clone(),
            side,
            outlet: Mutex::new(Outlet::new(channel.clone())),
            inlet: Mutex::new(Inlet::new(channel, unread)),
            fate: Mutex::new(Fate {
                life: Lifecycle::new(patience_ms),
                how: None,
                why: String::new(),
            }),
            changed: Condvar::new(),
            opened: Instant::now(),
            patience,
            peer_read: AtomicU64::new(0),
            read: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            // Over a Unix socket it costs nothing to speak of, over TCP as much as the cache gains.
            acknowledge_every: match info.kind {
                LinkKind::Unix => ACKNOWLEDGE_IDLE,
                _ => ACKNOWLEDGE_EVERY,
            },
            severed: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
            changes: Arc::clone(&info.changes),
        })
    }

    fn into_link(self: Arc<Self>, info: LinkInfo) -> Link {
        Link {
            tx: Box::new(ResumeTx::new(Arc::clone(&self))),
            end: Ender::new(&self),
            rx: Box::new(AheadRx::new(ResumeBytes::new(self))),
            info,
            channel: None,
        }
    }

    /// As [`Self::into_link`], of a lane whose first connection has broken.
    ///
    /// # Errors
    ///
    /// `error` if it is none that another connection mends.
    fn into_severed(self: Arc<Self>, info: LinkInfo, error: LinkError) -> Result<Link, LinkError> {
        let error = match error {
            LinkError::TimedOut(peer) => Ended::new(peer, End::Silent).into(),
            error => error,
        };
        self.broke(0, error)?;
        Ok(self.into_link(info))
    }

    /// It goes on otherwise, or not at all, and its connection is not this lane's any more.
    fn abandon(&self) {
        {
            let mut outlet = locked(&self.outlet);
            let mut inlet = locked(&self.inlet);
            (inlet.channel, outlet.channel) = (None, None);
        }
        self.die(Death::Closed, "");
    }
}

impl Shared {
    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn fate(&self) -> MutexGuard<'_, Fate> {
        locked(&self.fate)
    }

    /// Whether this side is a server's, which knows that the client has ended.
    fn client_is_gone(&self) -> bool {
        matches!(&self.side, Side::Server(sessions) if sessions.client_is_gone())
    }

    /// The connection of attempt `attempt` has failed. An error that no other connection mends is given back.
    fn broke(&self, attempt: u32, error: LinkError) -> Result<(), LinkError> {
        let how = match error {
            LinkError::Closed(Ended {
                how: how @ (End::Closed | End::Reset | End::Silent),
                ..
            }) => how,
            LinkError::Io(_, error) => End::Failed(error.to_string()),
            LinkError::Tls(_, error) => End::Failed(error),
            error => {
                if !matches!(error, LinkError::TimedOut(_)) {
                    self.die(Death::Broken, &error.to_string());
                }
                return Err(error);
            }
        };
        let mut fate = self.fate();
        if !fate.life.sever(attempt, self.now()) {
            return Ok(());
        }
        let reason = Ended::new(&self.peer, how.clone()).to_string();
        fate.how = Some(how);
        self.severed.store(true, Ordering::Release);
        // The end of a client that has said so breaks nothing.
        if !self.client_is_gone() {
            self.changes.sever(&reason);
        }
        drop(fate);
        // Whoever waits for it wakes up, and so does the other side, if it lives.
        self.end_channel(attempt);
        self.changed.notify_all();
        self.start_attaching();
        Ok(())
    }

    /// Ends the connection, whoever waits for it, unless it is that of a later attempt than `attempt`.
    fn end_channel(&self, attempt: u32) {
        // The descriptor stays what it is while this lives; the channel is taken where nobody waits for long.
        let inlet = locked(&self.inlet);
        let channel = inlet.channel.clone().filter(|_| inlet.attempt <= attempt);
        drop(inlet);
        if let Some(channel) = channel {
            channel.end();
        }
    }

    /// It does not go on.
    fn die(&self, death: Death, why: &str) {
        let mut fate = self.fate();
        if fate.life.die(death) {
            why.clone_into(&mut fate.why);
        }
        self.severed.store(true, Ordering::Release);
        drop(fate);
        self.end_channel(u32::MAX);
        self.changed.notify_all();
    }

    /// The error of a lane that is dead.
    fn epitaph(&self, fate: &Fate, death: Death) -> LinkError {
        let how = fate.how.clone().unwrap_or(End::Closed);
        let end = match death {
            Death::Off | Death::Closed => how,
            Death::Deadline => End::NotResumed {
                how: Box::new(how),
                why: match fate.why.as_str() {
                    "" => format!("no other one came within {:?}", self.patience),
                    why => format!("no other one within {:?}: {why}", self.patience),
                },
            },
            Death::Refused | Death::Broken | Death::Ended => End::NotResumed {
                how: Box::new(how),
                why: fate.why.clone(),
            },
        };
        Ended::new(&self.peer, end).into()
    }

    /// Waits until there is another connection than that of attempt `attempt`, or until `deadline`.
    fn wait_attached(&self, attempt: u32, deadline: Option<Instant>) -> Result<(), LinkError> {
        let mut fate = self.fate();
        loop {
            fate.life.pass(self.now());
            // Before any wait: what the lane has is of use to the next client.
            if !matches!(fate.life.state(), Attachment::Attached)
                && self.client_is_gone()
                && fate.life.die(Death::Ended)
            {
                "the client has ended".clone_into(&mut fate.why);
            }
            match fate.life.state() {
                Attachment::Dead(death) => return Err(self.epitaph(&fate, death)),
                Attachment::Attached if fate.life.current() != attempt => return Ok(()),
                // About to be given up by whoever has found it broken.
                _ => {}
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(LinkError::TimedOut(self.peer.clone()));
            }
            let wait = deadline.map_or(CHECK, |deadline| CHECK.min(deadline - now));
            drop(self.changed.wait_timeout(fate, wait));
            self.retry_attaching();
            fate = self.fate();
        }
    }

    /// Puts another connection in the place of the one that broke. `say` sends the other side what was received here, if
    /// it does not know; nothing else is sent before.
    fn attach(
        &self,
        attempt: u32,
        theirs: u64,
        say: impl FnOnce(u64) -> Result<Attached, LinkError>,
    ) -> Result<(), LinkError> {
        let too_late =
            || LinkError::Usage("the lane has another connection meanwhile, or has ended".into());
        {
            let mut fate = self.fate();
            if !fate.life.may_attach(attempt) {
                return Err(too_late());
            }
            // A server may learn by the new connection only that the one before is gone.
            let current = fate.life.current();
            if fate.life.sever(current, self.now()) {
                fate.how = Some(End::Closed);
                self.severed.store(true, Ordering::Release);
                self.changes
                    .sever("the client has opened another connection");
            }
        }
        // Whoever sends on the connection that is to go, and waits, lets go of it.
        self.end_channel(attempt.saturating_sub(1));
        let mut outlet = locked(&self.outlet);
        self.forget(&mut outlet)?;
        if !self.fate().life.may_attach(attempt) {
            return Err(too_late());
        }
        if let Err(impossible) = outlet.sent.resume_at(theirs) {
            let error = LinkError::Position(impossible);
            drop(outlet);
            self.die(Death::Broken, &error.to_string());
            return Err(error);
        }
        let mut inlet = locked(&self.inlet);
        raise(&self.peer_read, theirs);
        outlet.kept.forget(theirs);
        inlet.cut();
        let Attached { channel, unread } = say(inlet.received)?;
        inlet.raw.push(&unread);
        channel.socket().set_replaceable();
        inlet.channel = Some(Arc::clone(&channel));
        outlet.channel = Some(channel);
        (inlet.attempt, outlet.attempt) = (attempt, attempt);
        outlet.given = theirs;
        outlet.rest.clear();
        let attached = {
            let mut fate = self.fate();
            let attached = fate.life.attach(attempt);
            if attached {
                fate.why.clear();
                self.severed.store(false, Ordering::Release);
                self.changes.resume();
            }
            attached
        };
        // A reader that finds the new connection broken finds the lane attached too.
        drop(inlet);
        self.changed.notify_all();
        if !attached {
            drop(outlet);
            self.end_channel(attempt);
            return Ok(());
        }
        // Nobody may come to send what is kept: the other side waits for it.
        let given = self.give(&mut outlet);
        drop(outlet);
        match given {
            Ok(()) => Ok(()),
            Err(error) => self.broke(attempt, error),
        }
    }

    /// Looks whether the connection is there still, as nobody may be about to notice.
    fn look(&self) {
        if self.severed.load(Ordering::Acquire) {
            return;
        }
        let (channel, attempt) = {
            let Ok(inlet) = self.inlet.try_lock() else {
                return;
            };
            (inlet.channel.clone(), inlet.attempt)
        };
        let Some(channel) = channel else {
            return;
        };
        let socket = channel.socket();
        let how = if !socket.is_alive() {
            // Who waits for bytes finds the end itself, behind what came before it: that the client ends, say.
            if self.awaited.load(Ordering::Acquire) {
                return;
            }
            End::Closed
        } else if socket.is_dead() {
            End::Silent
        } else {
            return;
        };
        let _ = self.broke(attempt, Ended::new(&self.peer, how).into());
    }
}

impl Endable for Shared {
    fn end(&self) {
        self.die(Death::Closed, "");
    }

    fn break_connection(&self) {
        self.end_channel(u32::MAX);
    }

    fn is_alive(&self) -> bool {
        self.look();
        let mut fate = self.fate();
        fate.life.pass(self.now());
        match fate.life.state() {
            Attachment::Dead(_) => false,
            Attachment::Attached => true,
            _ => !self.client_is_gone(),
        }
    }
}

/// A lane of a server, as far as a client that comes back needs it. It does not keep the lane.
#[derive(Clone)]
pub struct Resumption(Weak<Shared>);

impl std::fmt::Debug for Resumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Resumption")
    }
}

impl Resumption {
    /// Whether there is such a lane still.
    pub fn is_there(&self) -> bool {
        self.0.upgrade().is_some_and(|lane| {
            let state = lane.fate().life.state();
            !matches!(state, Attachment::Dead(_))
        })
    }

    /// Goes on by the connection of `link`, on which `answer` is sent first.
    pub(crate) fn take_over(
        &self,
        asked: &ResumeLane,
        mut link: Link,
        answer: impl FnOnce(&mut Link, LaneResumed) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        let Some(lane) = self.0.upgrade() else {
            return Err(LinkError::Usage("the lane has ended".into()));
        };
        lane.attach(asked.attempt, asked.received, |received| {
            answer(
                &mut link,
                LaneResumed {
                    received,
                    proof: [0; 32],
                },
            )?;
            Attached::of(link)
                .map_err(|_| LinkError::Usage("no connection that a lane goes on by".into()))
        })
    }
}
