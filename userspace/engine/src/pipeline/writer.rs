//! The thread that owns the store. What cannot be appended is tried again until it can: the records wait in memory, in order.
//! A store that is damaged is replaced by a new one, which takes them.
//!
//! A record is published once it is committed, so that what readers have seen is never taken back by
//! the end of the process. A commit is a write into the page cache; the disk follows by itself.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_event::{Event, EventId, Occurrence, RecordId, RemovalCause, Timestamp};
use gtrace_store::{SteadyClock, Store, StoreError};

use super::CoreOptions;
use super::disk::Disk;
use super::outbox::{Answer, Outbox, Pending};
use crate::clock;
use crate::hub::Hub;
use crate::metrics::Counted;
use crate::supervise::{Task, beat};

/// After a commit the next one waits for as long as it took, but no longer than this: a storm makes larger ones, which
/// take half of a core at most, and a line that comes alone does not wait.
const REST: Duration = Duration::from_millis(1);
/// Between attempts to write what could not be written.
const RETRY: Duration = Duration::from_secs(1);
/// Between checks whether days are to be dropped, unless the store grows much before.
const RETAIN_EVERY: Duration = Duration::from_secs(3600);
/// Between two damaged stores that are replaced: each is kept, and a disk that damages all that is
/// written to it must not be filled with them.
const REPLACE_EVERY: Duration = Duration::from_secs(60);
/// Between checks of the whole store that readers ask for: a check takes a second for 1 GB.
const CHECK_EVERY: Duration = Duration::from_secs(60);
/// Between checks that the store is still at its place, and readings of its size if something was written or removed.
const PLACE_EVERY: Duration = Duration::from_secs(5);
/// With nothing to write, between two heartbeats.
const IDLE: Duration = Duration::from_secs(5);
/// Longest time between two heartbeats: a disk can take its time.
const SILENCE: Duration = Duration::from_secs(90);
/// At the end, how long the writer tries to get rid of what waits.
const LAST_TRIES: Duration = Duration::from_secs(3);

/// The core's end.
pub(super) struct Writer {
    // Closed also where the core ends in disorder: what waits is still stored.
    outbox: Closing,
    hub: Arc<Hub>,
    thread: JoinHandle<()>,
}

struct Closing(Arc<Outbox>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Writer {
    /// Starts the threads.
    pub(super) fn spawn(mut store: Store, hub: Arc<Hub>) -> anyhow::Result<Self> {
        let outbox = Arc::new(Outbox::default());
        hub.begin_after(store.last_id()?);
        let disk = Disk::spawn(store.syncer()?, Arc::clone(&hub))?;
        let state = State {
            store,
            hub: Arc::clone(&hub),
            outbox: Arc::clone(&outbox),
            disk,
            problem: None,
            clock: SteadyClock::default(),
            replaced: None,
            checked: None,
            placed: None,
            sized: false,
        };
        let task = Task::needed("store", SILENCE, Vec::new());
        let thread = hub.tasks.start_once(task, move || state.run())?;
        Ok(Self {
            outbox: Closing(outbox),
            hub,
            thread,
        })
    }

    /// Records that are not in the store yet.
    pub(super) fn waiting(&self) -> usize {
        self.outbox.0.waiting()
    }

    /// Stores and publishes `records`, and moves the cursor.
    pub(super) fn append(
        &self,
        records: Vec<Pending>,
        cursor: Option<(String, String)>,
        answer: Option<Answer>,
    ) {
        self.outbox.0.push(records, cursor, answer, &self.hub);
    }

    /// Answers once everything before can be read in the store, or why not.
    pub(super) fn flush(&self, answer: Answer) {
        self.outbox.0.flush(answer);
    }

    /// The event as the newest record of it that waits has it.
    pub(super) fn event(&self, id: EventId) -> Option<gtrace_event::Event> {
        self.outbox.0.event(id)
    }

    /// When [`Self::announce_overdue`] has something to do, unless the store is quicker.
    pub(super) fn overdue_at(&self) -> Option<Instant> {
        self.outbox.0.overdue_at()
    }

    /// Publishes provisionally what the store has not taken in time.
    pub(super) fn announce_overdue(&self) {
        self.outbox.0.announce_overdue(&self.hub);
    }

    /// Whether a new store was begun since the last call.
    pub(super) fn take_renewed(&self) -> bool {
        self.outbox.0.take_renewed()
    }

    /// Writes what waits and closes the store.
    pub(super) fn finish(self) {
        drop(self.outbox);
        if self.thread.join().is_err() {
            tracing::error!("the store's thread panicked; what waited for it is lost");
        }
    }
}

struct State {
    store: Store,
    hub: Arc<Hub>,
    outbox: Arc<Outbox>,
    disk: Disk,
    problem: Option<String>,
    clock: SteadyClock,
    /// When a damaged store was last replaced.
    replaced: Option<Instant>,
    /// When the store was last checked because a reader had met damage.
    checked: Option<Instant>,
    /// When it was last seen whether the store is still at its place.
    placed: Option<Instant>,
    /// Whether the size that is shown is that of the store as it is.
    sized: bool,
}

/// What has become of what waited for the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrote {
    /// There was nothing.
    Nothing,
    /// It was stored, or a new store was begun that takes it next.
    Taken,
    /// It goes on waiting.
    Refused,
}

