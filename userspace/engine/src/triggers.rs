//! Triggers of the site: rules for samples and events that open an incident when they hold.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_api::Published;
use gtrace_devices::Metric;
use gtrace_event::{
    Event, EventId, Gpu, Kind, Occurrence, PciAddress, Provenance, Record, Severity, Timestamp,
    WitnessName,
};
use jiff::SignedDuration;
use serde::Deserialize;

use crate::clock;
use crate::hub::{Hub, News};
use crate::input::{InputSender, Observation};
use crate::lock::lock;
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
    /// Whether it was said; again only once it has not held.
    said: bool,
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
    said_at: Option<Timestamp>,
}

/// The rules at work.
#[derive(Debug)]
struct Watching {
    rules: Vec<(Rule, Known)>,
    /// Series for which a rule had no room.
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
            (self.since, self.said) = (None, false);
            return false;
        }
        let since = *self.since.get_or_insert(time);
        let held = time.duration_since(since) >= SignedDuration::from_secs(i64::from(rule.for_s));
        let says = held && !self.said;
        self.said |= held;
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
        self.said_at = self.said_at.filter(|at| at.as_second() < end);
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
        let is_said = self
            .said_at
            .is_some_and(|at| time.duration_since(at) < within);
        if self.sum < count || is_said {
            return false;
        }
        self.said_at = Some(time);
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
    waiting: Mutex<VecDeque<Batch>>,
    dropped: AtomicU64,
}

