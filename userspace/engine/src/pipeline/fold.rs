//! One occurrence seen by several sources, or happening again, is one event.
//!
//! What identifies a fault is its [`FoldKey`]. Particulars that differ from one occurrence to the next,
//! as an address, make no other event: the event keeps some of them as variants.
//!
//! Each live event keeps the times of its occurrences, and each witness a place in that list: the
//! next occurrence that it has not reported yet. What a witness observes is the occurrence at that
//! place if the times agree; else it is a new occurrence, a repeat of the event or the first of
//! another. So two sources that both see everything never count anything twice, and where one
//! loses records, the other's count is kept.

mod held_back;
mod live;

use std::collections::{HashMap, VecDeque};

use gtrace_event::{
    Amendment, Detail, Event, EventId, FoldKey, Kind, Occurrence, PciAddress, Provenance,
    Timestamp, WitnessName,
};

pub(super) use self::live::is_piece;
use self::live::{Live, add_losses, is_synthetic};
use super::pending_checks::{is_memory_line, is_notice, is_rest};
use super::pending_xids::lacks_text;
use super::times::Times;

/// How far apart two sources may report one occurrence.
const TOLERANCE_NS: u64 = 10_000_000_000;
/// The same for sources that are polled.
const POLLED_TOLERANCE_NS: u64 = 60_000_000_000;
/// How far apart the pieces of one record may be logged.
const PIECES_NS: u64 = 250_000_000;
/// How many events are kept live at most; the one whose last occurrence was the longest ago goes first.
pub(super) const MAX_LIVE: usize = 2048;
/// The tables give memory back when so many events have gone at once.
pub const SHRINK_AFTER: usize = 256;
/// A report without text is matched against so many of the newest events.
const CODE_SEARCH: usize = 256;

/// Occurrences that a source saw at one time.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The source.
    pub witness: WitnessName,
    /// What it saw.
    pub occurrence: Occurrence,
    /// When, since boot.
    pub at_ns: u64,
    /// The same by the wall clock.
    pub time: Timestamp,
    /// How often: 1 for most sources, the rise of the counter for polled ones.
    pub count: u64,
}

/// What observed occurrences led to.
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

/// All live events.
#[derive(Debug, Default)]
pub struct Fold {
    window_ns: u64,
    live: HashMap<EventId, Live>,
    by_key: HashMap<FoldKey, Vec<EventId>>,
    /// Driver errors by device and code, for records that are put together from pieces.
    by_code: HashMap<(String, u32), EventId>,
    order: VecDeque<EventId>,
    /// Events that have changed since they were last published.
    dirty: Vec<EventId>,
    /// New events whose record waits for room in the store, in the order in which they came.
    held_back: Vec<EventId>,
    /// How many of these have gone.
    lost: u64,
}

impl Fold {
    /// Nothing live; the same event within `window_ns` is a repeat.
    pub fn new(window_ns: u64) -> Self {
        Self {
            window_ns,
            ..Self::default()
        }
    }

    /// Takes up an event of an earlier run at `now_ns`, so that the kernel log's history finds it.
    pub fn adopt(&mut self, event: Event, key: FoldKey, last_ns: u64, now_ns: u64) {
        let total = event.repeats + 1;
        // The store keeps the first and the last time.
        let first_ns = event.boottime_ns.unwrap_or(last_ns);
        let next = event
            .witnesses
            .iter()
            .map(|w| (w.source, w.count.min(total)))
            .collect();
        self.insert(Live {
            published: None,
            recorded: true,
            event,
            key,
            times: Times::spread(first_ns, last_ns, total),
            next,
            last_ns,
            adopted_ns: now_ns,
        });
    }