/// Whether something was done less than `ago` ago.
fn is_recent(at: Option<Instant>, ago: Duration) -> bool {
    at.is_some_and(|at| at.elapsed() < ago)
}

impl State {
    fn run(mut self) {
        let mut retain_at = Instant::now();
        let mut not_before = Instant::now();
        loop {
            beat();
            // Another record may come before that, and then goes into the same commit.
            let mut open = self.outbox.wait(not_before, true);
            if open {
                open = self
                    .outbox
                    .wait(retain_at.min(Instant::now() + IDLE), false);
            }
            if self.store.has_unrecorded_removals() {
                self.record_removals();
            }
            self.check_if_suspect();
            if Instant::now() >= retain_at || self.store.retention_is_due() {
                self.retain();
                retain_at = Instant::now();
                if !self.store.retention_is_due() {
                    retain_at += RETAIN_EVERY;
                }
            }
            self.show_size();
            let began = Instant::now();
            match self.write() {
                Wrote::Nothing => {}
                Wrote::Taken => not_before = Instant::now() + began.elapsed().min(REST),
                Wrote::Refused => not_before = Instant::now() + RETRY,
            }
            if !open {
                break;
            }
        }
        let until = Instant::now() + LAST_TRIES;
        while self.outbox.waiting() > 0 && Instant::now() < until {
            if self.write() == Wrote::Refused {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        let lost = self.outbox.waiting();
        if lost > 0 {
            tracing::error!("{lost} records could not be stored and are lost");
        }
        self.disk.finish();
        self.store.close();
    }

    /// Stores what waits, as far as it goes into one transaction.
    fn write(&mut self) -> Wrote {
        let batches = self.outbox.front();
        if batches.is_empty() {
            return Wrote::Nothing;
        }
        let records = batches.iter().flat_map(|batch| &batch.records);
        let newest = batches.iter().rev().find_map(|batch| batch.cursor.clone());
        let cursors: Vec<_> = newest.into_iter().collect();
        let encoded = records.map(|pending| &pending.encoded);
        let appended = self
            .store
            .append_encoded(Timestamp::now(), encoded, &cursors);
        // Afterwards, as a file that is removed later had what was appended.
        let appended = appended.and_then(|seqs| self.store.check_place().map(|()| seqs));
        match appended {
            Ok(seqs) => {
                self.sized = false;
                // Recorded in the same transaction, before the records.
                self.publish_removals();
                let epoch = self.store.epoch();
                self.outbox.stored(batches, epoch, seqs, &self.hub);
                self.disk.committed();
                self.works_again();
                Wrote::Taken
            }
            Err(error) => {
                drop(batches);
                match self.failed(&error) {
                    true => Wrote::Taken,
                    false => Wrote::Refused,
                }
            }
        }
    }

    /// The store did not take something: what waits goes on waiting. True if a new store is there.
    fn failed(&mut self, error: &StoreError) -> bool {
        let removed = matches!(error, StoreError::Removed { .. });
        if removed || error.is_damage() && !is_recent(self.replaced, REPLACE_EVERY) {
            match self.store.replace(&error.to_string()) {
                Ok(()) => {
                    if !removed {
                        self.replaced = Some(Instant::now());
                    }
                    self.sized = false;
                    self.outbox.set_renewed();
                    self.publish_removals();
                    self.disk.committed();
                    self.works_again();
                    return true;
                }
                Err(error) => self.show_problem(&error),
            }
        } else {
            self.show_problem(error);
        }
        false
    }

    fn show_problem(&mut self, error: &StoreError) {
        let text = error.to_string();
        self.outbox.failed(&text, &self.hub);
        let waiting = self.outbox.waiting() as u64;
        self.hub
            .update_status(|status| status.store_waiting = waiting);
        if self.problem.as_ref() != Some(&text) {
            tracing::error!("{} records wait: {text}", self.outbox.waiting());
            self.problem = Some(text);
            self.hub
                .update_store_problems(|problems| problems.append.clone_from(&self.problem));
        }
    }

    fn works_again(&mut self) {
        if self.problem.take().is_some() {
            tracing::info!("the store takes records again");
            self.hub.update_status(|status| status.store_waiting = 0);
            self.hub
                .update_store_problems(|problems| problems.append = None);
        }
    }

    /// Records what left the store before it was opened: with a damaged file, say.
    fn record_removals(&mut self) {
        match self.store.append(&[], &[]) {
            Ok(_) => {
                self.sized = false;
                self.publish_removals();
            }
            Err(error) => {
                self.failed(&error);
            }
        }
    }

    /// Publishes the events by which the store has recorded that records left it.
    fn publish_removals(&mut self) {
        let epoch = self.store.epoch();
        for (seq, event) in self.store.take_removals() {
            let detail = &event.detail.removal;
            let cause = detail.removal.unwrap_or(RemovalCause::Unrecorded);
            match cause {
                RemovalCause::Damage => {
                    tracing::error!("{}", event.message);
                    self.hub.metrics.store_moved_aside.inc();
                }
                _ => tracing::info!("{}", event.message),
            }
            let records = detail.removed_records.unwrap_or(0);
            self.hub.metrics.count_removed(cause, records);
            let counted = Counted::from(&event);
            self.hub
                .metrics
                .count_event(&counted, event.provenance, false, 1);
            self.hub.publish_own(RecordId { epoch, seq }, event);
        }
    }

    /// A reader, or the thread that folds the WAL, has met damage: a check of the whole file decides.
    fn check_if_suspect(&mut self) {
        if is_recent(self.checked, CHECK_EVERY) || !self.hub.take_store_suspicion() {
            return;
        }
        self.checked = Some(Instant::now());
        match self.store.check() {
            Ok(()) => tracing::warn!("a reader met damage in the store that a check does not find"),
            Err(error) if error.is_damage() => {
                self.failed(&error);
            }
            Err(error) => tracing::warn!("the store cannot be checked: {error}"),
        }
    }

    fn retain(&mut self) {
        let now = Timestamp::now();
        let by_age = self.clock.is_steady(now, clock::boottime_ns());
        let result = self.store.retain(now, by_age);
        self.sized = false;
        self.publish_removals();
        match result {
            Ok(report) => tracing::debug!(?report, "retention"),
            Err(error) if error.is_damage() => {
                self.failed(&error);
            }
            Err(error) => tracing::warn!("retention removed nothing more: {error}"),
        }
    }

    fn show_size(&mut self) {
        if is_recent(self.placed, PLACE_EVERY) {
            return;
        }
        self.placed = Some(Instant::now());
        if let Err(error) = self.store.check_place() {
            self.failed(&error);
        }
        if !self.sized
            && let Ok(size) = self.store.size()
        {
            self.hub.metrics.set_store_size(&size);
            self.sized = true;
        }
    }
}

/// Completes the events that the store writes about itself, as the core does all others.
pub(super) fn author(options: &CoreOptions) -> impl Fn(&mut Event) + Send + 'static {
    let catalogue = options.catalogue.clone();
    let (host, boot_id) = (options.host.clone(), options.boot_id.clone());
    let machine_id = options.machine_id.clone();
    move |event| {
        let mut occurrence = Occurrence::from(&*event);
        event.advice = Some(catalogue.assess(&mut occurrence));
        event.severity = occurrence.severity;
        event.host = Some(host.clone());
        event.boot_id = Some(boot_id.clone());
        event.machine_id.clone_from(&machine_id);
        event.boottime_ns = Some(clock::boottime_ns());
    }
}
