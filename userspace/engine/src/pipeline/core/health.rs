//! Health in the core: each record that is published goes to the fold, and the changes that follow go into the same
//! transaction. What is no event - a boot, a reset, time that has passed - is a record of its own, so that whoever
//! replays the store comes to the same states.

mod judgements;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_devices::{GpuInfo, HostNews, RUNS_AGAIN};
use gtrace_event::{
    Event, EventChange, EventId, HealthAction, HealthNews, HealthRecord, HealthState,
    HealthSubject, Kind, MaintenanceWindow, Occasion, Occurrence, PciAddress, Provenance, Record,
    Severity, SubjectHealth, SubjectKind, Timestamp, WitnessName,
};
use gtrace_health::{Change, Fold, NOT_SEEN, RuleError, Rules};
use gtrace_store::{Filter, HealthEntry, Reader, StoreError};

use super::State;
use super::commands::NO_ROOM;
use crate::clock;
use crate::component;
use crate::input::Observation;
use crate::pipeline::SiteRules;
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
/// So many of the newest events of services are looked through for what is known of one.
const HOST_NEWS_MAX: usize = 1000;
/// An energy counter that has gone back by more than this was reset with its GPU, joules.
const ENERGY_BACK_J: f64 = 1.0;

/// Most occasions that wait for room in the store.
const OCCASIONS_MAX: usize = 1024;

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
    /// Whether they were ever looked at.
    looked_at_gpus: bool,
    /// NVSwitches that were there when PCI was last looked at.
    nvswitches: Vec<PciAddress>,
    /// When the judgement of a component last became a record, and which.
    judged: BTreeMap<&'static str, (HealthState, Instant)>,
    /// Whether GPUs that are missing since the boot have been looked for.
    looked_for_missing: bool,
    /// What was observed and has no record yet, in the order in which it came.
    waiting: VecDeque<Waiting>,
}

/// Something that was observed while the store had no room.
struct Waiting {
    /// When, since boot.
    at_ns: u64,
    /// The same by the wall clock.
    time: Timestamp,
    occasion: Occasion,
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
            looked_at_gpus: false,
            nvswitches: Vec::new(),
            judged: BTreeMap::new(),
            looked_for_missing: false,
            waiting: VecDeque::new(),
        })
    }

    /// Whether something that was observed waits for room in the store.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// When the first of it was observed, since boot.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        self.waiting.front().map(|first| first.at_ns)
    }

    /// GPUs that nobody has seen since the boot, once there was time for it and somebody has looked. Whatever else is known of
    /// them, and also where the host has no GPU at all.
    fn missing(&self, now: Instant) -> Option<Vec<PciAddress>> {
        let waits = now.saturating_duration_since(self.started) < MISSING_AFTER;
        if self.looked_for_missing || !self.looked_at_gpus || waits {
            return None;
        }
        let unseen = self.fold.subjects().filter(|known| {
            let mut reasons = known.reasons.iter();
            known.subject.part == SubjectKind::Gpu && reasons.any(|r| r.rule == NOT_SEEN)
        });
        let unseen = unseen.filter_map(|known| known.subject.name.parse().ok());
        Some(unseen.filter(|pci| !self.gpus.contains_key(pci)).collect())
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

/// Whether the judgement of a component is news: of another state, or, unless it is well, for another reason.
fn is_news(known: Option<&SubjectHealth>, state: HealthState, text: &str) -> bool {
    let Some(known) = known else {
        return state != HealthState::Unknown;
    };
    let mut reasons = known.reasons.iter();
    let before = reasons.find(|reason| reason.rule == component::RULE);
    let before = before.map_or("", |reason| reason.text.as_str());
    known.state != state || state != HealthState::Healthy && words(before).ne(words(text))
}

/// A text without its figures and times of day, which change while it says the same.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| {
        let of_digits = |byte: u8| byte.is_ascii_digit() || b".:,;%".contains(&byte);
        // An address of PCI has both.
        let is_address = word.contains(':') && word.contains('.');
        is_address || !word.bytes().all(of_digits)
    })
}

