//! The loop of an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_event::{Timestamp, nanos};
use gtrace_fleet::{
    Action, ClockAnswer, ClockFilter, Exchange, HostRead, HostState, Limits, Measure,
    MeasureAnswer, Outcome, Position, READS_MAX, Shipper, nats::check_site,
};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::actor::{Actor, Requests, read_for, turns};
use crate::enroll::Enrolled;
use crate::frames::{Recordings, Sampler, Wanted};
use crate::head_url::{HttpUrl, UrlError};
use crate::http::Http;
use crate::nats::{Nats, NatsAccess};
use crate::progress::Progress;
use crate::source::{Place, Source};
use crate::state_size::bound;
use crate::transport::{Call, LinkError, Shared, StateTaken, get, post, read};

/// How often the store is looked at where nobody says that it has grown.
const LOOK: Duration = Duration::from_secs(1);
/// Between measurements of the clock: with the drift that clocks may have, each ages by 3 ms.
const CLOCK: Duration = Duration::from_secs(30);
/// The same while a session is on: by 0.1 ms.
const CLOCK_IN_SESSION: Duration = Duration::from_secs(1);
/// Between two looks at what was sampled, while a session is on.
const FRAMES: Duration = Duration::from_millis(500);
/// Before sessions are asked for again where the head did not answer that.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// Before what sessions have is sent again where that has failed.
const FRAMES_AGAIN: Duration = Duration::from_secs(5);
/// How long an agent that is stopped may take to send the frames that it has.
const FLUSH: Duration = Duration::from_secs(2);
/// How an agent works.
#[derive(Clone)]
pub struct Options {
    /// What enrolling gave.
    pub enrolled: Enrolled,
    /// NATS servers between this host and the heads, instead of straight to the head that enrolled it.
    pub nats: Option<NatsAccess>,
    /// The host's store.
    pub store: PathBuf,
    /// Where it stands.
    pub labels: BTreeMap<String, String>,
    /// Most bytes a second to the head, on average.
    pub rate: Option<u64>,
    /// Whether the head may start profiling sessions here.
    pub allow_sessions: bool,
    /// Does what else the head may ask for; without it nothing.
    pub actor: Option<Arc<dyn Actor>>,
    /// This host's clock: [`now_ns`], or that of a test.
    pub clock: Clock,
}

/// Gives nanoseconds since 1970-01-01.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Ships to the head until `stop` holds true or its sender is gone. `state` gives the state of the host; `woken` says
/// that store or state have changed.
///
/// Reads of the store block this thread for some milliseconds: give the agent a runtime of its own.
///
/// # Errors
/// Where the URL of the head is none.
pub async fn run(
    options: Options,
    state: impl FnMut() -> HostState,
    sampler: Option<Box<dyn Sampler>>,
    woken: Arc<Notify>,
    progress: Progress,
    mut stop: watch::Receiver<bool>,
) -> Result<(), crate::UrlError> {
    let way = match &options.nats {
        Some(nats) => {
            check_site(&nats.site).map_err(UrlError::Site)?;
            Way::Nats(nats.clone())
        }
        None => Way::Http(options.enrolled.head.parse()?),
    };
    let limits = Limits {
        rate: options.rate,
        ..Limits::default()
    };
    let mut agent = Agent {
        source: Source::new(&options.store),
        shipper: Shipper::new(limits),
        clock: ClockFilter::default(),
        measured: None,
        began: Instant::now(),
        recordings: Recordings::default(),
        sampled: Instant::now(),
        wanted: None,
        problem: None,
        asking: None,
        asked: None,
        requests: Requests::default(),
        reads: JoinSet::new(),
        turns: turns(),
        link: None,
        tip: None,
        frames_failed: None,
        frames_warned: None,
        left_out: BTreeSet::new(),
        options,
        way,
        woken: Arc::clone(&woken),
        state,
        sampler,
        progress,
    };
    loop {
        let wait = tokio::select! {
            wait = agent.cycle() => wait,
            () = stopped(&mut stop) => break,
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = woken.notified() => {
                agent.shipper.grew();
                agent.shipper.state_changed();
            }
            answer = answered(&mut agent.asking) => agent.answered(answer),
            () = stopped(&mut stop) => break,
        }
    }
    // What a session has so far is not in the store.
    let _ = tokio::time::timeout(FLUSH, agent.flush()).await;
    Ok(())
}

