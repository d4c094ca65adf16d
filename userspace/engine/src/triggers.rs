//! Triggers of the site: rules for samples and events that open an incident when they hold.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_api::Published;
use gtrace_devices::Metric;
use gtrace_event::{
    Event, EventChange, EventId, Gpu, Kind, Occurrence, PciAddress, Provenance, Severity,
    Timestamp, WitnessName,
};
use jiff::SignedDuration;
use serde::Deserialize;
use tokio::sync::broadcast::{Receiver, error::TryRecvError};

use crate::clock;
use crate::hub::{Hub, News};
use crate::input::{Input, InputSender};
use crate::lock::lock;
use crate::metrics::Metrics;
use crate::samples::{Batch, Subscriber, is_stale};
use crate::supervise::{Task, names};

/// Most rules in a file.
const RULES: usize = 64;
/// Longest name of a rule, characters.
const NAME_MAX: usize = 120;
/// Series of one rule that are followed, of those that are sampled; further ones are counted.
const SERIES: usize = 512;
/// Events whose repeats are known to one rule.
const EVENTS: usize = 4096;
/// Batches of samples that wait for the thread.
const QUEUE: usize = 256;
/// Between two rounds.
const EVERY: Duration = Duration::from_secs(1);
/// After so long without a sample of its metric a rule is named in the log.
const UNSEEN: Duration = Duration::from_secs(900);

/// A file of triggers that is refused.
#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    /// It cannot be read.
    #[error("triggers {path} cannot be read: {cause}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// It is not understood.
    #[error("triggers {path} are refused: {cause}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where, and why.
        cause: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    trigger: Vec<Rule>,
}

/// A rule as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: String,
    #[serde(default = "warning")]
    severity: Severity,
    /// A metric as `/metrics` has it, without the `_total` of a counter, which counts by its rise in a second.
    metric: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    above: Option<f64>,
    below: Option<f64>,
    #[serde(default)]
    for_s: u32,
    /// A kind of event.
    kind: Option<Kind>,
    count: Option<u64>,
    within_s: Option<u32>,
}

fn warning() -> Severity {
    Severity::Warning
}

/// The rules of a site.
#[derive(Clone, Debug, Default)]
pub struct Triggers(Vec<Rule>);

