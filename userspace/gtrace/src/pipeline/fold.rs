//! One occurrence seen by several sources, or happening again, is one event.
//!
//! Each live event keeps the times of its occurrences, and each witness a place in that list: the
//! next occurrence that it has not told of yet. What a witness tells is the occurrence at that
//! place if the times agree; else it is a new occurrence, a repeat of the event or the first of
//! another. So two sources that both see everything never count anything twice, and where one
//! loses records the other's count stands.

use std::collections::{HashMap, VecDeque};

use gtrace_event::{
    Amendment, Detail, Event, EventId, FoldKey, Kind, Occurrence, PciAddress, Provenance,
    Timestamp, Witness, WitnessName,
};

use super::textless::is_textless;

/// How far apart two sources may tell of one occurrence.
const TOLERANCE_NS: u64 = 10_000_000_000;
/// The same for sources that are polled.
const POLLED_TOLERANCE_NS: u64 = 60_000_000_000;
/// How far apart the pieces of one record may be logged.
const PIECES_NS: u64 = 250_000_000;
/// How many events are kept live at most; the oldest goes first.
pub(super) const MAX_LIVE: usize = 2048;
/// The tables give memory back when so many events have gone at once.
pub const SHRINK_AFTER: usize = 256;
/// Among how many of the newest events a report without text looks for its own.
const CODE_SEARCH: usize = 256;
/// How many times of occurrences are kept an event.
const MAX_TIMES: usize = 65_536;

/// What a told occurrence led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Folded {
    /// A new event.
    New(EventId),
    /// One more occurrence of an event.
    Repeat(EventId),
    /// Another witness for an occurrence that is known.
    Witnessed(EventId),
}

impl Folded {
    /// The event.
    pub fn id(&self) -> EventId {
        match self {
            Self::New(id) | Self::Repeat(id) | Self::Witnessed(id) => *id,
        }
    }
}

/// An event that may still get witnesses and repeats.
#[derive(Debug)]
struct Live {
    event: Event,
    /// The event as last published, while it has changed since.
    published: Option<Box<Event>>,
    key: FoldKey,
    /// Times of occurrences since boot, oldest first; `base` were dropped from the front.
    times: VecDeque<u64>,
    base: u64,
    /// By witness, the occurrence that it would tell of next.
    next: HashMap<WitnessName, u64>,
    last_ns: u64,
}

/// All live events.
#[derive(Debug)]
pub struct Fold {
    window_ns: u64,
    live: HashMap<EventId, Live>,
    by_key: HashMap<FoldKey, Vec<EventId>>,
    /// Driver errors by device and code, for records that are put together from pieces.
    by_code: HashMap<(String, u32), EventId>,
    order: VecDeque<EventId>,
    /// Events that have changed since they were last published.
    dirty: Vec<EventId>,
}

impl Fold {
    /// Nothing live; the same event within `window_ns` is a repeat.
    pub fn new(window_ns: u64) -> Self {
        Self {
            window_ns,
            live: HashMap::new(),
            by_key: HashMap::new(),
            by_code: HashMap::new(),
            order: VecDeque::new(),
            dirty: Vec::new(),
        }
    }

    /// Takes up an event of an earlier run, so that the kernel log's history finds it.
    pub fn adopt(&mut self, event: Event, key: FoldKey, last_ns: u64) {
        let total = event.repeats + 1;
        let kept = usize::try_from(total).unwrap_or(MAX_TIMES).min(MAX_TIMES);
        let base = total - kept as u64;
        // The store keeps the first and the last time; the rest lie between.
        let first_ns = event.boottime_ns.unwrap_or(last_ns);
        let step = last_ns.saturating_sub(first_ns) / total.max(2).saturating_sub(1);
        let times = (base..total).map(|i| first_ns + i * step).collect();
        let next = event
            .witnesses
            .iter()
            .map(|w| (w.source, w.count.min(total)))
            .collect();
        self.insert(Live {
            published: None,
            event,
            key,
            times,
            base,
            next,
            last_ns,
        });
    }

