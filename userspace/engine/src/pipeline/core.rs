//! The thread that owns the fold.

mod commands;
mod health;
mod incidents;
mod ingest;
mod publish;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_catalogue::Catalogue;
use gtrace_event::{EventChange, EventId, Occurrence, Provenance, Severity, Timestamp};
use gtrace_store::{Reader, StoreError};
use serde::{Deserialize, Serialize};

use self::health::Health;
use super::confirm::Confirmations;
use super::fold::{Fold, MAX_LIVE, SHRINK_AFTER};
use super::incidents::Incidents;
use super::known::Known;
use super::outbox::{Answer, Pending};
use super::pending_checks::PendingChecks;
use super::pending_xids::PendingXids;
use super::writer::{self, Writer};
use super::{AMEND_EVERY, CoreOptions, KMSG_CURSOR, SiteRules};
use crate::component::holders::NAME as HOLDERS;
use crate::hub::Hub;
use crate::input::{INPUT_DEPTH, Input, InputSender};
use crate::open_record::EndRecord;
use crate::poll::PollRequest;
use crate::supervise::{Task, beat};
use crate::{clock, memory};

/// More records than this do not wait for a store that takes none. What is new beyond waits in the fold while that keeps it.
const MAX_WAITING: usize = 20_000;
/// Events recorded before it is checked again whether there is room: with each go changes of the health of what it names.
const AT_ONCE: usize = MAX_LIVE / 16;
/// Open events that are known one by one.
const OPEN_MAX: usize = 16_384;
/// The kernel log's cursor alone is stored this often.
const CURSOR_EVERY: Duration = Duration::from_secs(10);
/// Events of an earlier run this old may still get witnesses from the kernel log's history.
const ADOPT_AGE_S: i64 = 3600;
/// Between two looks at which events nothing more is expected of.
const EXPIRE_EVERY: Duration = Duration::from_secs(1);
/// An idle core wakes up this often.
const IDLE: Duration = Duration::from_secs(5);

/// Longest time between two heartbeats: an acknowledgement may have to read the store.
const SILENCE: Duration = Duration::from_secs(120);

/// Where the kernel log has been read to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    boot_id: String,
    seq: u64,
}

/// Takes what the records of a store say of health.
///
/// # Errors
///
/// Any that reading gives.
pub fn replay_health(fold: &mut gtrace_health::Fold, reader: &Reader) -> Result<(), StoreError> {
    health::replay(fold, reader, None).map(drop)
}

/// A running core.
#[derive(Debug)]
pub struct Core {
    /// Where sources send.
    pub inputs: InputSender,
    /// The kernel log's sequence number that an earlier run of this boot has dealt with.
    pub kmsg_after: Option<u64>,
    thread: JoinHandle<()>,
}

impl Core {
    /// Writes everything and ends.
    pub fn finish(self) {
        // A core that has ended needs no order to.
        let _ = self.inputs.send(Input::Stop);
        if self.thread.join().is_err() {
            tracing::error!("the core's thread panicked");
        }
    }
}

/// The kernel log's sequence number of a cursor, if that is of this boot.
fn seq_of(cursor: Option<String>, boot_id: &str) -> Option<u64> {
    let cursor: Cursor = serde_json::from_str(&cursor?).ok()?;
    (cursor.boot_id == boot_id).then_some(cursor.seq)
}

/// The same of a store that was found damaged. An error where nothing may be taken over from it: what the kernel log of this boot has led
/// to would count twice without the cursor, and not at all without health.
fn seq_of_damaged(file: &Path, boot_id: &str) -> Result<Option<u64>, StoreError> {
    let reader = Reader::open(file)?;
    let seq = seq_of(reader.cursor(KMSG_CURSOR)?, boot_id);
    if seq.is_some() {
        reader.health(|_| ())?;
    }
    Ok(seq)
}

/// Starts the core, with the events that an earlier run of this boot left unfinished.
pub fn spawn(mut options: CoreOptions) -> anyhow::Result<Core> {
    let author = writer::author(&options);
    options.store.set_author(author);
    let (kmsg_after, damaged) = match options.store.moved_aside() {
        None => {
            let cursor = options.store.cursor(KMSG_CURSOR)?;
            (seq_of(cursor, &options.boot_id), None)
        }
        Some(moved) => match seq_of_damaged(&moved.to, &options.boot_id) {
            Ok(seq) => (seq, Some(moved.to.clone())),
            Err(error) => {
                tracing::warn!("nothing is taken over from the damaged store: {error}");
                (None, None)
            }
        },
    };
    let dedup_window_ns = u64::try_from(options.dedup_window.as_nanos()).unwrap_or(u64::MAX);
    let mut state = State {
        fold: Fold::new(dedup_window_ns),
        writer: Writer::spawn(options.store, Arc::clone(&options.hub))?,
        hub: options.hub,
        catalogue: options.catalogue,
        store_path: options.store_path,
        host: options.host,
        machine_id: options.machine_id,
        boot_id: options.boot_id,
        known: Known::new(options.tree),
        pending_xids: PendingXids::default(),
        pending_checks: PendingChecks::default(),
        confirmations: Confirmations::default(),
        end_record: options.end_record,
        confirmable: false,
        unconfirmed: BTreeMap::new(),
        poll_soon: options.poll_soon,
        unnamed: VecDeque::new(),
        holders_wanted: false,
        kmsg_seq: kmsg_after,
        // A new store does not have it yet.
        kmsg_stored: kmsg_after.filter(|_| damaged.is_none()),
        cursor_at: Instant::now(),
        amend_at: None,
        expired_at: Instant::now(),
        batch: Vec::new(),
        open: BTreeMap::new(),
        incidents: Incidents::new()?,
        health: Health::new()?,
        site_rules: options.site_rules,
    };
    state.adopt();
    state.adopt_incidents();
    if let Some(damaged) = &damaged {
        state.adopt_damaged(damaged);
    }
    state.adopt_health(damaged.as_deref());
    let (inputs, received) = sync_channel(INPUT_DEPTH);
    let tasks = state.hub.tasks.clone();
    let task = Task::needed("core", SILENCE, Vec::new());
    let thread = tasks.start_once(task, move || state.run(&received))?;
    Ok(Core {
        inputs: inputs.into(),
        kmsg_after,
        thread,
    })
}

