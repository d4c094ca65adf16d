//! From what sources see to the fold: who wrote it, which text belongs to which report.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use gtrace_event::{Action, Event, EventId, Occurrence, Provenance, SlotChange, WitnessName};

use super::State;
use crate::input::Observation;
use crate::pipeline::confirm::{SETTLED_AFTER, Shown, Text};
use crate::pipeline::fold::{Folded, Observed};
use crate::pipeline::pending_checks::Due;
use crate::pipeline::pending_xids::{NEAR_NS, code_of, lacks_text, with_text};
use crate::supervise::names;
use crate::{clock, process};

/// Events that wait for a reading of holders, at most.
const UNNAMED: usize = 256;

/// Whether the record says no more than the line.
fn is_same(line: &Occurrence, record: &Occurrence) -> bool {
    let (process, detail) = (&record.process, &record.detail);
    line.message == record.message && line.process == *process && line.detail == *detail
}

impl State {
    pub(super) fn ingest(&mut self, mut observation: Observation) {
        if observation.witness == WitnessName::Kmsg
            && let Some([_, last]) = observation.occurrence.lines.take()
        {
            self.kmsg_seq = self.kmsg_seq.max(Some(last));
        }
        if let Err(observation) = self.pending_checks.wait_notice(observation) {
            self.ingest_now(*observation);
        }
    }

    /// An error of the hardware waits for whoever reports it with more.
    pub(super) fn ingest_check(&mut self, check: Observation) {
        if let Err(check) = self.pending_checks.wait_check(check) {
            self.ingest_now(*check);
        }
    }

