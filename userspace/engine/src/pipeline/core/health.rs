//! Health in the core: each record that is published goes to the fold, and the changes that follow go into the same
//! transaction. What is no event - a boot, a reset, time that has passed - is a record of its own, so that whoever
//! replays the store comes to the same states.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gtrace_devices::GpuInfo;
use gtrace_event::{
    Event, HealthAction, HealthNews, HealthRecord, HealthState, HealthSubject, Kind,
    MaintenanceWindow, Occasion, Occurrence, PciAddress, Provenance, Record, Severity, SubjectKind,
    Timestamp, WitnessName,
};
use gtrace_health::{Change, Fold, RuleError, Rules};
use gtrace_store::{HealthEntry, Reader, StoreError};

use super::State;
use crate::baseline::{self, Judgement};
use crate::clock;
use crate::component;
use crate::pipeline::outbox::Pending;

/// Between checks for what time and components have changed.
const TICK_EVERY: Duration = Duration::from_secs(5);
/// A snapshot is written after so many records, so that a start reads no more than these.
const SNAPSHOT_AFTER: u64 = 1000;
/// And at least so often, so that it does not go with the store's retention.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(24 * 3600);
/// The judgement of one component becomes a record at most this often.
const JUDGE_EVERY: Duration = Duration::from_secs(60);
/// A GPU that was there before the host was started has so long to be found again.
const MISSING_AFTER: Duration = Duration::from_secs(180);
/// An energy counter that has gone back by more than this was reset with its GPU, joules.
const ENERGY_BACK_J: f64 = 1.0;

/// See the module.
pub(super) struct Health {
    fold: Fold,
    ticked: Instant,
    started: Instant,
    /// Records since the newest snapshot.
    since_snapshot: u64,
    snapshot_at: Instant,
    /// GPUs that were there when the devices were last looked at.
    gpus: BTreeMap<PciAddress, Known>,
    /// When the judgement of a component last became a record, and which.
    judged: BTreeMap<&'static str, (HealthState, Instant)>,
    /// Whether GPUs that are missing since the boot have been looked for.
    looked_for_missing: bool,
}

#[derive(Default)]
struct Known {
    uuid: Option<String>,
    energy_j: Option<f64>,
}

impl Health {
    pub(super) fn new() -> Result<Self, RuleError> {
        let now = Instant::now();
        Ok(Self {
            fold: Fold::new(Rules::builtin()?),
            ticked: now,
            started: now,
            since_snapshot: 0,
            snapshot_at: now,
            gpus: BTreeMap::new(),
            judged: BTreeMap::new(),
            looked_for_missing: false,
        })
    }
}

/// Takes what the store has; whether there was a snapshot to begin with. Without one only events of `boot` count.
pub(super) fn replay(
    fold: &mut Fold,
    reader: &Reader,
    boot: Option<&str>,
) -> Result<bool, StoreError> {
    let mut entries = Vec::new();
    let found = reader.health(|entry| entries.push(entry))?;
    for entry in entries {
        match entry {
            HealthEntry::Event(event)
                if found || boot.is_none_or(|b| event.boot_id.as_deref() == Some(b)) =>
            {
                fold.event(&event);
            }
            HealthEntry::Event(_) => {}
            HealthEntry::Record(Record::Ack(ack)) => {
                fold.ack(&ack);
            }
            HealthEntry::Record(Record::Health(record)) => {
                fold.record(&record);
            }
            HealthEntry::Record(_) => {}
        }
    }
    Ok(found)
}

impl State {
    /// Takes up what earlier runs knew.
    pub(super) fn adopt_health(&mut self) {
        let read = Reader::open(&self.store_path)
            .and_then(|reader| replay(&mut self.health.fold, &reader, Some(&self.boot_id)));
        if let Err(error) = read {
            self.hub.suspect_store(&error);
            tracing::warn!("the health of earlier runs cannot be read back: {error}");
        }
        let any = self.health.fold.subjects().next().is_some();
        let boot = self.health.fold.boot();
        if boot.map_or(any, |boot| boot != self.boot_id) {
            self.observe_boot();
        }
        if any {
            self.snapshot_health();
        }
        self.show_health();
        self.send_batch();
    }

    /// Has the fold take a record that is published.
    pub(super) fn follow_health(&mut self, record: &Record, event: &Event) -> Vec<Change> {
        self.health.since_snapshot += 1;
        match record {
            Record::Event(_) | Record::Amendment(_) => self.health.fold.event(event),
            Record::Ack(ack) => self.health.fold.ack(ack),
            Record::Incident(_) | Record::Health(_) => Vec::new(),
        }
    }