impl State {
    /// Takes up what earlier runs knew; where the store was found damaged, of the damaged file.
    pub(super) fn adopt_health(&mut self, damaged: Option<&Path>) {
        let read = Reader::open(damaged.unwrap_or(&self.store_path))
            .and_then(|reader| replay(&mut self.health.fold, &reader, Some(&self.boot_id)));
        match read {
            Ok(true) => self.hub.set_health_restored(),
            Ok(false) => {}
            Err(error) => {
                if damaged.is_none() {
                    self.hub.suspect_store(&error);
                }
                tracing::warn!("the health of earlier runs cannot be read back: {error}");
            }
        }
        let any = self.health.fold.subjects().next().is_some();
        let boot = self.health.fold.boot();
        if boot.map_or(any, |boot| boot != self.boot_id) {
            self.observe_boot();
        }
        if damaged.is_some() {
            self.record_health_again();
        } else if any {
            self.snapshot_health();
        }
        // Before anything is judged by others.
        match self.site_rules.take() {
            SiteRules::Read(text) => self.take_site_rules(text),
            SiteRules::AsStored => {}
        }
        self.show_health();
        self.send_batch();
    }

    /// Has the fold judge by these rules of the site, unless it does so already. The record has them too, so that whoever
    /// replays it judges alike.
    pub(super) fn take_site_rules(&mut self, site: Option<String>) {
        if self.health.fold.site_rules() == site.as_deref() {
            return;
        }
        match &site {
            Some(_) => tracing::info!("health is judged by rules of the site too"),
            None => tracing::info!("health is judged by the rules that come with gtrace alone"),
        }
        self.observe_health(Occasion::Rules { site });
        self.show_health();
        self.send_batch();
    }

    /// Has the fold take a record that is published.
    pub(super) fn follow_health(
        &mut self,
        change: Option<&EventChange>,
        event: &Event,
    ) -> Vec<Change> {
        self.health.since_snapshot += 1;
        match change {
            None | Some(EventChange::Amendment(_)) => self.health.fold.event(event),
            Some(EventChange::Ack(ack)) => self.health.fold.ack(ack),
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

    /// Records something that changes health and is no event. Where it has to wait, what comes once does; the rest is observed again.
    pub(super) fn observe_health(&mut self, occasion: Occasion) {
        let time = Timestamp::now();
        if !self.must_wait() {
            return self.record_occasion(time, occasion);
        }
        let comes_once = matches!(
            occasion,
            Occasion::DriverReload | Occasion::GpuReset { .. } | Occasion::Found { .. }
        );
        if !comes_once {
            return;
        }
        if self.health.waiting.len() >= OCCASIONS_MAX {
            return self.hub.metrics.count_lost("store", "queue_full", 1);
        }
        self.health.waiting.push_back(Waiting {
            at_ns: clock::boottime_ns(),
            time,
            occasion,
        });
        self.amend_soon();
    }

    /// Records the first of what was observed and waits; whether there was one.
    pub(super) fn record_waiting_occasion(&mut self) -> bool {
        let Some(first) = self.health.waiting.pop_front() else {
            return false;
        };
        self.record_occasion(first.time, first.occasion);
        true
    }

    fn record_occasion(&mut self, time: Timestamp, occasion: Occasion) {
        let record = HealthRecord::observed(time, occasion);
        let changes = self.health.fold.record(&record);
        self.push_health(record);
        self.record_health_changes(changes);
    }

    fn observe_boot(&mut self) {
        let boot = self.boot_id.clone();
        self.record_occasion(Timestamp::now(), Occasion::Boot { boot });
    }

    fn push_health(&mut self, mut record: HealthRecord) {
        record.host = Some(self.host.clone());
        record.machine_id.clone_from(&self.machine_id);
        record.boot_id = Some(self.boot_id.clone());
        self.health.since_snapshot += 1;
        self.push(Pending::health(&record));
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

    /// For a store that has nothing of it.
    pub(super) fn record_health_again(&mut self) {
        let fold = &self.health.fold;
        let has_subjects = fold.subjects().next().is_some();
        if has_subjects || fold.maintenance().is_some() || fold.site_rules().is_some() {
            self.snapshot_health();
        }
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
            let text = health.reasons.join("; ");
            let news = is_news(self.health.fold.subject(&subject), health.state, &text);
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
                rule: component::RULE.to_owned(),
                state: health.state,
                action,
                text,
            });
        }
    }