/// Waits until the agent is to end.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|end| *end).await);
}

/// The head's answer to the question for sessions.
type Asking = JoinHandle<Result<MeasureAnswer, LinkError>>;

/// Waits for it, for ever where nothing was asked.
async fn answered(asking: &mut Option<Asking>) -> Option<Result<MeasureAnswer, LinkError>> {
    let Some(task) = asking else {
        return std::future::pending().await;
    };
    let answer = task.await;
    *asking = None;
    answer.ok()
}

fn taken_again() {
    tracing::info!("the head takes again what this host sends");
}

/// How the head is reached.
enum Way {
    Http(HttpUrl),
    Nats(NatsAccess),
}

struct Agent<S> {
    options: Options,
    way: Way,
    woken: Arc<Notify>,
    state: S,
    sampler: Option<Box<dyn Sampler>>,
    source: Source,
    shipper: Shipper,
    clock: ClockFilter,
    measured: Option<Instant>,
    began: Instant,
    recordings: Recordings,
    /// When what was sampled was taken over last.
    sampled: Instant,
    /// What the sampler was asked for.
    wanted: Option<Wanted>,
    /// Why it has nothing.
    problem: Option<String>,
    /// The question for sessions, which the head answers when something has changed.
    asking: Option<Asking>,
    /// When it was asked last.
    asked: Option<Instant>,
    /// What the head asks for beside sessions.
    requests: Requests,
    /// What is being read for people.
    reads: JoinSet<usize>,
    turns: Arc<Semaphore>,
    link: Option<Shared>,
    tip: Option<u64>,
    /// When sending what sessions have failed last, and what was reported of it.
    frames_failed: Option<Instant>,
    frames_warned: Option<String>,
    /// What was left out of states so far, as it was too large.
    left_out: BTreeSet<&'static str>,
    progress: Progress,
}

impl<S: FnMut() -> HostState> Agent<S> {
    /// Does one thing, and sends frames; how long to wait before the next.
    async fn cycle(&mut self) -> Duration {
        self.sample();
        // Before a batch goes: else a backlog would take all of the rate.
        let frames_may_go = self.shipper.is_paid(self.began.elapsed());
        let wait = self.ship().await;
        let paused = |at: Instant| at.elapsed() < FRAMES_AGAIN;
        if !self.shipper.may_send(self.began.elapsed()) || self.frames_failed.is_some_and(paused) {
            return wait;
        }
        // State and records do not wait for it, and go on whatever comes of it.
        match self.session_traffic(frames_may_go).await {
            Ok(()) => {
                self.frames_failed = None;
                self.frames_warned = None;
                let is_paid = self.shipper.is_paid(self.began.elapsed());
                match self.recordings.is_ready() && self.link.is_some() && is_paid {
                    true => Duration::ZERO,
                    false => wait,
                }
            }
            Err(error) => {
                self.frames_failed = Some(Instant::now());
                if matches!(error, LinkError::Unreachable { .. }) {
                    self.link = None;
                    // The next state shows whether there is a head again.
                    self.shipper.state_changed();
                }
                let text = error.to_string();
                if self.frames_warned.as_ref() != Some(&text) {
                    tracing::warn!("{text}; frames of sessions wait");
                    self.frames_warned = Some(text);
                }
                wait
            }
        }
    }

