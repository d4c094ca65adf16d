//! The task that sends metrics and events to a collector of OpenTelemetry, by OTLP over HTTP with protobuf.
//!
//! Metrics are the newest values, every so often: those that are not taken are not sent again, as newer ones follow. Events wait in a
//! bounded queue until they are taken; what finds no room there, and what the collector refuses for good, is counted.

mod encode;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gtrace_devices::Metric;
use gtrace_event::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use prost::Message;
use tokio::sync::broadcast::{Receiver, error::TryRecvError};
use ureq::Agent;

use crate::alertmanager::BaseUrl;
use crate::hub::{Hub, News};
use crate::lock::lock;
use crate::supervise::{self, Backoff, Task, names};
use gtrace_outgoing as outgoing;

/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Between two looks for events.
const EVERY: Duration = Duration::from_secs(1);
/// Longest time between two heartbeats: one comes before each request.
const SILENCE: Duration = Duration::from_secs(60);
/// Events that wait for the collector.
const QUEUE: usize = 4096;
/// Events in one request.
const BATCH: usize = 256;
/// How much of an answer is read.
const ANSWER_BYTES: u64 = 64 * 1024;

/// Where to, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Base URL of the collector.
    pub url: BaseUrl,
    /// A file with the bearer token, read for each request.
    pub token_file: Option<PathBuf>,
    /// CA certificates, PEM, in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// Between two sendings of metrics.
    pub interval: Duration,
}

impl Options {
    fn agent(&self) -> Result<Agent, String> {
        let (is_https, ca) = (self.url.is_https(), self.ca_file.as_deref());
        outgoing::client(is_https, ca, "otlp_ca_file", TIMEOUT)
    }

    fn token(&self) -> Result<Option<String>, String> {
        let file = self.token_file.as_deref();
        file.map(|file| outgoing::token(file, "otlp_token_file"))
            .transpose()
    }
}

/// Checks what can be checked of `options` without a network: that token and CA certificates can be read.
///
/// # Errors
///
/// Which file, why, and what to do.
pub fn check(options: &Options) -> Result<(), String> {
    options.token()?;
    options.agent().map(drop)
}

/// What has become of a signal.
#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl Counts {
    fn add(count: &AtomicU64, number: usize) {
        count.fetch_add(number as u64, Ordering::Relaxed);
    }
}

/// What both runs of the task have: counters do not fall, and events do not get lost, when its thread is replaced.
#[derive(Debug, Default)]
struct Kept {
    metrics: Counts,
    logs: Counts,
    waiting: std::sync::Mutex<VecDeque<LogRecord>>,
}

/// Starts the task.
///
/// # Errors
///
/// If its thread cannot be started.
pub fn start(hub: &Arc<Hub>, options: Options) -> std::io::Result<()> {
    let task = Task::optional(names::OTLP, SILENCE);
    let (of_task, kept) = (Arc::clone(hub), Arc::<Kept>::default());
    hub.tasks.start(task, move |pulse| {
        let mut sender = Sender::new(options.clone(), Arc::clone(&kept));
        let mut live = of_task.subscribe().live;
        while !pulse.is_stopping() {
            supervise::beat();
            sender.take(&of_task, &mut live);
            sender.round(&of_task, Instant::now());
            pulse.wait(EVERY);
        }
        Ok(())
    })
}

/// Why a request was not taken.
enum Refusal {
    /// It may be later.
    Later(String),
    /// It never will be.
    Never(String),
}

/// One run of the task.
struct Sender {
    options: Options,
    kept: Arc<Kept>,
    /// Keeps a connection; made anew after a failure, with files that may have changed.
    agent: Option<Agent>,
    /// When metrics are due.
    metrics_due: Option<Instant>,
    backoff: Backoff,
    /// Not before this; only after a failure.
    retry: Option<Instant>,
}

impl Sender {
    fn new(options: Options, kept: Arc<Kept>) -> Self {
        Self {
            options,
            kept,
            agent: None,
            metrics_due: None,
            backoff: Backoff::default(),
            retry: None,
        }
    }

