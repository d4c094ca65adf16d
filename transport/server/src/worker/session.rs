//! A client's session: what its lanes share.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use gtrace_link::{Admitted, Ender, Link, LinkError, LinkInfo, OneSession, Resumption, Sessions};
use gtrace_protocol::{ClientHello, SessionId};
use rustix::event::{EventfdFlags, eventfd};
use tracing::{info, warn};

use super::client::ClientProcess;
use super::deferred_copies::DeferredCopies;
use super::handles::Handles;
use super::host_memory::HostMemory;
use super::hosts::Hosts;
use super::images::Images;
use super::memory::Memory;
use super::objects::Objects;
use super::order::{Order, Progress};
use super::output::Output;
use super::physical::Physical;
use super::shared_memory::SharedMemory;
use super::sticky::StickyError;
use super::watermark::EventLifetimeLock;
use crate::control::{Channel, Start};
use crate::names;
use crate::stats::{SessionCounts, SessionStats};

/// Most reasons that are kept.
const FALLBACKS: usize = 8;
/// Checks of a lane between two calls whose client is gone before it counts as stuck.
const STUCK_BETWEEN: u32 = 12;

/// A lane that is open.
struct OpenLane {
    info: LinkInfo,
    end: Ender,
    progress: Arc<Progress>,
    /// Where it was at the last look, as [`Progress::call`] says; `None` before the first.
    seen: Option<Option<u64>>,
    /// Checks in a row at which it was there and the client gone.
    stuck: u32,
    /// Times that it gave RDMA up and took it again that the log reports, and that its connection broke and was replaced.
    logged: u64,
    severances_logged: u64,
    resumptions_logged: u64,
}

/// How a client ended whose lanes do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// Some lane is in the driver.
    InACall,
    /// None is, and what the lanes had is not given back.
    Between,
}

/// What the lanes of a client share.
pub(crate) struct Session {
    /// The supervisor's order.
    pub(crate) start: Start,
    /// Its handles.
    pub(crate) handles: Arc<Handles>,
    /// How far its lanes are.
    pub(crate) order: Order,
    /// The error that stays.
    pub(crate) sticky: StickyError,
    /// What it did.
    pub(crate) counts: SessionCounts,
    /// What it allocated.
    pub(crate) memory: Memory,
    /// Kernel images.
    pub(crate) images: Images,
    /// Whether its events live.
    pub(crate) event_lifetime: EventLifetimeLock,
    /// Functions of the client that streams wait for.
    pub(crate) hosts: Hosts,
    /// Copies that it has not taken.
    pub(crate) deferred_copies: DeferredCopies,
    /// Page-locked memory of the client that the device uses.
    pub(crate) host_memory: HostMemory,
    /// What it shares with other clients.
    pub(crate) shared_memory: SharedMemory,
    /// Its primary contexts, as frames name them, by device.
    primaries: Mutex<HashMap<i32, u32>>,
    /// Its textures and surfaces, and its handles of conditional nodes.
    pub(crate) objects: Objects,
    /// Its physical memory.
    pub(crate) physical: Physical,
    /// Held while samples and sets of events of NVML are used, and alone while they end.
    pub(crate) nvml_objects: RwLock<()>,
    /// What its kernels print.
    pub(crate) output: OnceLock<Arc<Output>>,
    lanes: Mutex<HashMap<u16, OpenLane>>,
    /// Lanes that were let in, those among them whose client has not stated which link it uses.
    admitted: Mutex<usize>,
    /// Why lanes have not the links that were asked for, each reason once.
    fallbacks: Mutex<Vec<String>>,
    past: Mutex<Past>,
    /// Its process, as far as it can be seen from here.
    pub(crate) client: ClientProcess,
    /// Why it cannot go on, once a call is lost: everything that follows could have needed it.
    lost: OnceLock<String>,
}

/// What became of the links of lanes that have ended.
#[derive(Default)]
struct Past {
    refusals: u64,
    failovers: u64,
    failbacks: u64,
    severed: u64,
    resumed: u64,
}

impl Session {
    /// The session of a worker that was ordered `start` by `channel`.
    pub(crate) fn new(start: Start, channel: &Arc<Channel>) -> Self {
        Self {
            handles: Arc::default(),
            order: Order::of(Duration::from_millis(start.resume_ms)),
            sticky: StickyError::default(),
            counts: SessionCounts::default(),
            memory: Memory::new(start.limits.max_memory),
            images: Images::new(Arc::clone(channel), start.image_max),
            event_lifetime: EventLifetimeLock::default(),
            hosts: Hosts::default(),
            deferred_copies: DeferredCopies::default(),
            host_memory: HostMemory::default(),
            shared_memory: SharedMemory::new(Arc::clone(channel)),
            primaries: Mutex::default(),
            objects: Objects::default(),
            physical: Physical::default(),
            nvml_objects: RwLock::default(),
            output: OnceLock::new(),
            lanes: Mutex::default(),
            admitted: Mutex::default(),
            fallbacks: Mutex::default(),
            past: Mutex::default(),
            client: ClientProcess::default(),
            lost: OnceLock::new(),
            start,
        }
    }