    /// Takes what `witness` tells. `at_ns` is its time since boot, `time` by the wall clock.
    ///
    /// For a new event, `explain` fills in host, advice and the like before it is published.
    pub fn take(
        &mut self,
        witness: WitnessName,
        occurrence: Occurrence,
        at_ns: u64,
        time: Timestamp,
        explain: impl FnOnce(&mut Event),
    ) -> Folded {
        if let Some(id) = self.find_rest_of(&occurrence, at_ns) {
            return Folded::Witnessed(id);
        }
        let key = occurrence.fold_key();
        if let Some(id) = self.find_begun(&key, &occurrence, at_ns) {
            self.go_on(id, &occurrence, at_ns);
            return Folded::Witnessed(id);
        }
        if let Some(id) = self.find_untold(&key, witness, at_ns) {
            if let Some(folded) = self.witness(id, witness, &occurrence, at_ns, time) {
                return folded;
            }
        } else if let Some(id) = self.find_pieces(&occurrence, witness, at_ns) {
            self.complete(id, witness, &occurrence, at_ns, time);
            return Folded::Witnessed(id);
        }
        if let Some(id) = self.find_repeat(&key, occurrence.provenance, at_ns) {
            self.repeat(id, witness, &occurrence, at_ns, time);
            return Folded::Repeat(id);
        }
        let first = Witness {
            source: witness,
            count: 1,
            first_time: time,
        };
        let mut event = Event::new(time, first, occurrence);
        event.boottime_ns = Some(at_ns);
        explain(&mut event);
        let id = event.id;
        self.insert(Live {
            published: None,
            event,
            key,
            times: VecDeque::from([at_ns]),
            base: 0,
            next: HashMap::from([(witness, 1)]),
            last_ns: at_ns,
        });
        Folded::New(id)
    }

    /// A live event with the key that has an occurrence at about `at_ns` that `witness` has not
    /// told of.
    fn find_untold(&mut self, key: &FoldKey, witness: WitnessName, at_ns: u64) -> Option<EventId> {
        let tolerance = tolerance(witness);
        let ids = self.by_key.get(key)?;
        for id in ids {
            let Some(live) = self.live.get_mut(id) else {
                continue;
            };
            let mut next = live.next.get(&witness).copied().unwrap_or(0).max(live.base);
            let end = live.base + live.times.len() as u64;
            // What lies too far back, this witness has lost.
            while next < end && live.time(next).saturating_add(tolerance) < at_ns {
                next += 1;
            }
            live.next.insert(witness, next);
            if next < end && live.time(next) <= at_ns.saturating_add(tolerance) {
                return Some(*id);
            }
        }
        None
    }

    /// `witness` tells of the next occurrence of `id`. `None` if what it tells cannot be that
    /// occurrence after all, as somebody else wrote it; that one is then taken back.
    fn witness(
        &mut self,
        id: EventId,
        witness: WitnessName,
        occurrence: &Occurrence,
        at_ns: u64,
        time: Timestamp,
    ) -> Option<Folded> {
        let live = self.live.get_mut(&id)?;
        let known = live.event.provenance;
        let told = occurrence.provenance;
        if told != Provenance::Unknown && known != Provenance::Unknown && told != known {
            if live.event.repeats > 0 {
                live.mark(&mut self.dirty);
                live.event.repeats -= 1;
                live.times.pop_back();
                let end = live.base + live.times.len() as u64;
                live.next
                    .values_mut()
                    .for_each(|next| *next = (*next).min(end));
                if let Some(first) = live
                    .event
                    .witnesses
                    .iter_mut()
                    .find(|w| w.source != witness)
                {
                    first.count = first.count.saturating_sub(1).max(1);
                }
            }
            return None;
        }
        live.mark(&mut self.dirty);
        if known == Provenance::Unknown {
            live.event.provenance = told;
        }
        *live.next.entry(witness).or_default() += 1;
        live.add_witness(witness, time);
        live.enrich(occurrence);
        live.last_ns = live.last_ns.max(at_ns);
        Some(Folded::Witnessed(id))
    }

