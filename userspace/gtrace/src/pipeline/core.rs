//! The thread that owns the fold.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Ack, Event, EventId, Kind, Occurrence, Record, Severity, SlotChange, Timestamp, WitnessName,
};
use gtrace_store::Reader;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::fold::{Fold, Folded, MAX_LIVE, SHRINK_AFTER};
use super::known::Known;
use super::textless::{NEAR_NS, Textless, code_of, is_textless, with_text};
use super::writer::Writer;
use super::{AMEND_EVERY, CoreOptions, INPUT_DEPTH, Input, InputSender, KMSG_CURSOR, Told};
use crate::hub::{Command, Hub, Published};
use crate::sources::look::LookSoon;
use crate::sources::process;
use crate::{clock, memory};

/// More records than this do not wait for a store that takes none: they are dropped and counted.
const MAX_WAITING: usize = 20_000;
/// Open events that are known one by one.
const OPEN_MAX: usize = 16_384;
/// The kernel log's cursor alone is stored this often.
const CURSOR_EVERY: Duration = Duration::from_secs(10);
/// Events of an earlier run this old may still get witnesses from the kernel log's history.
const ADOPT_AGE_S: i64 = 3600;
/// A polled counter that rose by more than this is one repeat for each up to here.
const MAX_COUNT: u64 = 65_536;
/// With nothing to do the core still looks around this often.
const IDLE: Duration = Duration::from_secs(5);

/// Where the kernel log has been read to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    boot_id: String,
    seq: u64,
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
    /// Whether the thread runs.
    pub fn is_alive(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Writes everything and ends.
    pub fn finish(self) {
        // A core that has ended needs no order to.
        let _ = self.inputs.send(Input::Stop);
        if self.thread.join().is_err() {
            tracing::error!("the core's thread panicked");
        }
    }
}