    /// Something happened to a service of the host. How things are is no news where the events of this boot say so already, as from before a restart:
    /// an error that was reported since the service last ran again, and that it runs again where nothing was wrong.
    pub(super) fn take_host_news(&mut self, news: HostNews) {
        let mut occurrence = news.occurrence;
        let wrong = match news.happened {
            true => Vec::new(),
            false => self.wrong_with(&occurrence),
        };
        let is_news = match occurrence.detail.host.error.as_deref() {
            _ if news.happened => true,
            Some(RUNS_AGAIN) => !wrong.is_empty(),
            error => !wrong.iter().any(|known| Some(known.as_str()) == error),
        };
        if !is_news {
            return;
        }
        occurrence.boottime_ns = Some(clock::boottime_ns());
        self.ingest_one(WitnessName::Gtrace, occurrence, 1);
        self.send_batch();
    }

    /// What the events of this boot say is wrong with the service that `occurrence` is about.
    fn wrong_with(&self, occurrence: &Occurrence) -> Vec<String> {
        let same = |event: &Event| {
            event.kind == occurrence.kind
                && event.detail.host.unit == occurrence.detail.host.unit
                && event.provenance == Provenance::Kernel
        };
        let filter = Filter {
            kinds: vec![occurrence.kind],
            boot_id: Some(self.boot_id.clone()),
            limit: Some(HOST_NEWS_MAX),
            ..Filter::default()
        };
        let stored = Reader::open(&self.store_path).and_then(|reader| reader.query(&filter));
        let stored = stored.unwrap_or_else(|error| {
            self.hub.suspect_store(&error);
            Vec::new()
        });
        let mut events: BTreeMap<EventId, Event> = stored
            .into_iter()
            .filter(same)
            .map(|event| (event.id, event))
            .collect();
        // The store may not have the newest yet.
        for id in self.fold.find(same) {
            events.extend(self.fold.event(id).map(|event| (id, event.clone())));
        }
        let mut events: Vec<Event> = events.into_values().collect();
        // Since boot, as the wall clock may have been set back between two of them.
        events.sort_by_key(|event| {
            std::cmp::Reverse(clock::last_boottime_ns(event).or(event.boottime_ns))
        });
        let errors = events.into_iter().filter_map(|e| e.detail.host.error);
        errors.take_while(|error| error != RUNS_AGAIN).collect()
    }

    /// GPUs that are there, for the first time, again, or another in the place of one; and those that were reset.
    pub(super) fn find_gpus(&mut self, gpus: &[GpuInfo]) {
        self.health.looked_at_gpus = true;
        // Then what ends by it may have no record yet.
        let waits = self.must_wait();
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
                waits || !known.reasons.is_empty() || uuid.is_some() && known.uuid != uuid
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

    /// NVSwitches that are there, for the first time or again.
    pub(super) fn find_nvswitches(&mut self, now: Vec<PciAddress>) {
        let waits = self.must_wait();
        let before = std::mem::replace(&mut self.health.nvswitches, now.clone());
        for pci in now.iter().filter(|pci| !before.contains(pci)) {
            let subject = HealthSubject::new(SubjectKind::Nvswitch, pci.to_string());
            let known = self.health.fold.subject(&subject);
            if known.is_none_or(|known| waits || !known.reasons.is_empty()) {
                let uuid = None;
                self.observe_health(Occasion::Found { subject, uuid });
            }
        }
        self.send_batch();
    }

    /// How something stands is an event where health does not know it: as after a restart, while which it went on or ended.
    pub(super) fn ingest_standing(&mut self, standing: Observation) {
        if self.must_wait() {
            // Health does not know what waits: each reading would be news. The next one comes.
            return;
        }
        let Observation {
            witness,
            occurrence,
            count,
        } = standing;
        let time = Timestamp::now();
        let mut event = Event::seen(time, witness, count, occurrence.clone());
        event.boot_id = Some(self.boot_id.clone());
        if self.health.fold.is_news(&event) {
            self.ingest_one(witness, occurrence, count);
            self.send_batch();
        }
    }

    /// A GPU that was there before the host was started and is not now is lost, though nothing reports it.
    fn look_for_missing(&mut self, now: Instant) {
        let Some(missing) = self.health.missing(now) else {
            return;
        };
        self.health.looked_for_missing = true;
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
            return Err(NO_ROOM.to_owned());
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