    /// Takes what was observed, and says what became of how many occurrences; together they are
    /// `observed.count`.
    ///
    /// For a new event, `explain` fills in host, advice and the like before it is published.
    pub fn take(
        &mut self,
        observed: Observed,
        explain: impl FnOnce(&mut Event),
    ) -> Vec<(Folded, u64)> {
        let mut left = observed.count.max(1);
        if let Some(id) = self.find_rest_of(&observed) {
            return vec![(Folded::Witnessed(id), left)];
        }
        if let Some(id) = self.find_logged(&observed) {
            return vec![(Folded::Witnessed(id), left)];
        }
        let key = observed.occurrence.fold_key();
        if let Some(id) = self.find_begun(&key, &observed) {
            self.go_on(id, &observed);
            return vec![(Folded::Witnessed(id), left)];
        }
        let mut folded = Vec::with_capacity(1);
        let mut contradicted = false;
        for id in self.by_key.get(&key).cloned().unwrap_or_default() {
            let count = self.unreported(id, &observed).min(left);
            if count == 0 {
                continue;
            }
            if !self.witness(id, &observed, count) {
                contradicted = true;
                break;
            }
            folded.push((Folded::Witnessed(id), count));
            left -= count;
            if left == 0 {
                return folded;
            }
        }
        if folded.is_empty()
            && !contradicted
            && let Some(id) = self.find_pieces(&observed)
        {
            self.complete(id, &observed);
            return vec![(Folded::Witnessed(id), left)];
        }
        folded.push(match self.find_repeat(&key, &observed) {
            Some(id) => {
                self.repeat(id, &observed, left);
                (Folded::Repeat(id), left)
            }
            None => (Folded::New(self.begin(key, observed, left, explain)), left),
        });
        folded
    }

    /// A new event of `count` occurrences.
    fn begin(
        &mut self,
        key: FoldKey,
        observed: Observed,
        count: u64,
        explain: impl FnOnce(&mut Event),
    ) -> EventId {
        let Observed {
            witness,
            occurrence,
            at_ns,
            time,
            ..
        } = observed;
        let mut event = Event::seen(time, witness, count, occurrence);
        event.boottime_ns = Some(at_ns);
        event.repeats = count - 1;
        event.last_time = (count > 1).then_some(time);
        explain(&mut event);
        let id = event.id;
        self.insert(Live {
            published: None,
            recorded: true,
            event,
            key,
            times: Times::new(at_ns, count),
            next: HashMap::from([(witness, count)]),
            last_ns: at_ns,
            adopted_ns: 0,
        });
        id
    }

    /// `witness` has seen the new event `id` too, which is not published yet.
    pub fn also_seen(&mut self, id: EventId, witness: WitnessName, time: Timestamp, count: u64) {
        if let Some(live) = self.live.get_mut(&id) {
            *live.next.entry(witness).or_default() += count;
            live.add_witness(witness, time, count);
        }
    }

    /// How many occurrences of `id` at about that time the witness has not reported.
    fn unreported(&mut self, id: EventId, observed: &Observed) -> u64 {
        let Some(live) = self.live.get_mut(&id) else {
            return 0;
        };
        // What a poll found may have been long before the poll, for whoever saw it happen too.
        let polled = live.next.keys().copied().find(|seen| is_polled(*seen));
        let tolerance = tolerance(polled.unwrap_or(observed.witness));
        // What lies too far back, this witness has lost.
        let (first, count) = live.next_within(observed.witness, observed.at_ns, tolerance);
        live.next.insert(observed.witness, first);
        count
    }

    /// The witness reports the next `count` occurrences of `id`. False if its observation cannot be
    /// those, as somebody else wrote it; one occurrence is then taken back.
    fn witness(&mut self, id: EventId, observed: &Observed, count: u64) -> bool {
        let Some(live) = self.live.get_mut(&id) else {
            return false;
        };
        let occurrence = &observed.occurrence;
        let (known, new_provenance) = (live.event.provenance, occurrence.provenance);
        if new_provenance != Provenance::Unknown
            && known != Provenance::Unknown
            && new_provenance != known
        {
            live.take_back(observed.witness, occurrence, &mut self.dirty);
            return false;
        }
        live.mark(&mut self.dirty);
        *live.next.entry(observed.witness).or_default() += count;
        live.was_seen(observed, count);
        live.enrich(occurrence, observed.time);
        true
    }

