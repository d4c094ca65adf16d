//! One Alertmanager: what it has taken, and what it is to get next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gtrace_event::{IncidentId, Timestamp};
use ureq::Agent;

use super::alert::Alert;
use super::{BaseUrl, Options};
use crate::supervise::{self, Backoff};
use gtrace_outgoing as outgoing;

/// How long a request may take, with its connection and its answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
/// Alertmanager takes an alert for resolved that was not repeated within its `resolve_timeout`, by default 5 minutes.
const REPEAT: Duration = Duration::from_secs(60);
/// Between two repetitions of an alert of which only annotations have changed.
const REFRESH: Duration = Duration::from_secs(5);
/// Alerts in one request.
const BATCH: usize = 64;
/// How much of an answer is read.
const ANSWER_BYTES: u64 = 4096;

/// What has become of alerts.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) sent: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) dropped: AtomicU64,
}

/// See the module.
pub(super) struct Target {
    pub(super) url: BaseUrl,
    pub(super) counts: Arc<Counts>,
    /// Keeps a connection; made anew after a failure, with files that may have changed.
    agent: Option<Agent>,
    taken: BTreeMap<IncidentId, Taken>,
    backoff: Backoff,
    /// Not before this; only after a failure.
    retry: Option<Instant>,
}

/// An alert as Alertmanager took it last.
struct Taken {
    alert: Alert,
    at: Instant,
}

impl Target {
    pub(super) fn new(url: BaseUrl, counts: Arc<Counts>) -> Self {
        Self {
            url,
            counts,
            agent: None,
            taken: BTreeMap::new(),
            backoff: Backoff::default(),
            retry: None,
        }
    }

    pub(super) fn is_failing(&self) -> bool {
        self.retry.is_some()
    }

    /// When `alert` is to be sent, from `now` on; `None`: there is nothing to send.
    fn due(&self, id: IncidentId, alert: &Alert, now: Instant) -> Option<Duration> {
        let Some(taken) = self.taken.get(&id) else {
            // What is over before it was sent is no news.
            return (!alert.is_resolved()).then_some(Duration::ZERO);
        };
        let differs =
            taken.alert.labels != alert.labels || taken.alert.is_resolved() != alert.is_resolved();
        let after = if differs {
            Duration::ZERO
        } else if taken.alert != *alert {
            REFRESH
        } else if alert.is_resolved() {
            return None;
        } else {
            REPEAT
        };
        Some(after.saturating_sub(now.saturating_duration_since(taken.at)))
    }

    /// How long until there is something to do; `None` for nothing.
    pub(super) fn next(
        &self,
        alerts: &BTreeMap<IncidentId, &Alert>,
        now: Instant,
    ) -> Option<Duration> {
        if let Some(at) = self.retry {
            return Some(at.saturating_duration_since(now));
        }
        let due = alerts
            .iter()
            .filter_map(|(id, alert)| self.due(*id, alert, now));
        due.min()
    }

    /// Sends what is due of `alerts`, unless it is too early to try again.
    pub(super) fn send(
        &mut self,
        alerts: &BTreeMap<IncidentId, &Alert>,
        options: &Options,
        now: Instant,
    ) {
        if self.retry.is_some_and(|at| now < at) {
            return;
        }
        let is_due = |(id, alert): &(&IncidentId, &&Alert)| {
            self.due(**id, alert, now).is_some_and(|d| d.is_zero())
        };
        let due: Vec<_> = alerts.iter().filter(is_due).collect();
        // After a failure an empty list where nothing is due: that it works again shows before the next incident.
        let empty = (due.is_empty() && self.is_failing()).then_some(&due[..]);
        for batch in due.chunks(BATCH).chain(empty) {
            let body = self.body(batch);
            supervise::beat();
            let count = body.len() as u64;
            if let Err(cause) = self.post(&body, options) {
                self.counts.failed.fetch_add(count, Ordering::Relaxed);
                self.fail(&cause, now);
                return;
            }
            self.counts.sent.fetch_add(count, Ordering::Relaxed);
            self.recover();
            for (id, alert) in batch {
                let alert = (**alert).clone();
                self.taken.insert(**id, Taken { alert, at: now });
            }
        }
    }

    /// The alerts of `batch`. Where labels have changed, the alert that they were before ends, as it is another one to
    /// Alertmanager.
    fn body(&self, batch: &[(&IncidentId, &&Alert)]) -> Vec<Alert> {
        let mut body = Vec::with_capacity(batch.len());
        let now = Timestamp::now();
        for (id, alert) in batch {
            let before = self.taken.get(id).map(|taken| &taken.alert);
            let before = before.filter(|before| before.labels != alert.labels);
            body.extend(before.map(|before| before.ended(now)));
            body.push(alert.not_after(now));
        }
        body
    }

    fn post(&mut self, body: &[Alert], options: &Options) -> Result<(), String> {
        let body = serde_json::to_vec(body).map_err(|error| error.to_string())?;
        let agent = match self.agent.take() {
            Some(agent) => agent,
            None => outgoing::agent(&options.certificates()?, TIMEOUT),
        };
        let mut request = agent
            .post(self.url.endpoint())
            .header("content-type", "application/json");
        if let Some(token) = options.token()? {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(&body[..]).map_err(|error| error.to_string())?;
        let status = response.status();
        let text = response.body_mut().with_config().limit(ANSWER_BYTES);
        let text = text.read_to_string().unwrap_or_default();
        if !status.is_success() {
            let text: String = text.trim().chars().take(200).collect();
            return Err(format!("it answered {status} {text:?}"));
        }
        self.agent = Some(agent);
        Ok(())
    }

    fn fail(&mut self, cause: &str, now: Instant) {
        if self.retry.is_none() {
            tracing::warn!(
                "Alertmanager {} does not take alerts: {cause}; they are sent again until it does",
                self.url
            );
        }
        self.retry = now.checked_add(self.backoff.next(fastrand::f64()));
    }

    fn recover(&mut self) {
        if self.retry.take().is_some() {
            tracing::info!("Alertmanager {} takes alerts again", self.url);
        }
        self.backoff.reset();
    }

    /// The hub knows the incident no longer; `newest` is its last state.
    pub(super) fn forget(&mut self, id: IncidentId, newest: &Alert) {
        let taken = self.taken.remove(&id);
        let is_taken = match &taken {
            Some(taken) => taken.alert.is_resolved() && newest.is_resolved(),
            None => newest.is_resolved(),
        };
        if !is_taken {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
