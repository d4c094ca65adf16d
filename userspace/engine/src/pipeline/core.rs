//! The thread that owns the fold.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_api::Published;
use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Ack, Action, Event, EventId, Kind, Occurrence, Provenance, Record, Severity, SlotChange,
    Timestamp, WitnessName,
};
use gtrace_store::Reader;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::confirm::{Confirmations, SETTLED_AFTER, Shown, Text};
use super::fold::{Fold, Folded, MAX_LIVE, Observed, SHRINK_AFTER};
use super::known::Known;
use super::outbox::{Answer, Pending};
use super::pending_xids::{NEAR_NS, PendingXids, code_of, lacks_text, with_text};
use super::writer::{self, Writer};
use super::{AMEND_EVERY, CoreOptions, KMSG_CURSOR};
use crate::hub::{Command, Hub};
use crate::input::{INPUT_DEPTH, Input, InputSender, Observation};
use crate::metrics::Counted;
use crate::open_record::EndRecord;
use crate::poll::PollRequest;
use crate::supervise::{Task, beat, names};
use crate::{clock, memory, process};

/// More records than this do not wait for a store that takes none: they are dropped and counted.
const MAX_WAITING: usize = 20_000;
/// Open events that are known one by one.
const OPEN_MAX: usize = 16_384;
/// The kernel log's cursor alone is stored this often.
const CURSOR_EVERY: Duration = Duration::from_secs(10);
/// Events of an earlier run this old may still get witnesses from the kernel log's history.
const ADOPT_AGE_S: i64 = 3600;
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

/// Starts the core, with the events that an earlier run of this boot left unfinished.
pub fn spawn(mut options: CoreOptions) -> anyhow::Result<Core> {
    let author = writer::author(&options);
    options.store.set_author(author);
    let cursor: Option<Cursor> = options
        .store
        .cursor(KMSG_CURSOR)?
        .and_then(|text| serde_json::from_str(&text).ok())
        .filter(|cursor: &Cursor| cursor.boot_id == options.boot_id);
    let kmsg_after = cursor.as_ref().map(|c| c.seq);
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
        confirmations: Confirmations::default(),
        end_record: options.end_record,
        confirmable: false,
        unconfirmed: BTreeMap::new(),
        poll_soon: options.poll_soon,
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
    let thread = state.hub.tasks.clone().start_once(
        Task {
            name: "core",
            needed: true,
            silence: Some(SILENCE),
            sources: Vec::new(),
        },
        move || state.run(&received),
    )?;
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
    confirmations: Confirmations,
    end_record: EndRecord,
    /// Whether /dev/kmsg will show the record of every line that printk:console shows.
    confirmable: bool,
    /// Events of which nobody knows yet who wrote them, and whether they are no fault until somebody does.
    unconfirmed: BTreeMap<EventId, bool>,
    poll_soon: PollRequest,
    kmsg_seq: Option<u64>,
    kmsg_stored: Option<u64>,
    cursor_at: Instant,
    /// When changes to events go out; `None` while there are none.
    amend_at: Option<Instant>,
    dropped: u64,
    batch: Vec<Pending>,
    /// Events since the start that nobody acknowledged, as the status counts them.
    open: BTreeMap<EventId, (Severity, Provenance)>,
}

impl State {
    /// One more event of this severity is open, or one less. Only what the kernel wrote counts as a fault.
    fn count_open(&self, (severity, provenance): (Severity, Provenance), more: bool) {
        self.hub.update_status(|status| {
            let by_severity = match provenance {
                Provenance::Kernel => &mut status.events,
                apart => status
                    .events_apart
                    .entry(apart.name().to_owned())
                    .or_default(),
            };
            let open = by_severity.entry(severity.name().to_owned()).or_default();
            *open = match more {
                true => *open + 1,
                false => open.saturating_sub(1),
            };
        });
    }

    fn opened(&mut self, event: &Event) {
        if self.open.len() >= OPEN_MAX {
            // The status counts it as open from then on.
            self.open.pop_first();
        }
        let counted = (event.severity, event.provenance);
        self.open.insert(event.id, counted);
        self.count_open(counted, true);
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
                self.confirmations.deadline(),
                self.writer.overdue_at(),
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
            self.writer.announce_overdue();
            if self.amend_at.is_some_and(|at| at <= Instant::now()) {
                self.amend();
            }
            self.store_cursor_if_due();
        }
        self.ingest_overdue(Instant::now() + IDLE);
        self.amend();
        self.writer.append(Vec::new(), self.cursor(), None);
        self.writer.finish();
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Observation(observation) => self.ingest(*observation),
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