    /// Sends a state or a batch where one is due; how long to wait before the next.
    async fn ship(&mut self) -> Duration {
        // Whoever writes the store may not be in this process.
        if let Ok(tip) = self.source.tip()
            && self.tip.replace(tip) != Some(tip)
        {
            self.shipper.grew();
            self.shipper.state_changed();
        }
        let now = self.began.elapsed();
        let action = self.shipper.next(now);
        let is_batch = matches!(action, Action::SendBatch { .. });
        let done = match action {
            Action::WaitUntil(until) => {
                let wait = until.saturating_sub(now).min(LOOK);
                return match self.recordings.is_empty() && self.requests.is_idle() {
                    true => wait,
                    false => wait.min(FRAMES),
                };
            }
            Action::SendState => self.send_state().await.map(Some),
            Action::SendBatch { cursor } => self.send_batch(cursor).await,
        };
        let outcome = match done {
            // Nothing to send, and nothing was asked.
            Ok(None) => {
                if self.progress.caught_up() {
                    taken_again();
                }
                return Duration::ZERO;
            }
            Ok(Some((cursor, sent))) => {
                if self.progress.succeeded(is_batch) {
                    taken_again();
                }
                self.progress.change(|shown| {
                    shown.cursor = cursor;
                    shown.sent_bytes += sent as u64;
                });
                Outcome::Answered { cursor, sent }
            }
            Err(error) => {
                self.failed(&error, is_batch);
                Outcome::Failed
            }
        };
        let chance = fastrand::f64();
        self.shipper.ended(self.began.elapsed(), outcome, chance);
        Duration::ZERO
    }

    fn failed(&mut self, error: &LinkError, is_batch: bool) {
        // Another credential may be there for the next one.
        if matches!(
            error,
            LinkError::Unreachable { .. } | LinkError::Refused { status: 401, .. }
        ) {
            self.link = None;
        }
        // Once for each reason: a head may be away for days.
        if self.progress.failed(is_batch, error) {
            tracing::warn!("{error}; records wait in the store");
        }
    }

    async fn link(&mut self) -> Result<Shared, LinkError> {
        match &self.link {
            Some(link) => Ok(Arc::clone(link)),
            None => {
                if let Some(enrolled) = self.options.enrolled.renewed() {
                    tracing::info!("{} goes on with its new credential", enrolled.host);
                    self.options.enrolled = enrolled;
                }
                let enrolled = &self.options.enrolled;
                let link: Shared = match &self.way {
                    Way::Nats(access) => {
                        let woken = Arc::clone(&self.woken);
                        Arc::new(Nats::connect(access, enrolled, woken).await?)
                    }
                    Way::Http(url) => {
                        let credential = Some(enrolled.credential.as_str());
                        Arc::new(Http::connect(url, enrolled.ca.as_deref(), credential).await?)
                    }
                };
                Ok(Arc::clone(self.link.insert(link)))
            }
        }
    }

    async fn send_state(&mut self) -> Result<(Option<Position>, usize), LinkError> {
        let link = self.link().await?;
        self.measure_clock(&link).await?;
        let mut state = (self.state)();
        state.tip = self.tip.unwrap_or_default();
        state.labels.clone_from(&self.options.labels);
        state.clock = self.clock.at((self.options.clock)());
        state.allows_sessions = self.options.allow_sessions && self.sampler.is_some();
        state.permits = self.permits();
        state.session_problem.clone_from(&self.problem);
        for part in bound(&mut state) {
            if self.left_out.insert(part) {
                tracing::warn!(
                    "a state of this host is too large for the head; left out, perhaps again: {part}"
                );
            }
        }
        let StateTaken {
            cursor,
            measure,
            sent,
        } = link.state(&state).await?;
        if let Some(measure) = measure {
            self.set_sessions(&measure);
        }
        Ok((cursor, sent))
    }

    /// What a head may ask is this list, and the host permits it or not.
    fn set_sessions(&mut self, measure: &[Measure]) {
        // What was read until now belongs to those that end.
        self.sample_now();
        let permitted = self.options.allow_sessions && self.sampler.is_some();
        self.recordings.set(if permitted { measure } else { &[] });
        let wanted = self.recordings.wanted();
        if let Some(sampler) = &mut self.sampler
            && self.wanted != wanted
        {
            sampler.want(wanted.as_ref());
            self.wanted = wanted;
        }
    }

    fn permits(&self) -> Vec<String> {
        self.options
            .actor
            .as_ref()
            .map_or_else(Vec::new, |actor| actor.permits())
    }