/// Starts the core, with the events that an earlier run of this boot left unfinished.
pub fn spawn(options: CoreOptions) -> anyhow::Result<Core> {
    let cursor: Option<Cursor> = options
        .store
        .cursor(KMSG_CURSOR)?
        .and_then(|text| serde_json::from_str(&text).ok())
        .filter(|cursor: &Cursor| cursor.boot_id == options.boot_id);
    let kmsg_after = cursor.as_ref().map(|c| c.seq);
    let last_seq = options.store.last_seq();
    options
        .hub
        .update_status(|status| status.last_seq = last_seq);
    let fold_window_ns = u64::try_from(options.fold_window.as_nanos()).unwrap_or(u64::MAX);
    let mut state = State {
        fold: Fold::new(fold_window_ns),
        writer: Writer::spawn(options.store, Arc::clone(&options.hub))?,
        hub: options.hub,
        catalogue: options.catalogue,
        store_path: options.store_path,
        host: options.host,
        boot_id: options.boot_id,
        known: Known::new(options.tree),
        textless: Textless::default(),
        look_soon: options.look_soon,
        seq: last_seq,
        kmsg_seq: kmsg_after,
        kmsg_stored: kmsg_after,
        cursor_at: Instant::now(),
        amend_at: None,
        dropped: 0,
        batch: Vec::new(),
        open: BTreeMap::new(),
    };
    state.adopt();
    let (inputs, received) = sync_channel(INPUT_DEPTH);
    let thread = std::thread::Builder::new()
        .name("gtrace-core".to_owned())
        .spawn(move || state.run(&received))?;
    Ok(Core {
        inputs,
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
    boot_id: String,
    known: Known,
    textless: Textless,
    look_soon: LookSoon,
    seq: u64,
    kmsg_seq: Option<u64>,
    kmsg_stored: Option<u64>,
    cursor_at: Instant,
    /// When changes to events go out; `None` while there are none.
    amend_at: Option<Instant>,
    dropped: u64,
    batch: Vec<Record>,
    /// Events since the start that nobody acknowledged, as the status counts them.
    open: BTreeMap<EventId, Severity>,
}

impl State {
    /// One more event of this severity is open, or one less.
    fn count_open(&self, severity: Severity, more: bool) {
        self.hub.update_status(|status| {
            let open = status.events.entry(severity.name().to_owned()).or_default();
            *open = match more {
                true => *open + 1,
                false => open.saturating_sub(1),
            };
        });
    }

    fn opened(&mut self, id: EventId, severity: Severity) {
        if self.open.len() >= OPEN_MAX {
            // It stays open as far as the status can tell.
            self.open.pop_first();
        }
        self.open.insert(id, severity);
        self.count_open(severity, true);
    }

    fn adopt(&mut self) {
        let now = Timestamp::now();
        let since = now - jiff::SignedDuration::from_secs(ADOPT_AGE_S);
        let events = Reader::open(&self.store_path)
            .and_then(|reader| reader.unconfirmed(&self.boot_id, since, MAX_LIVE));
        match events {
            Ok(events) => {
                for event in events {
                    let key = Occurrence::from(&event).fold_key();
                    let last = event.last_time.unwrap_or(event.time);
                    let age = u64::try_from(now.duration_since(last).as_nanos()).unwrap_or(0);
                    let by_time = clock::boottime_ns().saturating_sub(age);
                    let last_ns = match event.boottime_ns {
                        Some(first_ns) if event.repeats == 0 => first_ns,
                        first_ns => by_time.max(first_ns.unwrap_or(0)),
                    };
                    self.fold.adopt(event, key, last_ns);
                }
            }
            Err(error) => tracing::warn!("earlier events cannot be read back: {error}"),
        }
    }

    fn run(mut self, inputs: &Receiver<Input>) {
        loop {
            let due = self.amend_at.into_iter().chain(self.textless.deadline());
            let wait = match due.min() {
                Some(at) => at.saturating_duration_since(Instant::now()),
                None => IDLE,
            };
            match inputs.recv_timeout(wait) {
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
            self.tell_overdue(Instant::now());
            if self.amend_at.is_some_and(|at| at <= Instant::now()) {
                self.amend();
            }
            self.store_cursor_if_due();
        }
        self.tell_overdue(Instant::now() + IDLE);
        self.amend();
        self.writer.append(Vec::new(), self.cursor());
        self.writer.finish();
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Told(told) => self.told(*told),
            Input::KmsgProgress(seq) => self.kmsg_seq = self.kmsg_seq.max(Some(seq)),
            Input::Gpus(gpus) => {
                self.known.set_gpus(&gpus);
                self.hub.set_gpus(gpus);
            }
            Input::PciTree(tree) => {
                self.known.set_tree(tree);
                self.name_new_cards();
            }
            Input::Command(command) => self.command(command),
            Input::Stop => {}
        }
    }

    fn told(&mut self, told: Told) {
        let Told {
            witness,
            mut occurrence,
            count,
        } = told;
        if witness == WitnessName::Kmsg
            && let Some([_, last]) = occurrence.lines.take()
        {
            self.kmsg_seq = self.kmsg_seq.max(Some(last));
        }
        if is_textless(witness) {
            return self.textless_told(witness, occurrence);
        }
        self.tell(witness, occurrence, count);
    }

    /// An Xid without text: it is a known one's, or waits for the text.
    fn textless_told(&mut self, witness: WitnessName, occurrence: Occurrence) {
        let at_ns = occurrence.boottime_ns.unwrap_or(0);
        let known = code_of(&occurrence)
            .and_then(|code| self.fold.untold_by_code(witness, code, at_ns, NEAR_NS))
            .and_then(|id| self.fold.event(id))
            .map(|event| with_text(&occurrence, &Occurrence::from(event)));
        match known {
            Some(with_text) => self.tell(witness, with_text, 1),
            None => {
                if let Err(refused) = self.textless.wait(witness, occurrence) {
                    self.tell(refused.witness, refused.occurrence, 1);
                }
            }
        }
    }

    /// Xids whose text has not come are told without it.
    fn tell_overdue(&mut self, now: Instant) {
        for waiting in self.textless.overdue(now) {
            self.tell(waiting.witness, waiting.occurrence, 1);
        }
        self.send_batch();
    }

    fn tell(&mut self, witness: WitnessName, mut occurrence: Occurrence, count: u64) {
        let now_ns = clock::boottime_ns();
        let at_ns = occurrence.boottime_ns.unwrap_or(now_ns).min(now_ns);
        let time = clock::wall_time(at_ns);
        // Before it is judged: a site's rule may be for one GPU.
        self.known.name(&mut occurrence);
        self.look_soon.ask_if_trouble(witness, &occurrence);
        for _ in 0..count.clamp(1, MAX_COUNT) {
            let told = self.told_once(witness, occurrence.clone(), at_ns, time);
            if matches!(told, Folded::New(_) | Folded::Repeat(_)) && !is_textless(witness) {
                for (witness, report) in self.textless.matching(&occurrence) {
                    let at_ns = report.boottime_ns.unwrap_or(at_ns).min(now_ns);
                    self.told_once(witness, report, at_ns, clock::wall_time(at_ns));
                }
            }
        }
        self.amend_soon();
    }

    fn amend_soon(&mut self) {
        if self.fold.is_dirty() {
            self.amend_at
                .get_or_insert_with(|| Instant::now() + AMEND_EVERY);
        }
    }

    /// A card is found in its slot before the GPU on it is found.
    fn name_new_cards(&mut self) {
        let came = |event: &Event| {
            let change = event.detail.pcie.hotplug;
            event.gpu.is_none()
                && matches!(change, Some(SlotChange::CardPresent | SlotChange::LinkUp))
        };
        for id in self.fold.find(came) {
            let Some(mut occurrence) = self.fold.event(id).map(Occurrence::from) else {
                continue;
            };
            self.known.name(&mut occurrence);
            if let Some(gpu) = occurrence.gpu {
                self.fold.change(id, |event| event.gpu = Some(gpu));
                self.reassess(id);
            }
        }
        self.amend_soon();
    }

    fn told_once(
        &mut self,
        witness: WitnessName,
        mut occurrence: Occurrence,
        at_ns: u64,
        time: Timestamp,
    ) -> Folded {
        let advice = self.catalogue.assess(&mut occurrence);
        let Self {
            fold,
            host,
            boot_id,
            ..
        } = self;
        let folded = fold.take(witness, occurrence, at_ns, time, |event| {
            event.host = Some(host.clone());
            event.boot_id = Some(boot_id.clone());
            event.advice = Some(advice);
            if let Some(process) = &mut event.process {
                process::enrich(process);
            }
        });
        match &folded {
            Folded::New(id) => {
                let Some(event) = self.fold.event(*id).cloned() else {
                    return folded;
                };
                self.hub.metrics.count_event(&event, 1);
                if self.has_room(1) {
                    self.opened(event.id, event.severity);
                } else {
                    // Else its repeats would change an event that nobody can find.
                    self.fold.forget(*id);
                }
                self.publish(Record::Event(Box::new(event.clone())), event);
            }
            Folded::Repeat(id) => {
                if let Some(event) = self.fold.event(*id) {
                    self.hub.metrics.count_event(event, 1);
                    if event.kind == Kind::SourceLost {
                        self.reassess(*id);
                    }
                }
            }
            Folded::Witnessed(id) => self.reassess(*id),
        }
        folded
    }

    /// A witness may have added what changes the judgement.
    fn reassess(&mut self, id: EventId) {
        let Some(event) = self.fold.event(id) else {
            return;
        };
        let mut occurrence = Occurrence::from(event);
        let advice = self.catalogue.assess(&mut occurrence);
        if event.severity != occurrence.severity
            && let Some(counted) = self.open.get_mut(&id)
        {
            let before = std::mem::replace(counted, occurrence.severity);
            self.count_open(before, false);
            self.count_open(occurrence.severity, true);
        }
        let Some(event) = self.fold.event(id) else {
            return;
        };
        if event.severity != occurrence.severity || event.advice.as_ref() != Some(&advice) {
            self.fold.change(id, |event| {
                event.severity = occurrence.severity;
                event.advice = Some(advice);
            });
        }
    }

    /// Whether so many records more may wait for the store.
    fn has_room(&self, records: usize) -> bool {
        self.writer.waiting() + self.batch.len() + records <= MAX_WAITING
    }

    /// Sends a record to live readers and into the next batch for the store.
    fn publish(&mut self, record: Record, event: Event) {
        if !self.has_room(1) {
            if self.dropped == 0 {
                tracing::error!(
                    "the store takes nothing and {MAX_WAITING} records wait: further ones are lost"
                );
            }
            self.dropped += 1;
            self.hub.metrics.count_lost("store", "queue_full", 1);
            return;
        }
        self.dropped = 0;
        self.seq += 1;
        let seq = self.seq;
        self.batch.push(record.clone());
        self.hub.update_status(|status| status.last_seq = seq);
        self.hub.publish(Published { seq, record, event });
    }

    fn amend(&mut self) {
        self.amend_at = None;
        if self.has_room(MAX_LIVE) {
            for (amendment, event) in self.fold.amendments(Timestamp::now()) {
                self.publish(Record::Amendment(Box::new(amendment)), event);
            }
        } else {
            // Changes add up until the store takes them.
            self.amend_soon();
        }
        let cursor = self.cursor();
        if !self.batch.is_empty() || cursor.is_some() {
            self.writer.append(std::mem::take(&mut self.batch), cursor);
            self.kmsg_stored = self.kmsg_seq;
            self.cursor_at = Instant::now();
        }
        if self.fold.expire(clock::boottime_ns()) > SHRINK_AFTER {
            memory::give_back();
        }
    }

    /// New events go to the store at once, and with them every change that waits: the cursor into
    /// the kernel log must never be older than the events that the log's records have led to, or
    /// the next run would count those records again.
    fn send_batch(&mut self) {
        if !self.batch.is_empty() {
            self.amend();
        }
    }

    fn cursor(&self) -> Option<(String, String)> {
        let seq = self
            .kmsg_seq
            .filter(|_| self.kmsg_seq != self.kmsg_stored)?;
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

    fn command(&mut self, command: Command) {
        match command {
            Command::Ack(ack, answer) => {
                // Whoever asked may have given up.
                let _ = answer.send(self.ack(ack));
            }
            Command::Flush(answer) => {
                self.amend();
                self.writer.flush(answer);
            }
            Command::Pause(_, answer) => {
                let _ = answer.send(Err("the core does not own the probes".to_owned()));
            }
        }
    }

    fn ack(&mut self, ack: Ack) -> Result<Event, String> {
        if self.fold.event(ack.id).is_none() {
            self.amend();
            let (answer, flushed) = oneshot::channel();
            self.writer.flush(answer);
            flushed.blocking_recv().map_err(|e| e.to_string())??;
        }
        let event = match self.fold.event(ack.id) {
            Some(event) => Some(event.clone()),
            None => Reader::open(&self.store_path)
                .and_then(|reader| reader.event(ack.id))
                .map_err(|e| e.to_string())?,
        };
        let mut event = event.ok_or_else(|| format!("there is no event {}", ack.id))?;
        event.acks.push(ack.clone());
        if self.fold.event(ack.id).is_some() {
            let acks = event.acks.clone();
            self.fold.change(ack.id, |event| event.acks = acks);
        }
        if let Some(severity) = self.open.remove(&event.id) {
            self.count_open(severity, false);
        }
        self.publish(Record::Ack(ack), event.clone());
        self.send_batch();
        let (answer, flushed) = oneshot::channel();
        self.writer.flush(answer);
        flushed.blocking_recv().map_err(|e| e.to_string())??;
        Ok(event)
    }
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