    fn ingest(&mut self, observation: Observation) {
        let Observation {
            witness,
            mut occurrence,
            count,
        } = observation;
        if witness == WitnessName::Kmsg
            && let Some([_, last]) = occurrence.lines.take()
        {
            self.kmsg_seq = self.kmsg_seq.max(Some(last));
        }
        if lacks_text(witness) {
            return self.ingest_without_text(witness, occurrence);
        }
        match (witness, occurrence.provenance) {
            (WitnessName::PrintkConsole, Provenance::Unknown) => self.ingest_line(occurrence),
            (WitnessName::Kmsg, _) => self.ingest_record(occurrence, count),
            _ => {
                self.ingest_one(witness, occurrence, count);
            }
        }
    }

    /// Whether a line that nobody has confirmed will be: what /dev/kmsg has lost, and what it misses while its thread
    /// is down, it cannot disprove, so that such a line counts as the kernel's.
    fn check_confirmable(&mut self) {
        let lost = self.hub.metrics.last_loss(WitnessName::Kmsg.name());
        self.confirmable = self.kmsg_is_read() && lost.is_none_or(|ago| ago > SETTLED_AFTER);
        if self.confirmable || self.unconfirmed.is_empty() {
            return;
        }
        let withheld = self
            .unconfirmed
            .iter_mut()
            .filter(|(_, withheld)| **withheld);
        let withheld: Vec<EventId> = withheld
            .map(|(id, withheld)| {
                *withheld = false;
                *id
            })
            .collect();
        for id in withheld {
            self.reassess(id);
        }
        self.amend_soon();
    }

    fn kmsg_is_read(&self) -> bool {
        self.hub.tasks.is_up(names::KMSG)
    }

    /// A line of printk:console, which does not say who wrote it: it waits for who does.
    fn ingest_line(&mut self, mut occurrence: Occurrence) {
        if self.pending_xids.has(&occurrence) {
            occurrence.provenance = Provenance::Kernel;
        } else if self.kmsg_is_read() {
            match self.confirmations.hold(occurrence, Instant::now()) {
                Ok(()) => return,
                Err(line) => occurrence = *line,
            }
        }
        self.ingest_one(WitnessName::PrintkConsole, occurrence, 1);
    }

    /// A record of /dev/kmsg, which says who wrote it.
    fn ingest_record(&mut self, occurrence: Occurrence, count: u64) {
        let provenance = occurrence.provenance;
        let mut late = None;
        match self.confirmations.show(&occurrence, Instant::now()) {
            Shown::First => {}
            Shown::Held(mut line) => {
                line.provenance = provenance;
                self.ingest_one(WitnessName::PrintkConsole, *line, 1);
            }
            Shown::Uncounted(counted) => late = Some(counted),
        }
        let folded = self.ingest_one(WitnessName::Kmsg, occurrence, count);
        // Anything else than a witness of what is in the fold has been counted.
        let is_witness = |(folded, _): &(Folded, u64)| matches!(folded, Folded::Witnessed(_));
        if let Some(counted) = late.filter(|_| folded.iter().all(is_witness)) {
            self.count(&counted, 1, provenance);
        }
    }

    /// An Xid without text: it is a known one's, or waits for the text.
    fn ingest_without_text(&mut self, witness: WitnessName, occurrence: Occurrence) {
        if let Some(mut line) = self.confirmations.take_reported(&occurrence) {
            line.provenance = occurrence.provenance;
            self.ingest_one(WitnessName::PrintkConsole, *line, 1);
        }
        let at_ns = occurrence.boottime_ns.unwrap_or(0);
        let known = code_of(&occurrence)
            .and_then(|code| self.fold.unreported_by_code(witness, code, at_ns, NEAR_NS))
            .and_then(|id| self.fold.event(id))
            .map(|event| with_text(&occurrence, &Occurrence::from(event)));
        match known {
            Some(with_text) => {
                self.ingest_one(witness, with_text, 1);
            }
            None => {
                if let Err(refused) = self.pending_xids.wait(witness, occurrence) {
                    self.ingest_one(refused.witness, refused.occurrence, 1);
                }
            }
        }
    }

    /// Xids whose text has not come are reported without it, and lines that nobody has confirmed as such.
    fn ingest_overdue(&mut self, now: Instant) {
        if let Some(at_ns) = self.confirmations.open_record(now) {
            self.end_record.ask(at_ns);
        }
        for line in self.confirmations.overdue(now) {
            self.ingest_one(WitnessName::PrintkConsole, line, 1);
        }
        for counted in self.confirmations.unsettled(now) {
            self.count(&counted, 1, Provenance::Unknown);
        }
        for waiting in self.pending_xids.overdue(now) {
            self.ingest_one(waiting.witness, waiting.occurrence, 1);
        }
        self.send_batch();
    }

