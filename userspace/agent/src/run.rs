//! The loop of an agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtrace_event::Timestamp;
use gtrace_fleet::{
    Action, BatchAnswer, ClockAnswer, ClockFilter, Exchange, HostState, Limits, Offset, Outcome,
    Position, Shipper, StateAnswer, encode,
};
use tokio::sync::{Notify, watch};

use crate::enroll::Enrolled;
use crate::frames::{Recordings, Sampler};
use crate::link::{HeadUrl, Link, LinkError};
use crate::source::{Place, Source};

/// How often the store is looked at where nobody says that it has grown.
const LOOK: Duration = Duration::from_secs(1);
/// Between measurements of the clock: with the drift that clocks may have, each ages by less than half a millisecond.
const CLOCK: Duration = Duration::from_secs(30);
/// Bytes of a state at most.
const STATE_MAX: usize = 448 * 1024;

/// How an agent works.
#[derive(Clone)]
pub struct Options {
    /// What enrolling gave.
    pub enrolled: Enrolled,
    /// The host's store.
    pub store: PathBuf,
    /// Where it stands.
    pub labels: BTreeMap<String, String>,
    /// Most bytes a second to the head, on average.
    pub rate: Option<u64>,
    /// Whether the head may start profiling sessions here.
    pub allow_sessions: bool,
}

/// What an agent has come to, for who watches it.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Mutex<Shown>>);

#[derive(Clone, Debug, Default)]
struct Shown {
    cursor: Option<Position>,
    caught_up: bool,
    error: Option<String>,
    sent_bytes: u64,
}

impl Progress {
    fn change(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn shown(&self) -> Shown {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether the head has all that the store had when it was last looked at.
    pub fn is_caught_up(&self) -> bool {
        self.shown().caught_up
    }

    /// The newest record that the head has.
    pub fn cursor(&self) -> Option<Position> {
        self.shown().cursor
    }

    /// Why the last request failed; `None` where it did not.
    pub fn error(&self) -> Option<String> {
        self.shown().error
    }

    /// Bytes of batches and states that were sent.
    pub fn sent_bytes(&self) -> u64 {
        self.shown().sent_bytes
    }
}

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
    let url: HeadUrl = options.enrolled.head.parse()?;
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
        link: None,
        tip: None,
        warned: None,
        options,
        url,
        state,
        sampler,
        progress,
    };
    loop {
        let wait = agent.round().await;
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = woken.notified() => {
                agent.shipper.grew();
                agent.shipper.state_changed();
            }
            () = async { drop(stop.wait_for(|end| *end).await) } => return Ok(()),
        }
    }
}

struct Agent<S> {
    options: Options,
    url: HeadUrl,
    state: S,
    sampler: Option<Box<dyn Sampler>>,
    source: Source,
    shipper: Shipper,
    clock: ClockFilter,
    measured: Option<Instant>,
    began: Instant,
    recordings: Recordings,
    sampled: Instant,
    link: Option<Link>,
    tip: Option<u64>,
    warned: Option<String>,
    progress: Progress,
}

impl<S: FnMut() -> HostState> Agent<S> {
    /// Does one thing; how long to wait before the next.
    async fn round(&mut self) -> Duration {
        self.sample();
        // Whoever writes the store may not be in this process.
        if let Ok(tip) = self.source.tip()
            && self.tip.replace(tip) != Some(tip)
        {
            self.shipper.grew();
            self.shipper.state_changed();
        }
        let now = self.began.elapsed();
        let action = self.shipper.next(now);
        let done = match action {
            Action::WaitUntil(until) => {
                if let Err(error) = self.send_frames().await {
                    self.failed(&error);
                }
                let wait = until.saturating_sub(now).min(LOOK);
                let sample = self
                    .recordings
                    .interval_ms()
                    .filter(|_| self.sampler.is_some());
                return match sample {
                    Some(ms) => wait.min(Duration::from_millis(u64::from(ms))),
                    None => wait,
                };
            }
            Action::SendState => self.send_state().await.map(Some),
            Action::SendBatch { cursor } => self.send_batch(cursor).await,
        };
        let outcome = match done {
            // Nothing to send, and nothing was asked.
            Ok(None) => {
                self.progress.change(|shown| shown.caught_up = true);
                return Duration::ZERO;
            }
            Ok(Some((cursor, sent))) => {
                self.warned = None;
                self.progress.change(|shown| {
                    shown.cursor = cursor;
                    shown.error = None;
                    shown.sent_bytes += sent as u64;
                });
                Outcome::Answered { cursor, sent }
            }
            Err(error) => {
                self.failed(&error);
                Outcome::Failed
            }
        };
        let chance = fastrand::f64();
        self.shipper.ended(self.began.elapsed(), outcome, chance);
        Duration::ZERO
    }