    /// The live event whose report the occurrence is the end of ([`is_rest`]). It says nothing new.
    fn find_rest_of(&self, observed: &Observed) -> Option<EventId> {
        let Observed {
            occurrence, at_ns, ..
        } = observed;
        let device = occurrence.detail.pcie.pci_device;
        let device = device.filter(|_| is_rest(occurrence))?;
        self.newest(|live| {
            live.event.kind == Kind::Aer
                && live.event.detail.aer.severity.is_some()
                && live.event.detail.pcie.pci_device == Some(device)
                && live.last_ns.abs_diff(*at_ns) <= TOLERANCE_NS
        })
    }

    /// The first of the newest events that `wanted` holds for.
    fn newest(&self, wanted: impl Fn(&Live) -> bool) -> Option<EventId> {
        let mut newest = self.order.iter().rev().take(CODE_SEARCH).copied();
        newest.find(|id| self.live.get(id).is_some_and(&wanted))
    }

    /// The live machine check, or error of memory, that the line `Machine check events logged` speaks of: the kernel logs that, and
    /// no more, after it has passed a corrected one on to mce:mce_record (arch/x86/kernel/cpu/mce/core.c). So it is with what
    /// drivers/edac/mce_amd.c logs of an error of memory, corrected as that one is or not. It says nothing new.
    fn find_logged(&self, observed: &Observed) -> Option<EventId> {
        let Observed {
            occurrence, at_ns, ..
        } = observed;
        let is_notice = is_notice(occurrence);
        if !is_notice && !is_memory_line(occurrence) {
            return None;
        }
        self.newest(|live| {
            let (theirs, ours) = (&live.event.detail.host, &occurrence.detail.host);
            let is_same = is_notice || theirs.corrected == ours.corrected;
            let reporting_witness = match live.event.kind {
                Kind::MachineCheck if is_notice => WitnessName::MceRecord,
                Kind::DimmError if is_same => WitnessName::RasMemory,
                _ => return false,
            };
            live.next.contains_key(&reporting_witness)
                && live.last_ns.abs_diff(*at_ns) <= TOLERANCE_NS
        })
    }

    /// A corrected or deferred machine check of a memory controller is the error that ras:mc_event reports with its module, and an error of
    /// firmware whose severity is not known the one that the kernel log reports with it: if there is one of about that time that
    /// the witness has not reported yet. False where there is none.
    pub fn absorb_check(
        &mut self,
        witness: WitnessName,
        occurrence: &Occurrence,
        at_ns: u64,
        time: Timestamp,
    ) -> bool {
        let found = self.newest(|live| {
            let (theirs, ours) = (&live.event.detail.host, &occurrence.detail.host);
            let says_more = match witness {
                WitnessName::MceRecord => {
                    live.event.kind == Kind::DimmError
                        && live.next.contains_key(&WitnessName::RasMemory)
                        && theirs.corrected == ours.corrected
                }
                _ => {
                    live.event.kind == Kind::MachineCheck
                        && theirs.corrected.is_some()
                        && theirs.error == ours.error
                        && live.event.provenance != Provenance::Userspace
                }
            };
            says_more && live.next_within(witness, at_ns, TOLERANCE_NS).1 > 0
        });
        let Some(live) = found.and_then(|id| self.live.get_mut(&id)) else {
            return false;
        };
        let (first, _) = live.next_within(witness, at_ns, TOLERANCE_NS);
        live.mark(&mut self.dirty);
        live.next.insert(witness, first + 1);
        live.add_witness(witness, time, 1);
        true
    }