    /// The live event that the occurrence is the rest of: the end of a report of a PCIe error whose
    /// first lines, with the severity, were lost. It says nothing new.
    fn find_rest_of(&self, occurrence: &Occurrence, at_ns: u64) -> Option<EventId> {
        let aer = &occurrence.detail.aer;
        let rest = occurrence.kind == Kind::Aer
            && aer.severity.is_none()
            && aer.recovery.is_none()
            && aer.dpc_reason.is_none();
        let device = occurrence.detail.pcie.pci_device.filter(|_| rest)?;
        let newest = self.order.iter().rev().take(CODE_SEARCH);
        newest.copied().find(|id| {
            self.live.get(id).is_some_and(|live| {
                live.event.kind == Kind::Aer
                    && live.event.detail.aer.severity.is_some()
                    && live.event.detail.pcie.pci_device == Some(device)
                    && live.last_ns.abs_diff(at_ns) <= TOLERANCE_NS
            })
        })
    }

    /// The newest live event whose report the occurrence goes on with.
    fn find_begun(&self, key: &FoldKey, occurrence: &Occurrence, at_ns: u64) -> Option<EventId> {
        let ids = self.by_key.get(key).filter(|_| occurrence.continues)?;
        ids.iter().rev().copied().find(|id| {
            let live = self.live.get(id);
            live.is_some_and(|live| live.last_ns.abs_diff(at_ns) <= POLLED_TOLERANCE_NS)
        })
    }