struct State {
    hub: Arc<Hub>,
    catalogue: Catalogue,
    fold: Fold,
    writer: Writer,
    store_path: PathBuf,
    host: String,
    machine_id: Option<String>,
    boot_id: String,
    known: Known,
    pending_xids: PendingXids,
    pending_checks: PendingChecks,
    confirmations: Confirmations,
    end_record: EndRecord,
    /// Whether /dev/kmsg will show the record of every line that printk:console shows.
    confirmable: bool,
    /// Events of which nobody knows yet who wrote them, and whether they are no fault until somebody does.
    unconfirmed: BTreeMap<EventId, bool>,
    poll_soon: PollRequest,
    /// Events of processes that no reading of holders had yet, with these.
    unnamed: VecDeque<(EventId, u32)>,
    /// Whether they are to be read.
    holders_wanted: bool,
    kmsg_seq: Option<u64>,
    kmsg_stored: Option<u64>,
    cursor_at: Instant,
    /// When changes to events go out; `None` while there are none.
    amend_at: Option<Instant>,
    /// When events were last let go of.
    expired_at: Instant,
    batch: Vec<Pending>,
    /// Events since the start that nobody acknowledged, as the status counts them.
    open: BTreeMap<EventId, (Severity, Provenance)>,
    incidents: Incidents,
    health: Health,
    /// Those to begin with.
    site_rules: SiteRules,
}

impl State {
    fn adopt(&mut self) {
        let now = Timestamp::now();
        let events = Reader::open(&self.store_path).and_then(|reader| {
            // By the clock of the run that wrote them: it may have been set forward since.
            let before_last = reader.last_seq()?.saturating_sub(1);
            let last = reader.records_after(before_last, 1)?.pop();
            let wrote = last.map_or(now, |(_, record)| record.time().min(now));
            let since = wrote - jiff::SignedDuration::from_secs(ADOPT_AGE_S);
            reader.unconfirmed(&self.boot_id, since, MAX_LIVE)
        });
        match events {
            Ok(events) => {
                let now_ns = clock::boottime_ns();
                for event in events {
                    let key = Occurrence::from(&event).fold_key();
                    let last_ns = clock::last_boottime_ns(&event).unwrap_or_else(|| {
                        let last = event.last_time.unwrap_or(event.time);
                        let age = u64::try_from(now.duration_since(last).as_nanos());
                        let by_time = now_ns.saturating_sub(age.unwrap_or(0));
                        by_time.max(event.boottime_ns.unwrap_or(0))
                    });
                    self.fold.adopt(event, key, last_ns.min(now_ns), now_ns);
                }
            }
            Err(error) => {
                self.hub.suspect_store(&error);
                tracing::warn!("earlier events cannot be read back: {error}");
            }
        }
    }