    /// Puts what has changed into the batch.
    pub(super) fn record_health_changes(&mut self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        if self.health.fold.boot().is_none() {
            // The first thing that is known of this host: a later boot will be seen by it.
            self.observe_boot();
        }
        for Change { now, previous } in changes {
            let time = Timestamp::now();
            let subject = now.subject.clone();
            if now.state != previous {
                tracing::info!("{subject} is {}, was {previous}", now.state);
            }
            let now = Box::new(now);
            self.push_health(HealthRecord::new(
                time,
                HealthNews::Changed { now, previous },
            ));
        }
        self.show_health();
    }

    /// Records something that changes health and is no event.
    pub(super) fn observe_health(&mut self, occasion: Occasion) {
        if !self.has_room(1) {
            self.hub.metrics.count_lost("store", "queue_full", 1);
            return;
        }
        let record = HealthRecord::observed(Timestamp::now(), occasion);
        let changes = self.health.fold.record(&record);
        self.push_health(record);
        self.record_health_changes(changes);
    }

    fn observe_boot(&mut self) {
        let boot = self.boot_id.clone();
        self.observe_health(Occasion::Boot { boot });
    }

    fn push_health(&mut self, mut record: HealthRecord) {
        record.host = Some(self.host.clone());
        record.machine_id.clone_from(&self.machine_id);
        record.boot_id = Some(self.boot_id.clone());
        self.health.since_snapshot += 1;
        self.push(Pending::health(record));
    }

    fn show_health(&self) {
        let report = self.health.fold.report(Timestamp::now());
        self.hub
            .set_health_report(report, self.health.fold.dropped());
    }

    fn snapshot_health(&mut self) {
        let snapshot = Box::new(self.health.fold.snapshot());
        let news = HealthNews::Snapshot { snapshot };
        self.push_health(HealthRecord::new(Timestamp::now(), news));
        (self.health.since_snapshot, self.health.snapshot_at) = (0, Instant::now());
    }

    /// What time and components have changed.
    pub(super) fn tick_health(&mut self) {
        let now = Instant::now();
        if now.saturating_duration_since(self.health.ticked) < TICK_EVERY {
            return;
        }
        self.health.ticked = now;
        let time = Timestamp::now();
        if self.health.fold.due().is_some_and(|due| due <= time) {
            self.observe_health(Occasion::Quiet);
        }
        self.judge_components(now);
        self.look_for_missing(now);
        let due = self.health.since_snapshot >= SNAPSHOT_AFTER
            || now.saturating_duration_since(self.health.snapshot_at) >= SNAPSHOT_EVERY;
        if due && self.health.fold.subjects().next().is_some() && self.has_room(1) {
            self.snapshot_health();
        }
        self.send_batch();
    }

    /// At an end in order.
    pub(super) fn end_health(&mut self) {
        if self.health.since_snapshot > 0 && self.health.fold.subjects().next().is_some() {
            self.snapshot_health();
            self.amend();
        }
    }

    /// Components that judge what they watch are parts with a health. One that cannot judge is none, until it could.
    fn judge_components(&mut self, now: Instant) {
        for component in component::all() {
            let name = component.name();
            let Some(health) = self.hub.health(name) else {
                continue;
            };
            let subject = HealthSubject::new(SubjectKind::Component, name);
            let known = self.health.fold.subject(&subject).map(|s| s.state);
            let news = match (known, health.state) {
                (None, HealthState::Unknown) => false,
                (known, state) => known != Some(state),
            };
            let last = self.health.judged.get(name);
            let soon = last.is_some_and(|(_, at)| now.saturating_duration_since(*at) < JUDGE_EVERY);
            if !news || soon {
                continue;
            }
            self.health.judged.insert(name, (health.state, now));
            let action = match health.state {
                HealthState::Healthy | HealthState::Unknown => HealthAction::None,
                HealthState::Degraded | HealthState::Unhealthy => HealthAction::Watch,
            };
            self.observe_health(Occasion::Judged {
                subject,
                rule: "component".to_owned(),
                state: health.state,
                action,
                text: health.reasons.join("; "),
            });
        }
    }