    /// Adds the rest of a report to the event; it was counted when it began.
    fn go_on(&mut self, id: EventId, occurrence: &Occurrence, at_ns: u64) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.mark(&mut self.dirty);
        live.enrich(occurrence);
        let event = &mut live.event;
        if event.repeats == 0 && !event.message.contains(&occurrence.message) {
            event.message.push('\n');
            event.message.push_str(&occurrence.message);
        }
        live.last_ns = live.last_ns.max(at_ns);
    }

    /// A live event that is the same record as the occurrence, one of them as the piece of it that
    /// printk:console showed, the other as the whole that /dev/kmsg has: the driver puts records
    /// together with KERN_CONT.
    fn find_pieces(
        &self,
        occurrence: &Occurrence,
        witness: WitnessName,
        at_ns: u64,
    ) -> Option<EventId> {
        let code = code_key(occurrence.kind, &occurrence.gpu, &occurrence.detail)?;
        let id = *self.by_code.get(&code)?;
        let live = self.live.get(&id)?;
        if is_synthetic(&live.event.message) && !is_synthetic(&occurrence.message) {
            let late = live.last_ns.abs_diff(at_ns) <= tolerance(witness);
            return (late && !live.next.contains_key(&witness)).then_some(id);
        }
        let (piece, whole, other) = match witness {
            WitnessName::Kmsg => (
                &live.event.message,
                &occurrence.message,
                WitnessName::PrintkConsole,
            ),
            WitnessName::PrintkConsole => {
                (&occurrence.message, &live.event.message, WitnessName::Kmsg)
            }
            _ => return None,
        };
        let with_text = live.next.keys().filter(|seen| !is_textless(**seen));
        let only_by_other = with_text.copied().all(|seen| seen == other);
        let near = live.last_ns.abs_diff(at_ns) <= PIECES_NS;
        (only_by_other && near && is_piece(piece, whole)).then_some(id)
    }

    /// `witness` tells of the same record as `id`, more or less complete.
    fn complete(
        &mut self,
        id: EventId,
        witness: WitnessName,
        occurrence: &Occurrence,
        at_ns: u64,
        time: Timestamp,
    ) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.mark(&mut self.dirty);
        let has_text = !is_synthetic(&live.event.message);
        if !has_text || occurrence.message.len() > live.event.message.len() {
            live.event.message.clone_from(&occurrence.message);
            live.event.detail.clone_from(&occurrence.detail);
            live.event.process.clone_from(&occurrence.process);
            let new_key = occurrence.fold_key();
            let old_key = std::mem::replace(&mut live.key, new_key.clone());
            remove_id(&mut self.by_key, &old_key, id);
            self.by_key.entry(new_key).or_default().push(id);
        }
        if let Some(live) = self.live.get_mut(&id) {
            if live.event.provenance == Provenance::Unknown {
                live.event.provenance = occurrence.provenance;
            }
            *live.next.entry(witness).or_default() += 1;
            live.add_witness(witness, time);
            live.last_ns = live.last_ns.max(at_ns);
        }
    }

    /// The newest live event that an occurrence at `at_ns` repeats.
    fn find_repeat(&self, key: &FoldKey, told: Provenance, at_ns: u64) -> Option<EventId> {
        let ids = self.by_key.get(key)?;
        ids.iter().rev().copied().find(|id| {
            self.live.get(id).is_some_and(|live| {
                let known = live.event.provenance;
                let same_writer =
                    told == known || told == Provenance::Unknown || known == Provenance::Unknown;
                same_writer && at_ns.abs_diff(live.last_ns) <= self.window_ns
            })
        })
    }

    fn repeat(
        &mut self,
        id: EventId,
        witness: WitnessName,
        occurrence: &Occurrence,
        at_ns: u64,
        time: Timestamp,
    ) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.mark(&mut self.dirty);
        live.event.repeats += 1;
        live.event.last_time = Some(live.event.last_time.map_or(time, |last| last.max(time)));
        if live.event.provenance == Provenance::Unknown {
            live.event.provenance = occurrence.provenance;
        }
        // A late teller may come out of order; the list stays sorted.
        let at_ns = at_ns.max(live.times.back().copied().unwrap_or(0));
        live.times.push_back(at_ns);
        if live.times.len() > MAX_TIMES {
            live.times.pop_front();
            live.base += 1;
        }
        let end = live.base + live.times.len() as u64;
        live.next.insert(witness, end);
        live.add_witness(witness, time);
        live.enrich(occurrence);
        add_losses(&mut live.event, occurrence);
        live.last_ns = at_ns;
    }

    fn insert(&mut self, live: Live) {
        let id = live.event.id;
        self.by_key.entry(live.key.clone()).or_default().push(id);
        if let Some(code) = code_key(live.event.kind, &live.event.gpu, &live.event.detail) {
            self.by_code.insert(code, id);
        }
        self.order.push_back(id);
        self.live.insert(id, live);
    }

    /// The event as it stands.
    pub fn event(&self, id: EventId) -> Option<&Event> {
        self.live.get(&id).map(|live| &live.event)
    }

    /// The live events that `wanted` holds for.
    pub fn find(&self, wanted: impl Fn(&Event) -> bool) -> Vec<EventId> {
        let live = self.live.values().map(|live| &live.event);
        live.filter(|event| wanted(event)).map(|e| e.id).collect()
    }

    /// The newest event of an Xid by GPU and code that has a text and an occurrence within `near_ns`
    /// of `at_ns` that `witness` has not told of.
    pub fn untold_by_code(
        &self,
        witness: WitnessName,
        (pci, code): (PciAddress, u32),
        at_ns: u64,
        near_ns: u64,
    ) -> Option<EventId> {
        let newest = self.order.iter().rev().take(CODE_SEARCH);
        newest.copied().find(|id| {
            self.live.get(id).is_some_and(|live| {
                let event = &live.event;
                let gpu = event.gpu.as_ref().and_then(|gpu| gpu.pci);
                if gpu != Some(pci)
                    || event.detail.xid.xid != Some(code)
                    || is_synthetic(&event.message)
                {
                    return false;
                }
                let next = live.next.get(&witness).copied().unwrap_or(0).max(live.base);
                let end = live.base + live.times.len() as u64;
                (next..end).any(|i| live.time(i).abs_diff(at_ns) <= near_ns)
            })
        })
    }

    /// Changes a live event; the change goes out with the next amendment.
    pub fn change(&mut self, id: EventId, change: impl FnOnce(&mut Event)) {
        if let Some(live) = self.live.get_mut(&id) {
            live.mark(&mut self.dirty);
            change(&mut live.event);
        }
    }

    /// Lets go of an event that was not published: what comes next is a new one.
    pub fn forget(&mut self, id: EventId) {
        let Some(live) = self.live.remove(&id) else {
            return;
        };
        remove_id(&mut self.by_key, &live.key, id);
        if let Some(code) = code_key(live.event.kind, &live.event.gpu, &live.event.detail)
            && self.by_code.get(&code) == Some(&id)
        {
            self.by_code.remove(&code);
        }
        self.order.retain(|known| *known != id);
    }

    /// What has changed since the last call, with the events that it leads to.
    pub fn amendments(&mut self, now: Timestamp) -> Vec<(Amendment, Event)> {
        let Self { live, dirty, .. } = self;
        dirty
            .drain(..)
            .filter_map(|id| live.get_mut(&id)?.amend(now))
            .collect()
    }

    /// Whether [`Self::amendments`] would say anything.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Lets go of events that nothing more is expected of and that have not changed since they were
    /// published; says how many.
    pub fn expire(&mut self, now_ns: u64) -> usize {
        let before = self.live.len();
        let keep_ns = self.window_ns.max(POLLED_TOLERANCE_NS);
        let mut excess = self.live.len().saturating_sub(MAX_LIVE);
        let Self {
            live: all,
            by_key,
            by_code,
            order,
            ..
        } = self;
        order.retain(|id| {
            let Some(live) = all.get(id) else {
                return false;
            };
            let old = now_ns.saturating_sub(live.last_ns) > keep_ns;
            if live.published.is_some() || !(old || excess > 0) {
                return true;
            }
            excess = excess.saturating_sub(1);
            remove_id(by_key, &live.key, *id);
            if let Some(code) = code_key(live.event.kind, &live.event.gpu, &live.event.detail)
                && by_code.get(&code) == Some(id)
            {
                by_code.remove(&code);
            }
            all.remove(id);
            false
        });
        let gone = before - self.live.len();
        if gone > SHRINK_AFTER {
            self.live.shrink_to_fit();
            self.by_key.shrink_to_fit();
            self.by_code.shrink_to_fit();
            self.order.shrink_to_fit();
        }
        gone
    }

    /// Number of live events.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether nothing is live.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }
}