    fn run(mut self, inputs: &Receiver<Input>) {
        loop {
            beat();
            let due = [
                self.amend_at,
                self.pending_xids.deadline(),
                self.pending_checks.deadline(),
                self.confirmations.deadline(),
                self.writer.overdue_at(),
                self.incidents_at(),
            ];
            let due = due.into_iter().flatten();
            let wait = match due.min() {
                Some(at) => at.saturating_duration_since(Instant::now()),
                None => IDLE,
            };
            let received = inputs.recv_timeout(wait);
            self.check_confirmable();
            match received {
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(input) => {
                    self.take(input);
                    // What else is there already goes into the same batch.
                    let mut stop = false;
                    for input in inputs.try_iter().take(1024) {
                        if matches!(input, Input::Stop) {
                            stop = true;
                            break;
                        }
                        self.take(input);
                    }
                    self.send_batch();
                    if stop {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.ingest_overdue(Instant::now());
            if std::mem::take(&mut self.holders_wanted) {
                // Once the store has its events: no event waits for whose the process is.
                self.hub.tasks.wake(HOLDERS);
            }
            self.writer.announce_overdue();
            self.record_what_holds();
            self.tick_incidents();
            self.tick_health();
            let due = [self.amend_at, self.incidents_at()];
            if due.into_iter().flatten().any(|at| at <= Instant::now()) {
                self.amend();
            }
            self.store_cursor_if_due();
        }
        self.ingest_overdue(Instant::now() + IDLE);
        // What has happened again changes incidents.
        self.record_changes();
        self.record_what_holds();
        self.record_incidents(true);
        self.amend();
        self.end_health();
        self.writer.append(Vec::new(), self.cursor(), None);
        self.writer.finish();
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Observation(observation) => self.ingest(*observation),
            Input::Check(check) => self.ingest_check(*check),
            Input::Standing(standing) => self.ingest_standing(*standing),
            Input::KmsgProgress(seq) => self.kmsg_seq = self.kmsg_seq.max(Some(seq)),
            Input::Gpus(gpus) => {
                self.known.set_gpus(&gpus);
                self.find_gpus(&gpus);
                self.hub.set_gpus(gpus);
            }
            Input::Nvswitches(nvswitches) => self.find_nvswitches(nvswitches),
            Input::Baseline(judgements) => self.judge_baseline(&judgements),
            Input::PciTree(tree) => {
                self.known.set_tree(tree);
                self.name_new_cards();
            }
            Input::Command(command) => self.command(command),
            Input::Stop => {}
        }
    }

    fn amend_soon(&mut self) {
        if self.fold.is_dirty() || self.health.has_waiting() {
            self.amend_at
                .get_or_insert_with(|| Instant::now() + AMEND_EVERY);
        }
    }

    /// When changes of incidents are to become records; `None` while the store has no room for them.
    fn incidents_at(&self) -> Option<Instant> {
        self.incidents
            .changes
            .deadline()
            .filter(|_| self.has_room(1))
    }

    fn amend(&mut self) {
        self.amend_and(None);
    }

    /// As [`Self::amend`]; `answer` is called once the store has it all, or could not take it.
    fn amend_and(&mut self, answer: Option<Answer>) {
        self.amend_at = None;
        self.record_changes();
        self.record_incidents(false);
        let cursor = self.cursor();
        if !self.batch.is_empty() || cursor.is_some() {
            if cursor.is_some() {
                self.kmsg_stored = self.kmsg_seq;
            }
            self.writer
                .append(std::mem::take(&mut self.batch), cursor, answer);
            self.cursor_at = Instant::now();
        } else if let Some(answer) = answer {
            self.writer.flush(answer);
        }
        if self.fold.len() > MAX_LIVE || self.expired_at.elapsed() >= EXPIRE_EVERY {
            self.expire();
        }
    }

    /// Puts into the batch what had no room before and what has changed.
    fn record_changes(&mut self) {
        while (self.fold.is_dirty() || self.health.has_waiting()) && self.has_room(MAX_LIVE) {
            let waiting = self.health.waiting_since();
            let before = self.fold.take_held_back(waiting, AT_ONCE);
            if before.is_empty() && self.record_waiting_occasion() {
                continue;
            }
            for event in before {
                self.opened(&event);
                self.publish(None, event);
            }
            if waiting.is_some() {
                // What has changed may have happened again since then.
                continue;
            }
            for (amendment, event) in self.fold.amendments(Timestamp::now(), AT_ONCE) {
                self.publish(Some(EventChange::Amendment(Box::new(amendment))), event);
            }
        }
        for event in self.fold.changed_held_back() {
            self.show_unstored(None, event);
        }
        // The rest adds up until the store takes it.
        self.amend_soon();
    }

    /// Goes through all live events.
    fn expire(&mut self) {
        self.expired_at = Instant::now();
        if self.fold.expire(clock::boottime_ns()) > SHRINK_AFTER {
            memory::give_back();
        }
        let lost = self.fold.take_lost();
        if lost > 0 {
            tracing::error!("{lost} events are lost: the store has no room for them");
            self.hub.metrics.count_lost("store", "queue_full", lost);
        }
        let fold = &self.fold;
        self.unconfirmed.retain(|id, _| fold.event(*id).is_some());
    }

    /// New events go to the store at once, and with them every change that waits: the cursor into
    /// the kernel log must never be older than the events that the log's records have led to, or
    /// the next run would count those records again.
    fn send_batch(&mut self) {
        if !self.batch.is_empty() {
            self.amend();
        }
    }

    /// `None` also while something that the log has led to waits for room: if it is lost the next run reads it again.
    fn cursor(&self) -> Option<(String, String)> {
        let is_news = self.kmsg_seq != self.kmsg_stored && !self.fold.is_dirty();
        let seq = self.kmsg_seq.filter(|_| is_news)?;
        let cursor = Cursor {
            boot_id: self.boot_id.clone(),
            seq,
        };
        Some((KMSG_CURSOR.to_owned(), serde_json::to_string(&cursor).ok()?))
    }

    fn store_cursor_if_due(&mut self) {
        if self.amend_at.is_none() && self.cursor_at.elapsed() >= CURSOR_EVERY {
            self.cursor_at = Instant::now();
            self.amend();
        }
    }
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