    /// What differs from the baseline is a reason until it does so no more, and an event when it is news.
    pub(super) fn judge_baseline(&mut self, judgements: &[Judgement]) {
        for judgement in judgements {
            let subject = &judgement.subject;
            let known = self.health.fold.subject(subject);
            let mut reasons = known.iter().flat_map(|known| &known.reasons);
            let before = reasons
                .find(|reason| reason.rule == baseline::RULE)
                .map(|reason| reason.text.clone());
            let text = judgement.text();
            if before.unwrap_or_default() == text {
                continue;
            }
            let (state, action) = judgement.health();
            if state != HealthState::Healthy {
                self.ingest_one(WitnessName::Gtrace, judgement.occurrence(), 1);
            }
            self.observe_health(Occasion::Judged {
                subject: subject.clone(),
                rule: baseline::RULE.to_owned(),
                state,
                action,
                text,
            });
        }
        self.send_batch();
    }

    /// GPUs that are there, for the first time, again, or another in the place of one; and those that were reset.
    pub(super) fn find_gpus(&mut self, gpus: &[GpuInfo]) {
        let before = std::mem::take(&mut self.health.gpus);
        let mut occasions = Vec::new();
        for gpu in gpus {
            let old = before.get(&gpu.pci);
            let subject = HealthSubject::new(SubjectKind::Gpu, gpu.pci.to_string());
            let uuid = gpu
                .uuid
                .clone()
                .or_else(|| old.and_then(|old| old.uuid.clone()));
            let another = old.is_some_and(|old| old.uuid.is_some() && old.uuid != uuid);
            let known = self.health.fold.subject(&subject);
            let is_news = known.is_none_or(|known| {
                !known.reasons.is_empty() || uuid.is_some() && known.uuid != uuid
            });
            let named = old.is_some_and(|old| old.uuid.is_none()) && uuid.is_some();
            if (old.is_none() || named || another) && is_news {
                occasions.push(Occasion::Found {
                    subject: subject.clone(),
                    uuid: uuid.clone(),
                });
            }
            let energy = gpu.sample.as_ref().and_then(|sample| sample.power.energy_j);
            let old_energy = old.filter(|_| !another).and_then(|old| old.energy_j);
            let back = energy
                .zip(old_energy)
                .is_some_and(|(new, old)| new + ENERGY_BACK_J < old);
            if back {
                occasions.push(Occasion::GpuReset { subject });
            }
            let energy_j = energy.or(old_energy);
            self.health.gpus.insert(gpu.pci, Known { uuid, energy_j });
        }
        for occasion in occasions {
            self.observe_health(occasion);
        }
        self.send_batch();
    }

    /// A GPU that was there before the host was started and is not now is lost, though nothing reports it.
    fn look_for_missing(&mut self, now: Instant) {
        if self.health.looked_for_missing
            || self.health.gpus.is_empty()
            || now.saturating_duration_since(self.health.started) < MISSING_AFTER
        {
            return;
        }
        self.health.looked_for_missing = true;
        let unseen = self.health.fold.subjects().filter(|known| {
            let is_gpu = known.subject.part == SubjectKind::Gpu;
            is_gpu && known.state == HealthState::Unknown
        });
        let missing: Vec<PciAddress> = unseen
            .filter_map(|known| known.subject.name.parse().ok())
            .filter(|pci| !self.health.gpus.contains_key(pci))
            .collect();
        for pci in missing {
            let text = "GPU was there before the reboot and is not now";
            let mut occurrence = Occurrence::new(Kind::GpuLost, Severity::Fatal, text);
            occurrence.gpu = Some(gtrace_event::Gpu::at(pci));
            occurrence.provenance = Provenance::Kernel;
            occurrence.boottime_ns = Some(clock::boottime_ns());
            occurrence.detail.source.reason = Some(text.to_owned());
            self.ingest_one(WitnessName::SysfsPci, occurrence, 1);
        }
    }

    pub(super) fn begin_maintenance(
        &mut self,
        mut window: MaintenanceWindow,
    ) -> Result<MaintenanceWindow, String> {
        if !self.has_room(1) {
            return Err("the store takes nothing, and no more records may wait for it".to_owned());
        }
        let ends = window.until <= window.from;
        if let Some(on) = self
            .health
            .fold
            .maintenance()
            .filter(|w| w.is_on(window.from))
        {
            // One at a time: it ends, or another end is set.
            window.from = on.from;
        } else if ends {
            return Err("no maintenance window is on".to_owned());
        }
        let news = HealthNews::Maintenance {
            window: window.clone(),
        };
        let record = HealthRecord::new(Timestamp::now(), news);
        self.health.fold.record(&record);
        self.push_health(record);
        self.show_health();
        Ok(window)
    }
}

#[cfg(test)]
#[path = "health_tests.rs"]
mod tests;