    /// The newest live event whose report the occurrence goes on with.
    fn find_begun(&self, key: &FoldKey, observed: &Observed) -> Option<EventId> {
        let continues = observed.occurrence.continues;
        let ids = self.by_key.get(key).filter(|_| continues)?;
        ids.iter().rev().copied().find(|id| {
            let live = self.live.get(id);
            live.is_some_and(|live| live.last_ns.abs_diff(observed.at_ns) <= POLLED_TOLERANCE_NS)
        })
    }

    /// Adds the rest of a report to the event; it was counted when it began.
    fn go_on(&mut self, id: EventId, observed: &Observed) {
        let occurrence = &observed.occurrence;
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.mark(&mut self.dirty);
        live.enrich(occurrence, observed.time);
        let event = &mut live.event;
        if event.repeats == 0 && !event.message.contains(&occurrence.message) {
            event.message.push('\n');
            event.message.push_str(&occurrence.message);
        }
        live.last_ns = live.last_ns.max(observed.at_ns);
    }

    /// A live event that is the same record as the occurrence, one of them as the piece of it that
    /// printk:console showed, the other as the whole that /dev/kmsg has: the driver puts records
    /// together with KERN_CONT.
    fn find_pieces(&self, observed: &Observed) -> Option<EventId> {
        let Observed {
            occurrence,
            witness,
            at_ns,
            ..
        } = observed;
        let code = code_key(occurrence.kind, &occurrence.gpu, &occurrence.detail)?;
        let id = *self.by_code.get(&code)?;
        let live = self.live.get(&id)?;
        if is_synthetic(&live.event.message) && !is_synthetic(&occurrence.message) {
            let late = live.last_ns.abs_diff(*at_ns) <= tolerance(*witness);
            return (late && !live.next.contains_key(witness)).then_some(id);
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
        let with_text = live.next.keys().filter(|seen| !lacks_text(**seen));
        let only_by_other = with_text.copied().all(|seen| seen == other);
        let near = live.last_ns.abs_diff(*at_ns) <= PIECES_NS;
        (only_by_other && near && is_piece(piece, whole)).then_some(id)
    }

    /// `witness` reports the same record as `id`, more or less complete.
    fn complete(&mut self, id: EventId, observed: &Observed) {
        let occurrence = &observed.occurrence;
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.mark(&mut self.dirty);
        *live.next.entry(observed.witness).or_default() += 1;
        live.was_seen(observed, 1);
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
    }

    /// The newest live event that the occurrence repeats.
    fn find_repeat(&self, key: &FoldKey, observed: &Observed) -> Option<EventId> {
        let provenance = observed.occurrence.provenance;
        let ids = self.by_key.get(key)?;
        ids.iter().rev().copied().find(|id| {
            self.live.get(id).is_some_and(|live| {
                let known = live.event.provenance;
                let same_writer = provenance == known
                    || provenance == Provenance::Unknown
                    || known == Provenance::Unknown;
                let near = observed.at_ns.abs_diff(live.last_ns) <= self.window_ns;
                same_writer && near
            })
        })
    }

    fn repeat(&mut self, id: EventId, observed: &Observed, count: u64) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        live.mark(&mut self.dirty);
        live.event.repeats += count;
        live.event.last_time = match observed.at_ns >= live.last_ns {
            // Also by a clock that was set back.
            true => Some(observed.time),
            false => live.event.last_time.max(Some(observed.time)),
        };
        live.times.push(observed.at_ns, count);
        live.next.insert(observed.witness, live.times.end());
        live.was_seen(observed, count);
        live.enrich(&observed.occurrence, observed.time);
        add_losses(&mut live.event, &observed.occurrence);
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
    /// of `at_ns` that `witness` has not reported.
    pub fn unreported_by_code(
        &self,
        witness: WitnessName,
        (pci, code): (PciAddress, u32),
        at_ns: u64,
        near_ns: u64,
    ) -> Option<EventId> {
        self.newest(|live| {
            let event = &live.event;
            event.gpu.as_ref().and_then(|gpu| gpu.pci) == Some(pci)
                && event.detail.xid.xid == Some(code)
                && !is_synthetic(&event.message)
                && live.next_within(witness, at_ns, near_ns).1 > 0
        })
    }

    /// Changes a live event; the change goes out with the next amendment.
    pub fn change(&mut self, id: EventId, change: impl FnOnce(&mut Event)) {
        if let Some(live) = self.live.get_mut(&id) {
            live.mark(&mut self.dirty);
            change(&mut live.event);
        }
    }

    /// What has changed since the last call, of `most` events, with the events that it leads to.
    pub fn amendments(&mut self, now: Timestamp, most: usize) -> Vec<(Amendment, Event)> {
        let Self {
            live: all, dirty, ..
        } = self;
        let most = most.min(dirty.len());
        let changed = dirty.drain(..most).filter_map(|id| {
            let live = all.get_mut(&id).filter(|live| live.recorded)?;
            live.amend(now)
        });
        changed.collect()
    }

    /// Whether [`Self::take_held_back`] or [`Self::amendments`] may give anything.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty() || self.holds_back()
    }