    fn answered(&mut self, answer: Option<Result<MeasureAnswer, LinkError>>) {
        if let Some(Err(error)) = &answer
            && self.progress.asked(Some(error))
        {
            tracing::warn!("{error}; what the head asks for waits");
        }
        if let Some(Ok(answer)) = answer {
            self.progress.asked(None);
            let known = (self.recordings.known(), self.requests.taken());
            self.set_sessions(&answer.measure);
            self.requests.take(&answer.requests);
            // A head that asks for more than is taken here answers at once: it is not asked without pause.
            let is_new = (self.recordings.known(), self.requests.taken()) != known;
            if is_new || !answer.reads.is_empty() {
                self.asked = None;
            }
            self.read(answer.reads);
        }
    }

    /// Reads what people want of the daemon, a few side by side.
    fn read(&mut self, wanted: Vec<HostRead>) {
        let (Some(link), Some(actor)) = (&self.link, &self.options.actor) else {
            return;
        };
        for one in wanted.into_iter().take(READS_MAX) {
            // A head gives no more before these are answered.
            if self.reads.len() < 2 * READS_MAX {
                let (turns, link) = (Arc::clone(&self.turns), Arc::clone(link));
                self.reads
                    .spawn(read_for(turns, link, Arc::clone(actor), one));
            }
        }
    }

    /// What sessions need besides states: the question for them, the clock, and frames where they may go. One message of frames at a time, so
    /// that nothing waits for long.
    async fn session_traffic(&mut self, frames_may_go: bool) -> Result<(), LinkError> {
        // Only after a state: the first request shows whether there is a head, and backs off.
        let Some(link) = self.link.clone() else {
            return Ok(());
        };
        let takes_part = self.options.allow_sessions && self.sampler.is_some();
        if !takes_part && self.permits().is_empty() {
            return Ok(());
        }
        if self.asking.is_none() && self.asked.is_none_or(|at| at.elapsed() >= ASK_AGAIN) {
            let known: Vec<String> = self.recordings.known().iter().map(i64::to_string).collect();
            let mut path = format!("/fleet/v1/measure?known={}", known.join(","));
            let taken = self.requests.taken();
            if !taken.is_empty() {
                path.push_str("&taken=");
                path.push_str(&taken);
            }
            let asked = Arc::clone(&link);
            self.asked = Some(Instant::now());
            let asking = async move { read(&asked.call(Call::held(path)).await?) };
            self.asking = Some(tokio::spawn(asking));
        }
        while let Some(read) = self.reads.try_join_next() {
            self.shipper
                .spent(self.began.elapsed(), read.unwrap_or_default());
        }
        if let Some(actor) = &self.options.actor {
            let sent = self.requests.go_on(actor, &link).await;
            self.shipper.spent(self.began.elapsed(), sent);
        }
        if !self.recordings.is_empty() {
            self.measure_clock(&link).await?;
        }
        match frames_may_go {
            true => self.send_frames(&link).await,
            false => Ok(()),
        }
    }

    /// `None` where there is nothing to send.
    async fn send_batch(
        &mut self,
        cursor: Option<Position>,
    ) -> Result<Option<(Option<Position>, usize)>, LinkError> {
        let link = self.link().await?;
        let unreadable = |error: gtrace_store::StoreError| LinkError::Store(error.to_string());
        let mut place = self.source.place(cursor);
        if let Ok(Place::Unknown) = place {
            // The store was replaced, or a backup of it was put back.
            let earlier: Vec<Position> = get(link.as_ref(), "/fleet/v1/cursors").await?;
            place = Ok(Place::After(None));
            for known in earlier {
                if let found @ Ok(Place::After(_)) = self.source.place(Some(known)) {
                    place = found;
                    break;
                }
            }
        }
        let after = match place {
            Ok(Place::After(after)) => after,
            Ok(Place::Unknown) => None,
            // Without a store there is nothing to ship yet.
            Err(gtrace_store::StoreError::Missing { .. }) => {
                self.shipper.caught_up();
                return Ok(None);
            }
            Err(error) => return Err(unreadable(error)),
        };
        let batch = self.source.batch(after).map_err(unreadable)?;
        if batch.records.is_empty() {
            self.shipper.caught_up();
            return Ok(None);
        }
        self.progress.change(|shown| shown.caught_up = false);
        let taken = link.batch(&batch).await?;
        Ok(Some((taken.cursor, taken.sent)))
    }