    /// The client has retained the primary context of a device, which frames name so.
    pub(crate) fn primary_retained(&self, device: i32, context: u32) {
        let mut primaries = self
            .primaries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        primaries.insert(device, context);
    }

    /// How frames name the primary context of a device, if the client has retained it.
    pub(crate) fn primary(&self, device: i32) -> Option<u32> {
        let primaries = self
            .primaries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        primaries.get(&device).copied()
    }

    /// A call is lost: no lane executes anything from here on, and each says why.
    pub(crate) fn lose(&self, why: String) {
        warn!("{why}; the session ends");
        let _ = self.lost.set(why);
    }

    /// Why the session cannot go on, if it cannot.
    #[inline]
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// A lane is open.
    pub(crate) fn lane_opened(&self, lane: u16, link: &Link, progress: Arc<Progress>) {
        let open = OpenLane {
            info: link.info.clone(),
            end: link.end.clone(),
            progress,
            seen: None,
            stuck: 0,
            logged: 0,
            severances_logged: 0,
            resumptions_logged: 0,
        };
        self.lock_lanes().insert(lane, open);
        self.keep_reasons(&link.info.fallbacks);
    }

    /// Whether the client is gone and a lane cannot see it, because it is in the driver since the
    /// look before: waiting for a kernel that does not end, say, in a call or when it gives its
    /// memory back.
    pub(crate) fn client_is_dead(&self) -> Option<Death> {
        let mut lanes = self.lock_lanes();
        let (mut death, mut some_go_on) = (None, false);
        for lane in lanes.values_mut() {
            let at = lane.progress.call();
            let stuck = lane.seen == Some(at) && !lane.end.is_alive();
            lane.seen = Some(at);
            lane.stuck = if stuck { lane.stuck + 1 } else { 0 };
            // A lane between two calls sees the end itself, and gives its queue pairs and their memory
            // back, which takes its time.
            let patience = if at.is_some() { 1 } else { STUCK_BETWEEN };
            some_go_on |= lane.stuck < patience;
            if at.is_some() {
                death = Some(Death::InACall);
            }
            death = death.or(Some(Death::Between));
        }
        death.filter(|_| !some_go_on)
    }

    /// Logs lanes that failed over or back since the last call.
    pub(crate) fn log_changes(&self) {
        for (number, lane) in self.lock_lanes().iter_mut() {
            let changes = &lane.info.changes;
            let (severed, resumed) = (changes.severances(), changes.resumptions());
            if resumed > lane.resumptions_logged {
                info!(
                    "{}: lane {number} goes on by another connection",
                    lane.info.peer
                );
            } else if severed > lane.severances_logged && !self.client.is_gone() {
                let reason = changes.how_it_broke();
                warn!("lane {number} waits for its client: {reason}");
            }
            (lane.severances_logged, lane.resumptions_logged) = (severed, resumed);
            let now = changes.failovers() + changes.failbacks();
            if now == lane.logged {
                continue;
            }
            lane.logged = now;
            let (peer, kind) = (&lane.info.peer, lane.info.kind_now());
            match changes.is_fallen() {
                true => {
                    let reasons = changes.reasons();
                    let reason = reasons.last().map_or("", String::as_str);
                    warn!("{peer}: lane {number} goes on by {kind}: {reason}");
                }
                false => info!("{peer}: lane {number} goes on by {kind}"),
            }
        }
    }

    /// Adds what became of a link to what is kept of lanes that have ended.
    fn keep_changes(&self, info: &LinkInfo) {
        let mut past = self.lock_past();
        past.refusals += info.changes.refusals();
        past.failovers += info.changes.failovers();
        past.failbacks += info.changes.failbacks();
        past.severed += info.changes.severances();
        past.resumed += info.changes.resumptions();
        drop(past);
        self.keep_reasons(&info.changes.reasons());
    }

    fn keep_reasons(&self, reasons: &[String]) {
        let mut fallbacks = self.lock_fallbacks();
        for reason in reasons {
            if fallbacks.len() < FALLBACKS && !fallbacks.contains(reason) {
                fallbacks.push(reason.clone());
            }
        }
    }

    /// A lane has ended.
    pub(crate) fn lane_closed(&self, lane: u16) {
        let ended = self.lock_lanes().remove(&lane);
        if let Some(lane) = ended {
            self.keep_changes(&lane.info);
        }
        self.order.close(lane);
    }

    /// Ends all lanes and what waits for the client.
    pub(crate) fn end(&self) {
        self.hosts.end();
        for lane in self.lock_lanes().values() {
            lane.end.end();
        }
    }