impl Live {
    fn time(&self, index: u64) -> u64 {
        let at = usize::try_from(index.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.times.get(at).copied().unwrap_or(0)
    }

    /// Keeps the event as it was published, before its first change since.
    fn mark(&mut self, dirty: &mut Vec<EventId>) {
        if self.published.is_none() {
            self.published = Some(Box::new(self.event.clone()));
            dirty.push(self.event.id);
        }
    }

    fn add_witness(&mut self, source: WitnessName, first_time: Timestamp) {
        match self.event.witnesses.iter_mut().find(|w| w.source == source) {
            Some(witness) => witness.count += 1,
            None => self.event.witnesses.push(Witness {
                source,
                count: 1,
                first_time,
            }),
        }
    }

    /// Adds what this occurrence says and the event does not; a source with text gives the
    /// message.
    fn enrich(&mut self, occurrence: &Occurrence) {
        let event = &mut self.event;
        if event.gpu.is_none() {
            event.gpu.clone_from(&occurrence.gpu);
        }
        match (&mut event.process, &occurrence.process) {
            (Some(known), Some(told)) => {
                known.pid = known.pid.or(told.pid);
                known.comm = known.comm.take().or_else(|| told.comm.clone());
                known.cgroup = known.cgroup.take().or_else(|| told.cgroup.clone());
                known.container = known.container.take().or_else(|| told.container.clone());
            }
            (process @ None, told) => process.clone_from(told),
            (Some(_), None) => {}
        }
        if is_synthetic(&event.message) && !is_synthetic(&occurrence.message) {
            event.message.clone_from(&occurrence.message);
        }
        if event.detail != occurrence.detail
            && let Some(merged) = merge(&event.detail, &occurrence.detail)
        {
            *event.detail = merged;
        }
    }

    fn amend(&mut self, now: Timestamp) -> Option<(Amendment, Event)> {
        let published = self.published.take()?;
        self.event.revision = published.revision + 1;
        match Amendment::between(&published, &self.event, now) {
            Some(amendment) => Some((amendment, self.event.clone())),
            None => {
                self.event.revision = published.revision;
                None
            }
        }
    }
}

/// Messages of sources without a text of their own begin like this.
pub const SYNTHETIC: &str = "(no text) ";

fn is_synthetic(message: &str) -> bool {
    message.starts_with(SYNTHETIC)
}

/// `known`, with the fields that only `told` has.
fn merge(known: &Detail, told: &Detail) -> Option<Detail> {
    let (mut known, told) = (
        serde_json::to_value(known).ok()?,
        serde_json::to_value(told).ok()?,
    );
    let (fields, told) = (known.as_object_mut()?, told.as_object()?);
    for (name, value) in told {
        fields.entry(name.clone()).or_insert_with(|| value.clone());
    }
    serde_json::from_value(known).ok()
}

/// A loss of a source that goes on losing is one event with the sum.
fn add_losses(event: &mut Event, occurrence: &Occurrence) {
    let (known, told) = (&mut event.detail.source, &occurrence.detail.source);
    let (Some(lost), Some(more)) = (known.lost, told.lost) else {
        return;
    };
    let lost = lost.saturating_add(more);
    known.lost = Some(lost);
    known.last_seq = told.last_seq.or(known.last_seq);
    let source = known.source.as_deref().unwrap_or("a source");
    let reason = known.reason.as_deref().unwrap_or("no reason is known");
    event.message = format!("{lost} records of {source} are lost: {reason}");
}

/// Whether `whole` begins with `piece` and goes on with another word.
fn is_piece(piece: &str, whole: &str) -> bool {
    let Some(rest) = whole.strip_prefix(piece) else {
        return false;
    };
    let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let splits_word = in_word(piece.chars().next_back()) && in_word(rest.chars().next());
    !rest.is_empty() && !splits_word
}

fn tolerance(witness: WitnessName) -> u64 {
    match witness {
        WitnessName::SysfsAer
        | WitnessName::SysfsPci
        | WitnessName::SysfsRdma
        | WitnessName::Nvml => POLLED_TOLERANCE_NS,
        _ => TOLERANCE_NS,
    }
}

fn code_key(kind: Kind, gpu: &Option<gtrace_event::Gpu>, detail: &Detail) -> Option<(String, u32)> {
    let code = match kind {
        Kind::Xid => detail.xid.xid?,
        Kind::Sxid => detail.fabric.sxid?,
        _ => return None,
    };
    Some((gpu.as_ref()?.pci?.to_string(), code))
}

fn remove_id(by_key: &mut HashMap<FoldKey, Vec<EventId>>, key: &FoldKey, id: EventId) {
    if let Some(ids) = by_key.get_mut(key) {
        ids.retain(|other| *other != id);
        if ids.is_empty() {
            by_key.remove(key);
        }
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