    /// Lets go of events that nothing more is expected of and that have not changed since they were
    /// published, or have no record; says how many.
    pub fn expire(&mut self, now_ns: u64) -> usize {
        let before = self.live.len();
        let keep_ns = self.window_ns.max(POLLED_TOLERANCE_NS);
        let last_to_go = self.last_in_excess();
        let Self {
            live: all,
            by_key,
            by_code,
            order,
            dirty,
            held_back,
            lost,
            ..
        } = self;
        order.retain(|id| {
            let Some(live) = all.get(id) else {
                return false;
            };
            let old = now_ns.saturating_sub(live.last_ns.max(live.adopted_ns)) > keep_ns;
            let excess = last_to_go.is_some_and(|last| (live.last_ns, *id) <= last);
            if live.is_to_be_amended() || !(old || excess) {
                return true;
            }
            *lost += u64::from(!live.recorded);
            remove_id(by_key, &live.key, *id);
            if let Some(code) = code_key(live.event.kind, &live.event.gpu, &live.event.detail)
                && by_code.get(&code) == Some(id)
            {
                by_code.remove(&code);
            }
            all.remove(id);
            false
        });
        held_back.retain(|id| all.contains_key(id));
        dirty.retain(|id| all.get(id).is_some_and(|live| live.published.is_some()));
        let gone = before - self.live.len();
        if gone > SHRINK_AFTER {
            self.live.shrink_to_fit();
            self.by_key.shrink_to_fit();
            self.by_code.shrink_to_fit();
            self.order.shrink_to_fit();
        }
        gone
    }

    /// The last event to go of those that are too many. They go by the time of their last occurrence: in the order in which they
    /// came, a fault of now would go before its second witness has reported it, where that one reads a long history first.
    fn last_in_excess(&self) -> Option<(u64, EventId)> {
        let excess = self.live.len().checked_sub(MAX_LIVE)?;
        let unchanged = self.live.values().filter(|live| !live.is_to_be_amended());
        let mut unchanged: Vec<_> = unchanged
            .map(|live| (live.last_ns, live.event.id))
            .collect();
        let last = excess.min(unchanged.len()).checked_sub(1)?;
        let (_, last, _) = unchanged.select_nth_unstable(last);
        Some(*last)
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

fn tolerance(witness: WitnessName) -> u64 {
    match is_polled(witness) {
        true => POLLED_TOLERANCE_NS,
        false => TOLERANCE_NS,
    }
}

/// Whether the source reads a counter from time to time.
fn is_polled(witness: WitnessName) -> bool {
    matches!(
        witness,
        WitnessName::SysfsAer | WitnessName::SysfsPci | WitnessName::SysfsRdma | WitnessName::Nvml
    )
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