impl Subscriber for Queue {
    fn take(&self, batch: &Batch) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() < QUEUE {
            waiting.push_back(batch.clone());
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
    hub.tasks.start(task, move |pulse| {
        let mut watching = Watching::new(&triggers);
        let mut live = of_task.subscribe().live;
        let mut lost = 0;
        while !pulse.is_stopping() {
            let mut found = Vec::new();
            let batches = std::mem::take(&mut *lock(&queue.waiting));
            for batch in &batches {
                found.extend(watching.samples(batch));
            }
            watching.set_clock(Timestamp::now());
            loop {
                match live.try_recv() {
                    Ok(News::Event(published)) if is_final(&published) => {
                        let is_new = matches!(published.record, Record::Event(_));
                        found.extend(watching.event(&published.event, is_new));
                    }
                    Ok(_) => {}
                    Err(tokio::sync::broadcast::error::TryRecvError::Lagged(missed)) => {
                        let metrics = &of_task.metrics;
                        metrics.count_lost(names::TRIGGERS, "events_missed", missed);
                    }
                    Err(_) => break,
                }
            }
            let refused = watching.refused + queue.dropped.load(Ordering::Relaxed);
            if refused > lost {
                let metrics = &of_task.metrics;
                metrics.count_lost(names::TRIGGERS, "samples_missed", refused - lost);
                lost = refused;
            }
            for occurrence in found {
                let observation = Observation::once(WitnessName::Gtrace, occurrence);
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
    published.id.is_some() && !matches!(published.record, Record::Ack(_))
}

#[cfg(test)]
mod tests {
    use gtrace_devices::MetricKind;
    use gtrace_event::Witness;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_772_500_000 + second).unwrap()
    }

    fn watching(text: &str) -> Watching {
        Watching::new(&Triggers::parse(text).unwrap())
    }

    fn batch(second: i64, kind: MetricKind, values: &[(&str, f64)]) -> Batch {
        let metric = |(gpu, value): &(&str, f64)| Metric {
            name: "gtrace_gpu_temperature_celsius",
            help: "",
            unit: "celsius",
            kind,
            labels: vec![("gpu", (*gpu).to_owned())],
            value: *value,
        };
        Batch {
            component: "nvml",
            time: at(second),
            interval: Duration::from_secs(10),
            metrics: values.iter().map(metric).collect(),
        }
    }

    const HOT: &str = "[[trigger]]\nname = \"hot\"\nmetric = \"gtrace_gpu_temperature_celsius\"\n\
                       above = 85\nfor_s = 20\nseverity = \"critical\"";

    #[test]
    fn a_metric_has_to_stay_above_for_the_time_and_is_said_once_until_it_falls() {
        let mut watching = watching(HOT);
        let mut at = |second, value| {
            let values = [("0000:3b:00.0", value), ("0000:5e:00.0", 40.0)];
            let found = watching.samples(&batch(second, MetricKind::Gauge, &values));
            found.into_iter().next()
        };
        assert_eq!(at(0, 90.0), None);
        assert_eq!(at(10, 84.0), None);
        assert_eq!(at(20, 86.0), None);
        assert_eq!(at(30, 86.0), None);
        let found = at(40, 86.0).unwrap();
        assert_eq!(
            found.message,
            "hot: gtrace_gpu_temperature_celsius of gpu=0000:3b:00.0 is above 85 for 20 s"
        );
        assert_eq!(found.severity, Severity::Critical);
        assert_eq!(found.gpu.unwrap().pci.unwrap().to_string(), "0000:3b:00.0");
        assert_eq!(at(50, 90.0), None);
        assert_eq!(at(60, 80.0), None);
        assert_eq!(at(70, 90.0), None);
        assert!(at(90, 90.0).is_some());
    }

    #[test]
    fn the_time_begins_anew_after_a_gap_in_the_samples() {
        let mut watching = watching(HOT);
        let mut at = |second| {
            let values = [("0000:3b:00.0", 90.0)];
            watching
                .samples(&batch(second, MetricKind::Gauge, &values))
                .len()
        };
        assert_eq!([at(0), at(10), at(100), at(110), at(120)], [0, 0, 0, 0, 1]);
        assert_eq!([at(200), at(220)], [0, 0], "that was said");
    }

    #[test]
    fn series_that_are_sampled_no_more_make_room() {
        let mut watching = watching(HOT);
        let names: Vec<String> = (0..=SERIES).map(|n| format!("job-{n}")).collect();
        let all: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 90.0)).collect();
        for second in [0, 10] {
            watching.samples(&batch(second, MetricKind::Gauge, &all));
        }
        assert_eq!(watching.refused, 2);
        for second in [100, 120] {
            let found = watching.samples(&batch(second, MetricKind::Gauge, &all[SERIES..]));
            assert_eq!(found.len(), usize::from(second == 120));
        }
        assert_eq!(watching.refused, 2);
        assert_eq!(watching.rules[0].1.series.len(), 1);
    }

    #[test]
    fn a_counter_counts_by_its_rise_and_labels_select() {
        let text = "[[trigger]]\nname = \"rise\"\nmetric = \"gtrace_gpu_temperature_celsius\"\n\
                    above = 1\nlabels = { gpu = \"a\" }";
        let mut watching = watching(text);
        let mut at = |second, value| {
            let values = [("a", value), ("b", value * 100.0)];
            watching
                .samples(&batch(second, MetricKind::Counter, &values))
                .len()
        };
        assert_eq!(
            [at(0, 0.0), at(10, 10.0), at(20, 31.0), at(30, 60.0)],
            [0, 0, 1, 0]
        );
        // It began anew.
        assert_eq!([at(40, 0.0), at(50, 10.0), at(60, 40.0)], [0, 0, 1]);
    }

    fn event_of(kind: Kind, second: i64) -> Event {
        let mut occurrence = Occurrence::new(kind, Severity::Warning, "x");
        occurrence.provenance = Provenance::Kernel;
        let witness = Witness {
            source: WitnessName::Kmsg,
            count: 1,
            first_time: at(second),
        };
        Event::new(at(second), witness, occurrence)
    }

    #[test]
    fn a_clock_that_was_set_back_neither_hides_nor_adds_anything() {
        let mut hot = watching(HOT);
        let mut sampled = |second| {
            let values = [("0000:3b:00.0", 90.0)];
            hot.samples(&batch(second, MetricKind::Gauge, &values))
                .len()
        };
        assert_eq!([3600, 3610].map(&mut sampled), [0, 0]);
        assert_eq!([20, 30, 40].map(&mut sampled), [0, 0, 1]);
        let text = "[[trigger]]\nname = \"xids\"\nkind = \"xid\"\ncount = 3\nwithin_s = 60";
        let mut xids = watching(text);
        let mut happened = |second| {
            xids.set_clock(at(second));
            xids.event(&event_of(Kind::Xid, second), true).len()
        };
        assert_eq!([3600, 3601, 3602].map(&mut happened), [0, 0, 1]);
        assert_eq!([2, 3, 4].map(&mut happened), [0, 0, 1]);
    }

    #[test]
    fn what_comes_late_neither_hides_nor_adds_anything() {
        let text = "[[trigger]]\nname = \"xids\"\nkind = \"xid\"\ncount = 3\nwithin_s = 10";
        let mut xids = watching(text);
        let mut happened = |second| {
            xids.set_clock(at(102));
            xids.event(&event_of(Kind::Xid, second), true).len()
        };
        assert_eq!([100, 101, 80].map(&mut happened), [0, 0, 0]);
        assert_eq!([102, 85, 95].map(&mut happened), [1, 0, 0]);
    }

    #[test]
    fn a_correction_of_the_clock_by_less_than_a_second_changes_nothing() {
        let text = "[[trigger]]\nname = \"xids\"\nkind = \"xid\"\ncount = 2\nwithin_s = 1";
        let mut xids = watching(text);
        let mut happened = |second| {
            xids.set_clock(at(second));
            xids.event(&event_of(Kind::Xid, second), true).len()
        };
        // At 100.001 s, from when on the clock is 2 ms slower.
        assert_eq!([100, 99, 100].map(&mut happened), [0, 0, 1]);
    }

    #[test]
    fn events_are_counted_with_their_repeats_and_drills_are_not() {
        let text = "[[trigger]]\nname = \"calls\"\nkind = \"api_error\"\ncount = 5\nwithin_s = 60";
        let mut watching = watching(text);
        let event = |second: i64| event_of(Kind::ApiError, second);
        let mut first = event(0);
        assert!(watching.event(&first, true).is_empty());
        first.repeats = 3;
        first.last_time = Some(at(10));
        assert!(watching.event(&first, false).is_empty());
        assert!(watching.event(&first, false).is_empty(), "nothing new");
        let mut drill = event(11);
        drill.provenance = Provenance::Injected;
        assert!(watching.event(&drill, true).is_empty());
        let found = watching.event(&event(12), true);
        assert_eq!(
            found[0].message,
            "calls: api_error 5 times or more within 60 s"
        );
        assert!(
            watching.event(&event(13), true).is_empty(),
            "once in its time"
        );
        first.repeats = 20;
        first.last_time = Some(at(90));
        assert_eq!(watching.event(&first, false).len(), 1);
    }

    #[test]
    fn an_old_event_that_is_amended_after_a_restart_is_not_many_new_ones() {
        let text = "[[trigger]]\nname = \"calls\"\nkind = \"xid\"\ncount = 5\nwithin_s = 86400";
        let mut watching = watching(text);
        let event = |second: i64, repeats: u64| Event {
            repeats,
            ..event_of(Kind::Xid, second)
        };
        let mut old = event(0, 40);
        assert!(watching.event(&old, false).is_empty(), "nobody knows when");
        old.repeats = 43;
        old.last_time = Some(at(10));
        assert!(watching.event(&old, false).is_empty(), "three");
        // An event that others have pushed out is unknown again.
        for n in 0..EVENTS as u64 {
            let mut other = event(100, 0);
            other.provenance = Provenance::Kernel;
            let found = watching.event(&other, false);
            assert!(found.is_empty(), "{n}");
        }
        assert!(watching.event(&old, false).is_empty());
        let known = &watching.rules[0].1;
        assert_eq!((known.events.len(), known.order.len()), (EVENTS, EVENTS));
        // Many in one second are one entry.
        for _ in 0..100 {
            watching.event(&event(200, 0), true);
        }
        let known = &watching.rules[0].1;
        assert_eq!((known.times.len(), known.sum), (2, 103));
    }

    #[test]
    fn the_packaged_example_is_accepted() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/triggers.example.toml");
        assert_eq!(Triggers::load(&path).unwrap().0.len(), 3);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_name_and_the_reason() {
        let trigger = |rest: &str| format!("[[trigger]]\nname = \"x\"\n{rest}");
        for (text, says) in [
            (trigger(""), "either a metric or a kind"),
            (trigger("metric = \"m\""), "above or below"),
            (
                trigger("metric = \"m\"\nabove = 1\nbelow = 2"),
                "above or below",
            ),
            (trigger("metric = \"m\"\nabove = nan"), "above or below"),
            (
                trigger("metric = \"m\"\nabove = 1\ncount = 2"),
                "for events",
            ),
            (
                trigger("kind = \"xid\"\ncount = 0\nwithin_s = 60"),
                "count, from 1",
            ),
            (trigger("kind = \"xid\"\ncount = 1"), "within_s"),
            (
                trigger("kind = \"xid\"\nfor_s = 1\ncount = 1\nwithin_s = 1"),
                "for samples",
            ),
            (
                trigger("kind = \"site_trigger\"\ncount = 1\nwithin_s = 1"),
                "cannot wait",
            ),
            (trigger("kind = \"xyd\""), "xyd"),
            (trigger("colour = 1"), "colour"),
            (format!("{HOT}\n{HOT}"), "two triggers"),
            (HOT.replace("\"hot\"", "\"\""), "1 to 120"),
        ] {
            let why = Triggers::parse(&text).unwrap_err();
            assert!(why.contains(says), "{text}\n{why}");
        }
        assert!(Triggers::parse("").unwrap().is_empty());
    }
}