    fn ingest_one(
        &mut self,
        witness: WitnessName,
        mut occurrence: Occurrence,
        count: u64,
    ) -> Vec<(Folded, u64)> {
        let now_ns = clock::boottime_ns();
        let at_ns = occurrence.boottime_ns.unwrap_or(now_ns).min(now_ns);
        let time = clock::wall_time(at_ns);
        // Before it is judged: a site's rule may be for one GPU.
        self.known.name(&mut occurrence);
        self.poll_soon.ask_if_trouble(witness, &occurrence);
        // What reports without text wait for.
        let awaited = !lacks_text(witness) && code_of(&occurrence).is_some();
        let text = awaited.then(|| occurrence.clone());
        let folded = self.fold_in(Observed {
            witness,
            occurrence,
            at_ns,
            time,
            count,
        });
        let counted = |(folded, _): &(Folded, u64)| !matches!(folded, Folded::Witnessed(_));
        if let Some(text) = text.filter(|_| folded.iter().any(counted)) {
            for (witness, occurrence) in self.pending_xids.matching(&text) {
                let at_ns = occurrence.boottime_ns.unwrap_or(at_ns).min(now_ns);
                self.fold_in(Observed {
                    witness,
                    occurrence,
                    at_ns,
                    time: clock::wall_time(at_ns),
                    count: 1,
                });
            }
        }
        self.amend_soon();
        folded
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

    fn fold_in(&mut self, mut observed: Observed) -> Vec<(Folded, u64)> {
        let mut advice = self.catalogue.assess(&mut observed.occurrence);
        let provenance = observed.occurrence.provenance;
        let is_line =
            observed.witness == WitnessName::PrintkConsole && provenance == Provenance::Unknown;
        let mut line = is_line.then(|| Text::from(&observed.occurrence));
        if is_line && self.confirmable {
            advice.action = Some(Action::Log);
        }
        let Self {
            fold,
            host,
            machine_id,
            boot_id,
            ..
        } = self;
        let folded = fold.take(observed, |event| {
            event.host = Some(host.clone());
            event.machine_id.clone_from(machine_id);
            event.boot_id = Some(boot_id.clone());
            event.advice = Some(advice);
            if let Some(process) = &mut event.process {
                process::enrich(process);
            }
        });
        for (folded, count) in &folded {
            self.publish_folded(folded, *count, provenance, line.take());
        }
        folded
    }

    /// Publishes a new event, and counts `count` occurrences; `line` is the text if nobody has said who wrote it.
    fn publish_folded(
        &mut self,
        folded: &Folded,
        count: u64,
        provenance: Provenance,
        line: Option<Text>,
    ) {
        let is_line = line.is_some();
        match folded {
            Folded::New(id) => {
                let Some(event) = self.fold.event(*id).cloned() else {
                    return;
                };
                self.count_once(*id, &Counted::from(&event), count, provenance, line);
                if self.has_room(1) {
                    self.opened(&event);
                    if is_line {
                        self.unconfirmed.insert(*id, self.confirmable);
                    }
                } else {
                    // Else its repeats would change an event that nobody can find.
                    self.fold.forget(*id);
                }
                self.publish(Record::Event(Box::new(event.clone())), event);
            }
            Folded::Repeat(id) => {
                if let Some(event) = self.fold.event(*id) {
                    let (kind, counted) = (event.kind, Counted::from(event));
                    self.count_once(*id, &counted, count, provenance, line);
                    if kind == Kind::SourceLost || self.unconfirmed.contains_key(id) {
                        self.reassess(*id);
                    }
                }
            }
            Folded::Witnessed(id) => self.reassess(*id),
        }
    }

    /// Counts occurrences of the event `id`; that of a line of which nobody has said who wrote it, once somebody does.
    fn count_once(
        &mut self,
        id: EventId,
        counted: &Counted,
        count: u64,
        provenance: Provenance,
        line: Option<Text>,
    ) {
        let Some(line) = line else {
            return self.count(counted, count, provenance);
        };
        let now = Instant::now();
        let oldest = self.confirmations.count_later(line, id, *counted, now);
        if let Some(oldest) = oldest {
            self.count(&oldest, 1, Provenance::Unknown);
        }
    }

    fn count(&self, counted: &Counted, n: u64, provenance: Provenance) {
        let exists = counted.gpu().is_some_and(|pci| self.known.has(pci));
        let metrics = &self.hub.metrics;
        metrics.count_event(counted, provenance, exists, n);
    }

    /// A witness may have added what changes the judgement.
    fn reassess(&mut self, id: EventId) {
        let Some(event) = self.fold.event(id) else {
            return;
        };
        let provenance = event.provenance;
        let mut occurrence = Occurrence::from(event);
        let mut advice = self.catalogue.assess(&mut occurrence);
        if provenance == Provenance::Unknown {
            if self.unconfirmed.get(&id) == Some(&true) {
                advice.action = Some(Action::Log);
            }
        } else if let Some(withheld) = self.unconfirmed.remove(&id) {
            if withheld {
                // It is a fault from now on, and somebody waits for that.
                self.amend_at = Some(Instant::now());
            }
            for counted in self.confirmations.settle(id) {
                self.count(&counted, 1, provenance);
            }
        }
        let judged = (occurrence.severity, provenance);
        if let Some(counted) = self.open.get_mut(&id)
            && *counted != judged
        {
            let before = std::mem::replace(counted, judged);
            self.count_open(before, false);
            self.count_open(judged, true);
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

    /// Puts a record into the next batch for the store, which publishes it; false if it is lost.
    fn publish(&mut self, record: Record, event: Event) -> bool {
        if !self.has_room(1) {
            if self.dropped == 0 {
                tracing::error!(
                    "the store takes nothing and {MAX_WAITING} records wait: further ones are lost"
                );
            }
            self.dropped += 1;
            self.hub.metrics.count_lost("store", "queue_full", 1);
            // Whoever is on call sees it all the same.
            let published = Arc::new(Published::provisional(record, event));
            self.hub.publish_provisional(published, false);
            return false;
        }
        self.dropped = 0;
        match Pending::new(record, event) {
            Ok(pending) => {
                self.batch.push(pending);
                true
            }
            Err(error) => {
                tracing::error!("a record cannot be written as JSON: {error}");
                self.hub.metrics.count_lost("store", "not_json", 1);
                false
            }
        }
    }

    fn amend(&mut self) {
        self.amend_and(None);
    }

    /// As [`Self::amend`]; `answer` is called once the store has it all, or could not take it.
    fn amend_and(&mut self, answer: Option<Answer>) {
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
            self.writer
                .append(std::mem::take(&mut self.batch), cursor, answer);
            self.kmsg_stored = self.kmsg_seq;
            self.cursor_at = Instant::now();
        } else if let Some(answer) = answer {
            self.writer.flush(answer);
        }
        if self.fold.expire(clock::boottime_ns()) > SHRINK_AFTER {
            memory::give_back();
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
            Command::Ack(ack, answer) => self.ack(ack, answer),
            Command::Flush(answer) => self.amend_and(Some(Box::new(move |result| {
                // Whoever asked may have given up.
                let _ = answer.send(result);
            }))),
            Command::Pause(_, answer) => {
                let _ = answer.send(Err("the core does not own the probes".to_owned()));
            }
        }
    }

    /// The answer comes from the store's thread: the core does not wait for the disk.
    fn ack(&mut self, ack: Ack, answer: oneshot::Sender<Result<Event, String>>) {
        let result = match self.find(ack.id) {
            Ok(event) => self.acknowledge(ack, event),
            Err(why) => Err(why),
        };
        match result {
            Ok(event) => self.amend_and(Some(Box::new(move |stored| {
                // Whoever asked may have given up.
                let _ = answer.send(stored.map(|()| event).map_err(|why| {
                    format!("{why}; the acknowledgement waits with other records until the store takes them")
                }));
            }))),
            Err(why) => {
                let _ = answer.send(Err(why));
            }
        }
    }

    fn acknowledge(&mut self, ack: Ack, mut event: Event) -> Result<Event, String> {
        // Before it is published: nobody is to see an acknowledgement that was refused.
        if !self.has_room(1) {
            return Err("the store takes nothing, and no more records may wait for it".to_owned());
        }
        event.acks.push(ack.clone());
        if !self.publish(Record::Ack(ack), event.clone()) {
            return Err("the acknowledgement cannot be written as JSON".to_owned());
        }
        let acks = event.acks.clone();
        self.fold.change(event.id, |event| event.acks = acks);
        if let Some(counted) = self.open.remove(&event.id) {
            self.count_open(counted, false);
        }
        Ok(event)
    }

    /// The event as everything that was published says.
    fn find(&self, id: EventId) -> Result<Event, String> {
        let live = self.fold.event(id).cloned();
        let waiting = || self.writer.event(id);
        if let Some(event) = live.or_else(waiting) {
            return Ok(event);
        }
        Reader::open(&self.store_path)
            .and_then(|reader| reader.event(id))
            .inspect_err(|error| self.hub.suspect_store(error))
            .map_err(|e| e.to_string())?
            .ok_or_else(|| format!("there is no event {id}"))
    }
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