    fn failed(&mut self, error: &LinkError) {
        if matches!(error, LinkError::Unreachable { .. }) {
            self.link = None;
        }
        let text = error.to_string();
        self.progress
            .change(|shown| shown.error = Some(text.clone()));
        // Once for each reason: a head may be away for days.
        if self.warned.as_ref() != Some(&text) {
            tracing::warn!("{text}; records wait in the store");
            self.warned = Some(text);
        }
    }

    async fn link(&mut self) -> Result<Link, LinkError> {
        match &self.link {
            Some(link) => Ok(link.clone()),
            None => {
                let ca = self.options.enrolled.ca.as_deref();
                let link = Link::connect(&self.url, ca).await?;
                Ok(self.link.insert(link).clone())
            }
        }
    }

    async fn send_state(&mut self) -> Result<(Option<Position>, usize), LinkError> {
        let link = self.link().await?;
        self.measure_clock(&link).await?;
        let mut state = (self.state)();
        state.tip = self.tip.unwrap_or_default();
        state.labels.clone_from(&self.options.labels);
        state.clock = self.clock.at(now_ns());
        bound(&mut state);
        let credential = Some(self.options.enrolled.credential.as_str());
        let (answer, sent) = link
            .post::<StateAnswer>("/fleet/v1/state", credential, &state)
            .await?;
        // What a head may ask is this list, and the host permits it or not.
        match self.options.allow_sessions {
            true => self.recordings.set(&answer.measure),
            false => self.recordings.set(&[]),
        }
        Ok((answer.cursor, sent))
    }

    /// `None` where there is nothing to send.
    async fn send_batch(
        &mut self,
        cursor: Option<Position>,
    ) -> Result<Option<(Option<Position>, usize)>, LinkError> {
        let link = self.link().await?;
        let unreadable =
            |error: gtrace_store::StoreError| LinkError::NotUnderstood(error.to_string());
        let mut place = self.source.place(cursor);
        if let Ok(Place::Unknown) = place {
            // The store was replaced, or a backup of it was put back.
            let credential = &self.options.enrolled.credential;
            let earlier: Vec<Position> = link.get("/fleet/v1/cursors", credential).await?;
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
        let body = encode(&batch).map_err(|e| LinkError::NotUnderstood(e.to_string()))?;
        let sent = body.len();
        let credential = Some(self.options.enrolled.credential.as_str());
        let (_, answer) = link
            .send("POST", "/fleet/v1/batch", credential, body)
            .await?;
        let answer: BatchAnswer =
            serde_json::from_slice(&answer).map_err(|e| LinkError::NotUnderstood(e.to_string()))?;
        Ok(Some((answer.cursor, sent)))
    }

    async fn measure_clock(&mut self, link: &Link) -> Result<(), LinkError> {
        if self.measured.is_some_and(|at| at.elapsed() < CLOCK) {
            return Ok(());
        }
        // Several, of which the quickest counts.
        for _ in 0..4 {
            let asked = now_ns();
            let credential = &self.options.enrolled.credential;
            let ClockAnswer { taken, answered } = link.get("/fleet/v1/clock", credential).await?;
            let got = now_ns();
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
        let Some(ms) = self.recordings.interval_ms() else {
            return;
        };
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        // Other rounds come in between.
        if self.sampled.elapsed() + Duration::from_millis(1) < Duration::from_millis(u64::from(ms))
        {
            return;
        }
        self.sampled = Instant::now();
        let read = sampler.sample();
        let now = now_ns();
        // Without a measured clock nobody can say when it was.
        let unknown = Offset {
            offset_ns: 0,
            error_ns: i64::MAX / 4,
        };
        let offset = self.clock.at(now).unwrap_or(unknown);
        self.recordings.take(now, offset, &read);
    }

    async fn send_frames(&mut self) -> Result<(), LinkError> {
        let Some(frames) = self.recordings.ready() else {
            return Ok(());
        };
        let link = self.link().await?;
        let credential = Some(self.options.enrolled.credential.as_str());
        link.post::<()>("/fleet/v1/frames", credential, &frames)
            .await?;
        self.recordings.sent(&frames);
        Ok(())
    }
}

/// Makes a state small enough: what is bad stays longest.
fn bound(state: &mut HostState) {
    if let Some(report) = &mut state.health {
        for subject in &mut report.subjects {
            subject.past.clear();
        }
        report.subjects.retain(|subject| {
            subject.state.is_bad() || subject.subject.part == gtrace_event::SubjectKind::Host
        });
        report.subjects.truncate(64);
    }
    let surplus = state.incidents.len().saturating_sub(32);
    state.incidents.drain(..surplus);
    while serde_json::to_vec(state).is_ok_and(|text| text.len() > STATE_MAX) {
        if state.incidents.is_empty() {
            state.health = None;
            break;
        }
        let half = state.incidents.len().div_ceil(2);
        state.incidents.drain(..half);
    }
}

fn now_ns() -> i64 {
    i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}