    fn lock_lanes(&self) -> std::sync::MutexGuard<'_, HashMap<u16, OpenLane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_admitted(&self) -> std::sync::MutexGuard<'_, usize> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_past(&self) -> std::sync::MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_fallbacks(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.fallbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What it did so far.
    pub(crate) fn stats(&self) -> SessionStats {
        let mut stats = self.counts.snapshot(names::name_of);
        let mut links = Vec::new();
        {
            let past = self.lock_past();
            stats.rdma_refused = past.refusals;
            (stats.failovers, stats.failbacks) = (past.failovers, past.failbacks);
            (stats.severed, stats.resumed) = (past.severed, past.resumed);
        }
        let mut reasons = Vec::new();
        for lane in self.lock_lanes().values() {
            let changes = &lane.info.changes;
            stats.rdma_refused += changes.refusals();
            stats.failovers += changes.failovers();
            stats.failbacks += changes.failbacks();
            stats.severed += changes.severances();
            stats.resumed += changes.resumptions();
            reasons.extend(changes.reasons());
            links.push(lane.info.kind_now().to_string());
        }
        self.keep_reasons(&reasons);
        stats.lanes = u32::try_from(links.len()).unwrap_or(u32::MAX);
        links.sort();
        links.dedup();
        stats.links = links;
        stats.fallbacks.clone_from(&self.lock_fallbacks());
        stats.output_dropped = self.output.get().map_or(0, |output| output.dropped());
        stats.memory = self.memory.used();
        stats.handles = self.handles.len() as u64;
        stats.lasting_error = self.sticky.get();
        stats
    }

    /// Frames executed so far.
    pub(crate) fn frames(&self) -> u64 {
        self.counts.frames.load(Ordering::Relaxed)
    }
}

/// What the gates of a session share.
pub(crate) struct SessionAdmission {
    one: OneSession,
    session: Arc<Session>,
    /// Signalled by threads of lanes that have ended.
    ended: OwnedFd,
}

impl SessionAdmission {
    /// Of `session`.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers, or no descriptors.
    pub(crate) fn new(session: &Arc<Session>) -> Result<Self, LinkError> {
        let id = SessionId(session.start.session);
        let ended = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            // Numbers are not given twice: a frame may name a lane that has ended.
            one: OneSession::with_secret(id, session.start.secret, u16::MAX),
            session: Arc::clone(session),
            ended: ended.map_err(|e| LinkError::Io("an event descriptor".into(), e.into()))?,
        })
    }

    /// Readable once a lane has ended.
    pub(crate) fn ended(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// A lane has ended.
    pub(crate) fn notify_ended(&self) {
        // Full is as good as configured.
        let _ = rustix::io::write(&self.ended, &1u64.to_ne_bytes());
    }

    /// Takes note of it.
    pub(crate) fn clear_ended(&self) {
        let _ = rustix::io::read(&self.ended, &mut [0; 8]);
    }
}

/// Lets one connection into the session of this process. Its lane counts as long as this lives.
pub(crate) struct LaneAdmission {
    sessions: Arc<SessionAdmission>,
    admitted: Mutex<Option<(u16, Arc<Progress>)>>,
}

impl LaneAdmission {
    /// Of a connection.
    pub(crate) fn new(sessions: &Arc<SessionAdmission>) -> Self {
        Self {
            sessions: Arc::clone(sessions),
            admitted: Mutex::default(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(u16, Arc<Progress>)>> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that the connection's lane was given.
    pub(crate) fn admitted(&self) -> Option<u16> {
        self.lock().as_ref().map(|(lane, _)| *lane)
    }

    /// The lane's place in the session's order.
    pub(crate) fn progress(&self) -> Option<Arc<Progress>> {
        self.lock()
            .as_ref()
            .map(|(_, progress)| Arc::clone(progress))
    }
}

impl Drop for LaneAdmission {
    fn drop(&mut self) {
        if self.admitted().is_some() {
            let mut count = self.sessions.session.lock_admitted();
            *count = count.saturating_sub(1);
        }
    }
}

impl Sessions for LaneAdmission {
    fn secret(&self) -> Option<[u8; 32]> {
        self.sessions.one.secret()
    }

    fn admit(&self, further: bool, hello: &ClientHello) -> Result<Admitted, String> {
        let own = &self.sessions.session;
        let mut count = own.lock_admitted();
        if *count >= usize::from(own.start.limits.max_lanes) {
            return Err(format!(
                "the program has {count} threads at the GPU, and no more are allowed here"
            ));
        }
        let admitted = self.sessions.one.admit(further, hello)?;
        *count += 1;
        drop(count);
        // Before the client knows the number: from then on another lane may wait for this one.
        let progress = own.order.open(admitted.lane);
        *self.lock() = Some((admitted.lane, progress));
        Ok(admitted)
    }

    fn opened(&self, lane: u16, resumption: Resumption) {
        self.sessions.one.opened(lane, resumption);
    }

    fn resumption(&self, lane: u16) -> Result<Resumption, String> {
        match self.sessions.session.lost() {
            Some(why) => Err(why.to_owned()),
            None => self.sessions.one.resumption(lane),
        }
    }

    fn client_is_gone(&self) -> bool {
        self.sessions.session.lost().is_some() || self.sessions.session.client.is_gone()
    }
}