    fn ingest_now(&mut self, observation: Observation) {
        let Observation {
            witness,
            occurrence,
            count,
        } = observation;
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
    pub(super) fn check_confirmable(&mut self) {
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

    pub(super) fn kmsg_is_read(&self) -> bool {
        self.hub.tasks.is_up(names::KMSG)
    }

    /// A line of printk:console, which does not say who wrote it: it waits for who does.
    pub(super) fn ingest_line(&mut self, mut occurrence: Occurrence) {
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
    pub(super) fn ingest_record(&mut self, occurrence: Occurrence, count: u64) {
        let provenance = occurrence.provenance;
        let mut late = None;
        match self.confirmations.show(&occurrence, Instant::now()) {
            Shown::First => {}
            Shown::Held(mut line) => {
                line.provenance = provenance;
                // The record may name the device beside its text, as the line cannot.
                if line.gpu.is_none() {
                    line.gpu.clone_from(&occurrence.gpu);
                }
                let also = (count == 1 && is_same(&line, &occurrence)).then_some(WitnessName::Kmsg);
                let folded = self.ingest_seen(WitnessName::PrintkConsole, also, *line, 1);
                if also.is_some() && matches!(folded[..], [(Folded::New(_), _)]) {
                    return;
                }
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
    pub(super) fn ingest_without_text(&mut self, witness: WitnessName, occurrence: Occurrence) {
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
    pub(super) fn ingest_overdue(&mut self, now: Instant) {
        if let Some(at_ns) = self.confirmations.open_record(now) {
            self.end_record.ask(at_ns);
        }
        // They may be what the others have waited for.
        self.ingest_unconfirmed(now);
        for due in self.pending_checks.overdue(now) {
            match due {
                Due::Check(check) => {
                    let now_ns = clock::boottime_ns();
                    let at_ns = check.occurrence.boottime_ns.unwrap_or(now_ns).min(now_ns);
                    let time = clock::wall_time(at_ns);
                    let (witness, occurrence) = (check.witness, &check.occurrence);
                    if !self.fold.absorb_check(witness, occurrence, at_ns, time) {
                        self.ingest_now(check);
                    }
                    self.amend_soon();
                }
                Due::Notice(line) => self.ingest_now(line),
            }
        }
        self.ingest_unconfirmed(now);
        for counted in self.confirmations.unsettled(now) {
            self.count(&counted, 1, Provenance::Unknown);
        }
        for waiting in self.pending_xids.overdue(now) {
            self.ingest_one(waiting.witness, waiting.occurrence, 1);
        }
        self.send_batch();
    }

    fn ingest_unconfirmed(&mut self, now: Instant) {
        for line in self.confirmations.overdue(now) {
            self.ingest_one(WitnessName::PrintkConsole, line, 1);
        }
    }

    pub(super) fn ingest_one(
        &mut self,
        witness: WitnessName,
        occurrence: Occurrence,
        count: u64,
    ) -> Vec<(Folded, u64)> {
        self.ingest_seen(witness, None, occurrence, count)
    }

    /// As [`Self::ingest_one`]; if it is a new event, `also` has seen it too, so that one record has both witnesses.
    fn ingest_seen(
        &mut self,
        witness: WitnessName,
        also: Option<WitnessName>,
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
        let awaited =
            !self.pending_xids.is_empty() && !lacks_text(witness) && code_of(&occurrence).is_some();
        let text = awaited.then(|| occurrence.clone());
        let observed = Observed {
            witness,
            occurrence,
            at_ns,
            time,
            count,
        };
        let folded = self.fold_in(observed, also);
        let counted = |(folded, _): &(Folded, u64)| !matches!(folded, Folded::Witnessed(_));
        if let Some(text) = text.filter(|_| folded.iter().any(counted)) {
            for (witness, occurrence) in self.pending_xids.matching(&text) {
                let at_ns = occurrence.boottime_ns.unwrap_or(at_ns).min(now_ns);
                let observed = Observed {
                    witness,
                    occurrence,
                    at_ns,
                    time: clock::wall_time(at_ns),
                    count: 1,
                };
                self.fold_in(observed, None);
            }
        }
        self.amend_soon();
        folded
    }

    /// A card is found in its slot before the GPU on it is found.
    pub(super) fn name_new_cards(&mut self) {
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

    /// Names whose these processes are, which were read, on the events that wait for it.
    pub(super) fn name_holders(&mut self, read: &BTreeSet<u32>) {
        let holders = self.hub.holders.get();
        // Others wait for the next reading: this one had begun before they came.
        let waiting = std::mem::take(&mut self.unnamed).into_iter();
        let (now, later): (VecDeque<_>, VecDeque<_>) =
            waiting.partition(|(_, pid)| read.contains(pid));
        self.unnamed = later;
        for (id, pid) in now {
            if let Some(holder) = holders.of_process(pid).cloned() {
                self.fold
                    .change(id, |event| event.detail.holders.holders = vec![holder]);
            }
        }
        self.amend_soon();
    }

    fn fold_in(&mut self, mut observed: Observed, also: Option<WitnessName>) -> Vec<(Folded, u64)> {
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
            hub,
            ..
        } = self;
        let (at_ns, time, count) = (observed.at_ns, observed.time, observed.count);
        let holders = hub.holders.get();
        let mut unnamed = None;
        let folded = fold.take(observed, |event| {
            event.host = Some(host.clone());
            event.machine_id.clone_from(machine_id);
            event.boot_id = Some(boot_id.clone());
            event.advice = Some(advice);
            if let Some(process) = &mut event.process
                && let Some(pid) = process.pid
                && process::enrich_since(process, pid, at_ns)
                && holders.of_process(pid).is_none()
            {
                unnamed = Some((event.id, pid));
            }
            event.detail.holders.holders = holders.of(event);
        });
        if let (Some(also), [(Folded::New(id), _)]) = (also, &folded[..]) {
            fold.also_seen(*id, also, time, count);
        }
        if let Some((id, pid)) = unnamed {
            self.unnamed.push_back((id, pid));
            if self.unnamed.len() > UNNAMED {
                self.unnamed.pop_front();
            }
            self.hub.holders.note_started(&[pid]);
            self.holders_wanted = true;
        }
        for (folded, count) in &folded {
            self.publish_folded(folded, *count, provenance, line.take());
        }
        folded
    }
}