    async fn measure_clock(&mut self, link: &Shared) -> Result<(), LinkError> {
        let (every, exchanges) = match self.recordings.is_empty() {
            // Several, of which the quickest counts.
            true => (CLOCK, 4),
            false => (CLOCK_IN_SESSION, 1),
        };
        if self.measured.is_some_and(|at| at.elapsed() < every) {
            return Ok(());
        }
        for _ in 0..exchanges {
            let asked = (self.options.clock)();
            let ClockAnswer { taken, answered } = match get(link.as_ref(), "/fleet/v1/clock").await
            {
                Ok(answer) => answer,
                // What is between takes records without one; the bound of the clock's error grows meanwhile.
                Err(LinkError::NoHead { .. }) => break,
                Err(error) => return Err(error),
            };
            let got = (self.options.clock)();
            self.clock.add(Exchange {
                asked,
                taken,
                answered,
                got,
            });
        }
        self.measured = Some(Instant::now());
        Ok(())
    }

    fn sample(&mut self) {
        if self.sampled.elapsed() >= FRAMES / 2 {
            self.sample_now();
        }
    }

    fn sample_now(&mut self) {
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        if self.recordings.is_empty() {
            return;
        }
        self.sampled = Instant::now();
        let now = (self.options.clock)();
        let sampled = sampler.take(now);
        if self.problem != sampled.problem {
            self.problem = sampled.problem;
            self.shipper.state_changed();
        }
        // Without a measured clock nobody can say when it was.
        let (Some(offset), Some(measured)) = (self.clock.at(now), self.clock.newest()) else {
            return;
        };
        for reading in &sampled.readings {
            self.recordings.take(offset, reading);
        }
        self.recordings.close(now, measured, offset);
    }

    async fn flush(&mut self) {
        self.set_sessions(&[]);
        let now = (self.options.clock)();
        let (Some(offset), Some(link)) = (self.clock.at(now), self.link.clone()) else {
            return;
        };
        self.recordings.close(now, now, offset);
        while self.recordings.is_ready() && self.send_frames(&link).await.is_ok() {}
    }

    async fn send_frames(&mut self, link: &Shared) -> Result<(), LinkError> {
        let Some(frames) = self.recordings.ready() else {
            return Ok(());
        };
        match post(link.as_ref(), "/fleet/v1/frames", &frames).await {
            Ok(sent) => self.shipper.spent(self.began.elapsed(), sent),
            // They would be refused again for ever.
            Err(LinkError::Refused {
                status: status @ (400 | 404 | 413),
                body,
            }) => {
                self.recordings.refused(&frames);
                tracing::warn!(
                    "the head refuses {} frames ({status}: {}); {} frames and readings are lost so far",
                    frames.frames.len(),
                    body.cause,
                    self.recordings.lost
                );
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.recordings.sent(&frames);
        Ok(())
    }
}

/// The system's clock.
pub fn now_ns() -> i64 {
    nanos(Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_is_heeded_while_a_request_is_under_way() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let options = Options {
            enrolled: Enrolled {
                head: format!("http://{}", listener.local_addr().unwrap()),
                host: "a".to_owned(),
                credential: "secret".to_owned(),
                ca: None,
                file: None,
            },
            nats: None,
            store: PathBuf::from("/nonexistent/store"),
            labels: BTreeMap::new(),
            rate: None,
            allow_sessions: false,
            actor: None,
            clock: Arc::new(now_ns),
        };
        let (stop, stopped) = watch::channel(false);
        let progress = Progress::default();
        let agent = run(
            options,
            HostState::default,
            None,
            Arc::default(),
            progress,
            stopped,
        );
        // A head that takes the connection and never answers.
        let stopping = async {
            let connection = listener.accept().await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            stop.send(true).unwrap();
            connection
        };
        let both = async { tokio::join!(agent, stopping) };
        let ended = tokio::time::timeout(Duration::from_secs(10), both).await;
        ended.unwrap().0.unwrap();
    }
}