    /// Takes events that were published.
    fn take(&self, hub: &Hub, live: &mut Receiver<News>) {
        loop {
            match live.try_recv() {
                // What is published provisionally comes again.
                Ok(News::Event(published)) if published.id.is_some() => {
                    if published.change.is_none() {
                        let mut waiting = lock(&self.kept.waiting);
                        match waiting.len() < QUEUE {
                            true => waiting.push_back(encode::record(&published.event)),
                            false => Counts::add(&self.kept.logs.dropped, 1),
                        }
                    }
                }
                Ok(_) => {}
                Err(TryRecvError::Lagged(missed)) => {
                    hub.metrics.count_lost(names::OTLP, "events_missed", missed);
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    /// Sends what is due.
    fn round(&mut self, hub: &Hub, now: Instant) {
        let due = self.metrics_due.is_none_or(|due| due <= now);
        if due {
            self.metrics_due = now.checked_add(self.options.interval);
            self.publish(hub);
        }
        if self.retry.is_some_and(|at| now < at) {
            if due {
                Counts::add(&self.kept.metrics.failed, hub.samples.newest().len());
            }
            return;
        }
        let status = hub.status();
        let resource = encode::resource(&status);
        if due {
            let (newest, at) = (hub.samples.newest(), Timestamp::now());
            let latencies = encode::latencies(&hub.calls(), &hub.cuda().1, status.started, at);
            let points = newest.len() + encode::points(&latencies);
            let request = encode::metrics(&resource, &newest, latencies, at);
            let sent = self.post("metrics", &request.encode_to_vec());
            let kept = Arc::clone(&self.kept);
            if !self.settle(sent, &kept.metrics, points, now) {
                return;
            }
        }
        while !lock(&self.kept.waiting).is_empty() {
            let batch: Vec<LogRecord> = lock(&self.kept.waiting)
                .iter()
                .take(BATCH)
                .cloned()
                .collect();
            let count = batch.len();
            let sent = self.post("logs", &encode::logs(&resource, batch).encode_to_vec());
            let kept = Arc::clone(&self.kept);
            let goes_on = self.settle(sent, &kept.logs, count, now);
            if !goes_on {
                return;
            }
            lock(&kept.waiting).drain(..count);
        }
    }

    /// Counts what has become of `count` entries; whether the collector can be asked again at once.
    fn settle(
        &mut self,
        sent: Result<usize, Refusal>,
        counts: &Counts,
        count: usize,
        now: Instant,
    ) -> bool {
        match sent {
            Ok(rejected) => {
                let rejected = rejected.min(count);
                Counts::add(&counts.sent, count - rejected);
                Counts::add(&counts.dropped, rejected);
                if self.retry.take().is_some() {
                    tracing::info!("OTLP {} takes data again", self.options.url);
                }
                self.backoff.reset();
                true
            }
            Err(Refusal::Never(cause)) => {
                Counts::add(&counts.dropped, count);
                tracing::warn!("OTLP {} refuses data for good: {cause}", self.options.url);
                true
            }
            Err(Refusal::Later(cause)) => {
                Counts::add(&counts.failed, count);
                if self.retry.is_none() {
                    let url = &self.options.url;
                    tracing::warn!(
                        "OTLP {url} takes no data: {cause}; events are sent again until it does"
                    );
                }
                self.retry = now.checked_add(self.backoff.next(fastrand::f64()));
                false
            }
        }
    }

    /// Posts a request; how many of its entries were rejected.
    fn post(&mut self, signal: &str, body: &[u8]) -> Result<usize, Refusal> {
        supervise::beat();
        let agent = match self.agent.take() {
            Some(agent) => agent,
            None => self.options.agent().map_err(Refusal::Later)?,
        };
        let mut request = agent
            .post(format!("{}/v1/{signal}", self.options.url))
            .header("content-type", "application/x-protobuf");
        if let Some(token) = self.options.token().map_err(Refusal::Later)? {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request
            .send(body)
            .map_err(|error| Refusal::Later(error.to_string()))?;
        let status = response.status();
        let answer = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES)
            .read_to_vec();
        let answer = answer.unwrap_or_default();
        if status.is_success() {
            self.agent = Some(agent);
            // The answers to both signals are encoded alike. One that is no message says nothing of a rejection.
            let answer = ExportLogsServiceResponse::decode(answer.as_slice()).unwrap_or_default();
            let partial = answer.partial_success.unwrap_or_default();
            if !partial.error_message.is_empty() {
                let why = gtrace_api::text::clean(&partial.error_message);
                tracing::warn!(
                    "OTLP {}: {}",
                    self.options.url,
                    why.chars().take(200).collect::<String>()
                );
            }
            return Ok(usize::try_from(partial.rejected_log_records).unwrap_or(0));
        }
        let why = format!("it answered {status} to /v1/{signal}");
        // The statuses that the protocol's page calls retryable. A token that is wrong is a matter of the collector's configuration, which
        // somebody mends.
        match status.as_u16() {
            401 | 403 | 404 | 429 | 502 | 503 | 504 => Err(Refusal::Later(why)),
            _ => {
                self.agent = Some(agent);
                Err(Refusal::Never(why))
            }
        }
    }

    /// What became of both signals, as metrics of this task.
    fn publish(&self, hub: &Hub) {
        let mut metrics = Vec::new();
        for (signal, counts) in [("metrics", &self.kept.metrics), ("logs", &self.kept.logs)] {
            for (name, help, count) in [
                (
                    "gtrace_otlp_sent",
                    "Data points and events that the collector took",
                    &counts.sent,
                ),
                (
                    "gtrace_otlp_failed",
                    "Data points and events in requests that failed; events are sent again",
                    &counts.failed,
                ),
                (
                    "gtrace_otlp_dropped",
                    "Events that found no room, and what the collector refused for good",
                    &counts.dropped,
                ),
            ] {
                let count = count.load(Ordering::Relaxed) as f64;
                let labels = vec![("signal", signal.to_owned())];
                metrics.push(Metric::counter((name, ""), help, count).with(labels));
            }
        }
        metrics.push(Metric::gauge(
            ("gtrace_otlp_waiting_events", ""),
            "Events that wait for the collector",
            lock(&self.kept.waiting).len() as f64,
        ));
        hub.samples
            .publish_now(names::OTLP, self.options.interval, metrics);
    }
}
