//! A daemon's way with health, without a daemon: records in, records out, starts again from a snapshot.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gtrace_event::{
    Ack, Amendment, Event, EventId, HealthNews, HealthRecord, HealthSnapshot, Occasion, Record,
    Timestamp,
};
use gtrace_health::{Change, Fold, Rules};

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::builtin().unwrap());

/// The store's records, and what the fold made of them.
pub(crate) struct Host {
    pub(crate) fold: Fold,
    /// As the store has them.
    pub(crate) records: Vec<Record>,
    /// Events with all amendments so far.
    pub(crate) events: BTreeMap<EventId, Event>,
    /// The newest of each part.
    pub(crate) changes: Vec<Change>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self {
            fold: Fold::new(RULES.clone()),
            records: Vec::new(),
            events: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// Appends a record, and takes it.
    pub(crate) fn append(&mut self, record: Record) {
        let changes = self.take(&record);
        self.records.push(record);
        for change in changes {
            // As the daemon does it: what follows goes into the same transaction.
            let news = HealthNews::Changed {
                now: Box::new(change.now.clone()),
                previous: change.previous,
            };
            let time = change.now.since;
            self.records
                .push(Record::Health(Box::new(HealthRecord::new(time, news))));
            self.changes.push(change);
        }
    }

    /// Takes a record that is in the store.
    pub(crate) fn take(&mut self, record: &Record) -> Vec<Change> {
        match record {
            Record::Event(event) => {
                self.events.insert(event.id, (**event).clone());
                self.fold.event(event)
            }
            Record::Amendment(amendment) => {
                let Some(event) = self.events.get_mut(&amendment.id) else {
                    return Vec::new();
                };
                event.apply(amendment);
                self.fold.event(event)
            }
            Record::Ack(ack) => self.fold.ack(ack),
            Record::Health(record) => self.fold.record(record),
            Record::Incident(_) => Vec::new(),
        }
    }

    /// Changes an event as the pipeline does.
    pub(crate) fn amend(&mut self, id: EventId, time: Timestamp, change: impl FnOnce(&mut Event)) {
        let old = self.events[&id].clone();
        let mut new = old.clone();
        new.revision += 1;
        change(&mut new);
        if let Some(amendment) = Amendment::between(&old, &new, time) {
            self.append(Record::Amendment(Box::new(amendment)));
        }
    }

    pub(crate) fn ack(&mut self, id: EventId, time: Timestamp) {
        self.append(Record::Ack(Ack::new(id, time, "me", "")));
    }

    pub(crate) fn observe(&mut self, time: Timestamp, occasion: Occasion) {
        let record = HealthRecord::observed(time, occasion);
        self.append(Record::Health(Box::new(record)));
    }

    /// The clock is at `now`.
    pub(crate) fn tick(&mut self, now: Timestamp) {
        if self.fold.due().is_some_and(|due| due <= now) {
            self.observe(now, Occasion::Quiet);
        }
    }

    /// The daemon ends in order, or is killed, and starts again.
    pub(crate) fn restart(&mut self, time: Timestamp, in_order: bool) {
        if in_order {
            let snapshot = Box::new(self.fold.snapshot());
            let news = HealthNews::Snapshot { snapshot };
            let record = HealthRecord::new(time, news);
            self.records.push(Record::Health(Box::new(record)));
        }
        self.fold = replay(&self.records).fold;
    }
}

/// What a start makes of the records of a store: from its newest snapshot on, as the store's reader gives them.
pub(crate) fn replay(records: &[Record]) -> Host {
    let json: Vec<String> = records
        .iter()
        .map(|record| serde_json::to_string(record).unwrap())
        .collect();
    let records: Vec<Record> = json
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let is_snapshot = |record: &Record| matches!(record, Record::Health(record) if matches!(record.news, HealthNews::Snapshot { .. }));
    let from = records.iter().rposition(is_snapshot).unwrap_or(0);
    let mut host = Host::new();
    for record in &records[..from] {
        // Only to know events as of then.
        match record {
            Record::Event(event) => {
                host.events.insert(event.id, (**event).clone());
            }
            Record::Amendment(amendment) => {
                if let Some(event) = host.events.get_mut(&amendment.id) {
                    event.apply(amendment);
                }
            }
            _ => {}
        }
    }
    for record in &records[from..] {
        host.take(record);
    }
    host
}

/// The same from a snapshot of the state after the first `at` records.
pub(crate) fn replay_from(
    records: &[Record],
    at: usize,
    snapshot: HealthSnapshot,
) -> HealthSnapshot {
    let mut with: Vec<Record> = records[..at].to_vec();
    let news = HealthNews::Snapshot {
        snapshot: Box::new(snapshot),
    };
    let time = Timestamp::UNIX_EPOCH;
    with.push(Record::Health(Box::new(HealthRecord::new(time, news))));
    with.extend_from_slice(&records[at..]);
    replay(&with).fold.snapshot()
}