impl Triggers {
    /// Reads the file `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or a rule makes no sense.
    pub fn load(path: &Path) -> Result<Self, TriggerError> {
        let text = std::fs::read_to_string(path).map_err(|cause| TriggerError::Read {
            path: path.to_owned(),
            cause,
        })?;
        Self::parse(&text).map_err(|cause| TriggerError::Parse {
            path: path.to_owned(),
            cause,
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let RuleFile { trigger: rules } =
            toml::from_str(text).map_err(|error| error.to_string())?;
        if rules.len() > RULES {
            return Err(format!(
                "there are {} triggers, and {RULES} may be",
                rules.len()
            ));
        }
        for (nth, rule) in rules.iter().enumerate() {
            rule.check()
                .map_err(|why| format!("trigger {:?}: {why}", rule.name))?;
            if rules[..nth].iter().any(|other| other.name == rule.name) {
                return Err(format!("there are two triggers {:?}", rule.name));
            }
        }
        Ok(Self(rules))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        let length = self.name.chars().count();
        if length == 0 || length > NAME_MAX || self.name.chars().any(char::is_control) {
            return Err(format!(
                "its name has to have 1 to {NAME_MAX} printable characters"
            ));
        }
        let metric = self.metric.as_deref();
        if let Some(counter) = metric.and_then(|metric| metric.strip_suffix("_total")) {
            return Err(format!("a counter is named without _total: {counter:?}"));
        }
        let of_events = self.count.is_some() || self.within_s.is_some();
        let of_samples = self.above.is_some()
            || self.below.is_some()
            || self.for_s > 0
            || !self.labels.is_empty();
        match (&self.metric, self.kind) {
            (Some(_), None) if of_events => Err("count and within_s are for events".to_owned()),
            (Some(_), None) => match (self.above, self.below) {
                (Some(limit), None) | (None, Some(limit)) if limit.is_finite() => Ok(()),
                _ => Err("give either above or below, a number".to_owned()),
            },
            (None, Some(_)) if of_samples => {
                Err("above, below, for_s and labels are for samples".to_owned())
            }
            (None, Some(Kind::SiteTrigger)) => Err("a trigger cannot wait for triggers".to_owned()),
            (None, Some(_)) => match (self.count, self.within_s) {
                (Some(1..), Some(1..=86_400)) => Ok(()),
                _ => Err("give count, from 1, and within_s, from 1 to 86400".to_owned()),
            },
            _ => Err("give either a metric or a kind of event".to_owned()),
        }
    }

    fn matches(&self, metric: &Metric) -> bool {
        let named = self.metric.as_deref() == Some(metric.name);
        named
            && self.labels.iter().all(|(name, value)| {
                let mut labels = metric.labels.iter();
                labels.any(|(label, given)| label == name && given == value)
            })
    }

    fn holds(&self, value: f64) -> bool {
        self.above.is_some_and(|limit| value > limit)
            || self.below.is_some_and(|limit| value < limit)
    }

    fn occurrence(&self, what: String, gpu: Option<PciAddress>) -> Occurrence {
        let message = format!("{}: {what}", self.name);
        let mut occurrence = Occurrence::new(Kind::SiteTrigger, self.severity, message);
        occurrence.provenance = Provenance::Kernel;
        occurrence.boottime_ns = Some(clock::boottime_ns());
        occurrence.gpu = gpu.map(Gpu::at);
        occurrence
    }

    fn of_sample(&self, metric: &Metric) -> Occurrence {
        let label = |(name, value): &(&str, String)| format!("{name}={value}");
        let labels: Vec<String> = metric.labels.iter().map(label).collect();
        let of = match labels.is_empty() {
            true => String::new(),
            false => format!(" of {}", labels.join(", ")),
        };
        let rises = match metric.kind {
            gtrace_devices::MetricKind::Counter => " in a second",
            gtrace_devices::MetricKind::Gauge => "",
        };
        let limit = match (self.above, self.below) {
            (Some(limit), _) => format!("above {limit}"),
            (_, Some(limit)) => format!("below {limit}"),
            _ => String::new(),
        };
        let time = match self.for_s {
            0 => String::new(),
            seconds => format!(" for {seconds} s"),
        };
        let gpu = metric.labels.iter().find(|(name, _)| *name == "gpu");
        let gpu = gpu.and_then(|(_, value)| PciAddress::parse(value));
        self.occurrence(format!("{}{of} is {limit}{rises}{time}", metric.name), gpu)
    }
}

/// What a rule knows of one series.
#[derive(Debug, Default)]
struct Series {
    /// Of a counter.
    before: Option<(Timestamp, f64)>,
    /// Since when the rule holds.
    since: Option<Timestamp>,
    /// Whether it has fired; again only once it has not held.
    fired: bool,
    /// When it was sampled last.
    seen: Option<Timestamp>,
}

/// What a rule knows.
#[derive(Debug, Default)]
struct Known {
    series: HashMap<Vec<(&'static str, String)>, Series>,
    /// How often its kind occurred, by second, and all of it.
    times: BTreeMap<i64, u64>,
    sum: u64,
    /// How often each event was seen to occur, and the order in which they were seen first.
    events: BTreeMap<EventId, u64>,
    order: VecDeque<EventId>,
    fired_at: Option<Timestamp>,
}

/// The rules at work.
#[derive(Debug)]
struct Watching {
    rules: Vec<(Rule, Known)>,
    /// Series for which a rule had no room since that was counted.
    refused: u64,
}

impl Watching {
    fn new(triggers: &Triggers) -> Self {
        let rules = triggers.0.iter();
        Self {
            rules: rules.map(|rule| (rule.clone(), Known::default())).collect(),
            refused: 0,
        }
    }

    fn samples(&mut self, batch: &Batch) -> Vec<Occurrence> {
        let mut found = Vec::new();
        for (rule, known) in &mut self.rules {
            for metric in batch.metrics.iter().filter(|metric| rule.matches(metric)) {
                if known.series.len() >= SERIES && !known.series.contains_key(&metric.labels) {
                    known.series.retain(|_, series| !series.is_gone(batch));
                    if known.series.len() >= SERIES {
                        self.refused += 1;
                        continue;
                    }
                }
                let series = known.series.entry(metric.labels.clone()).or_default();
                if series.take(rule, metric, batch) {
                    found.push(rule.of_sample(metric));
                }
            }
        }
        found
    }

    /// Takes all that has come, and counts what was missed; what begins with it.
    fn round(
        &mut self,
        queue: &Queue,
        live: &mut Receiver<News>,
        metrics: &Metrics,
    ) -> Vec<Occurrence> {
        let mut found = Vec::new();
        let batches = std::mem::take(&mut *lock(&queue.waiting));
        for batch in &batches {
            found.extend(self.samples(batch));
        }
        self.set_clock(Timestamp::now());
        loop {
            match live.try_recv() {
                Ok(News::Event(published)) if is_final(&published) => {
                    found.extend(self.event(&published.event, published.change.is_none()));
                }
                Ok(_) => {}
                Err(TryRecvError::Lagged(missed)) => {
                    metrics.count_lost(names::TRIGGERS, "events_missed", missed);
                }
                Err(_) => break,
            }
        }
        let missed = std::mem::take(&mut self.refused) + queue.dropped.swap(0, Ordering::Relaxed);
        if missed > 0 {
            metrics.count_lost(names::TRIGGERS, "samples_missed", missed);
        }
        found
    }

    /// The rules for samples that have followed none.
    fn unseen(&self) -> impl Iterator<Item = &Rule> {
        let of_samples =
            |(rule, known): &&(Rule, Known)| rule.metric.is_some() && known.series.is_empty();
        let unseen = self.rules.iter().filter(of_samples);
        unseen.map(|(rule, _)| rule)
    }

    /// What the wall clock shows: it may have been set back.
    fn set_clock(&mut self, now: Timestamp) {
        for (rule, known) in &mut self.rules {
            if let Some(within_s) = rule.within_s {
                known.forget_ahead(now, within_s);
            }
        }
    }

    /// `is_new`: it is the event's first record.
    fn event(&mut self, event: &Event, is_new: bool) -> Vec<Occurrence> {
        let mut found = Vec::new();
        let counts = event.provenance == Provenance::Kernel;
        for (rule, known) in self.rules.iter_mut().filter(|_| counts) {
            if rule.kind == Some(event.kind)
                && let (Some(count), Some(within)) = (rule.count, rule.within_s)
                && known.take(event, is_new, count, within)
            {
                let (kind, gpu) = (event.kind, event.gpu.as_ref().and_then(|gpu| gpu.pci));
                let what = format!("{kind} {count} times or more within {within} s");
                found.push(rule.occurrence(what, gpu));
            }
        }
        found
    }
}

impl Series {
    /// Whether it was not sampled for more than three intervals before `batch`, or the clock was set back by more.
    fn is_gone(&self, batch: &Batch) -> bool {
        let apart = |seen: Timestamp| batch.time.duration_since(seen).unsigned_abs();
        self.seen
            .is_some_and(|seen| is_stale(batch.interval, apart(seen)))
    }

    /// Whether the rule has begun to hold for long enough.
    fn take(&mut self, rule: &Rule, metric: &Metric, batch: &Batch) -> bool {
        if self.is_gone(batch) {
            // Nobody knows whether it held meanwhile.
            self.since = None;
        }
        let time = batch.time;
        self.seen = Some(time);
        let value = match metric.kind {
            gtrace_devices::MetricKind::Gauge => Some(metric.value),
            gtrace_devices::MetricKind::Counter => {
                let before = self.before.replace((time, metric.value));
                before.and_then(|(at, before)| {
                    let seconds = time.duration_since(at).as_secs_f64();
                    (seconds > 0.0 && metric.value >= before)
                        .then(|| (metric.value - before) / seconds)
                })
            }
        };
        let Some(value) = value else { return false };
        if !rule.holds(value) {
            (self.since, self.fired) = (None, false);
            return false;
        }
        let since = *self.since.get_or_insert(time);
        let held = time.duration_since(since) >= SignedDuration::from_secs(i64::from(rule.for_s));
        let says = held && !self.fired;
        self.fired |= held;
        says
    }
}

impl Known {
    /// Forgets what lies ahead of `now` by the time of the rule: it was counted before the clock was set back. What a correction of
    /// less leaves ahead counts on.
    fn forget_ahead(&mut self, now: Timestamp, within_s: u32) {
        // A correction of some milliseconds may be a second more or less.
        let end = now.as_second().saturating_add(i64::from(within_s.max(2)));
        self.sum -= self.times.split_off(&end).into_values().sum::<u64>();
        self.fired_at = self.fired_at.filter(|at| at.as_second() < end);
    }

    /// Whether events have become too many.
    fn take(&mut self, event: &Event, is_new: bool, count: u64, within_s: u32) -> bool {
        let new = self.new_of(event, is_new);
        if new == 0 {
            return false;
        }
        let time = event.last_time.unwrap_or(event.time);
        let within = SignedDuration::from_secs(i64::from(within_s));
        let second = time.as_second();
        *self.times.entry(second).or_default() += new;
        self.sum += new;
        // It may come later than others that happened after it.
        let newest = self.times.last_key_value().map_or(second, |(at, _)| *at);
        while let Some(oldest) = self.times.first_entry()
            && newest.saturating_sub(*oldest.key()) >= i64::from(within_s)
        {
            self.sum -= oldest.remove();
        }
        let has_fired = self
            .fired_at
            .is_some_and(|at| time.duration_since(at) < within);
        if self.sum < count || has_fired {
            return false;
        }
        self.fired_at = Some(time);
        true
    }

    /// How often it occurred since it was last seen. Of one that is unknown and not new, as after a restart, nobody knows when
    /// it did.
    fn new_of(&mut self, event: &Event, is_new: bool) -> u64 {
        let count = event.repeats.saturating_add(1);
        if let Some(seen) = self.events.get_mut(&event.id) {
            let new = count.saturating_sub(*seen);
            *seen = count.max(*seen);
            return new;
        }
        self.events.insert(event.id, count);
        self.order.push_back(event.id);
        if self.order.len() > EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.events.remove(&oldest);
        }
        if is_new { count } else { 0 }
    }
}

/// Batches on their way to the thread.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<VecDeque<Arc<Batch>>>,
    dropped: AtomicU64,
}

impl Subscriber for Queue {
    fn take(&self, batch: &Arc<Batch>) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() < QUEUE {
            waiting.push_back(Arc::clone(batch));
        } else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Starts the task that watches for what `triggers` say. What they find goes to `inputs`.
///
/// # Errors
///
/// If its thread cannot be started.
pub fn start(hub: &Arc<Hub>, inputs: InputSender, triggers: Triggers) -> std::io::Result<()> {
    let queue = Arc::new(Queue::default());
    hub.samples
        .subscribe(Arc::clone(&queue) as Arc<dyn Subscriber>);
    let task = Task::optional(names::TRIGGERS, Duration::from_secs(60));
    let of_task = Arc::clone(hub);
    // Kept where the thread is started again: what was reported is not reported once more.
    let watching = Mutex::new(Watching::new(&triggers));
    hub.tasks.start(task, move |pulse| {
        let mut live = of_task.subscribe().live;
        let started = Instant::now();
        let mut is_checked = false;
        while !pulse.is_stopping() {
            let found = lock(&watching).round(&queue, &mut live, &of_task.metrics);
            if !is_checked && started.elapsed() >= UNSEEN {
                is_checked = true;
                for rule in lock(&watching).unseen() {
                    tracing::warn!(
                        "trigger {:?} has seen no sample: nothing samples {:?} with its labels so far; `gtrace samples` lists \
                         the metrics that there are",
                        rule.name,
                        rule.metric.as_deref().unwrap_or_default()
                    );
                }
            }
            for occurrence in found {
                let observation = Input::once(WitnessName::Gtrace, occurrence);
                if inputs.send(observation).is_err() {
                    return Ok(());
                }
            }
            pulse.wait(EVERY);
        }
        Ok(())
    })
}

/// What is published provisionally comes again. That somebody has seen an event is no occurrence of it.
fn is_final(published: &Published) -> bool {
    published.id.is_some() && !matches!(published.change, Some(EventChange::Ack(_)))
}

#[cfg(test)]
mod tests;
