//! One live event: what further witnesses and repeats add to it.

use std::collections::HashMap;

use gtrace_event::{
    Amendment, Event, EventId, FoldKey, Kind, Occurrence, Provenance, Timestamp, Variant, Witness,
    WitnessName,
};

use super::Observed;
use crate::input::SYNTHETIC;
use crate::pipeline::times::Times;

/// How many variants an event keeps, beside its own text.
pub(super) const MAX_VARIANTS: usize = 8;
/// Bytes of a variant's text that are kept.
const MAX_VARIANT_BYTES: usize = 512;

/// An event that may still get witnesses and repeats.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) event: Event,
    /// The event as last published, while it has changed since.
    pub(super) published: Option<Box<Event>>,
    /// Whether the store has its record, or that waits for nothing but the store.
    pub(super) recorded: bool,
    pub(super) key: FoldKey,
    /// When its occurrences were.
    pub(super) times: Times,
    /// By witness, the occurrence that it would report next.
    pub(super) next: HashMap<WitnessName, u64>,
    pub(super) last_ns: u64,
    /// When it was taken up from an earlier run, since boot; 0 for an event of this run.
    pub(super) adopted_ns: u64,
}

impl Live {
    /// One occurrence was none of this event's: somebody else wrote it.
    pub(super) fn take_back(
        &mut self,
        witness: WitnessName,
        occurrence: &Occurrence,
        dirty: &mut Vec<EventId>,
    ) {
        if self.event.repeats == 0 {
            return;
        }
        self.mark(dirty);
        self.event.repeats -= 1;
        self.times.pop();
        let end = self.times.end();
        self.next
            .values_mut()
            .for_each(|next| *next = (*next).min(end));
        let mut witnesses = self.event.witnesses.iter_mut();
        if let Some(first) = witnesses.find(|w| w.source != witness) {
            first.count = first.count.saturating_sub(1).max(1);
        }
        let text = cut(&occurrence.message);
        self.event.variants.retain(|known| known.message != text);
    }

    /// The first occurrence within `near_ns` of `at_ns` that the witness has not reported, and how many there are.
    pub(super) fn next_within(&self, witness: WitnessName, at_ns: u64, near_ns: u64) -> (u64, u64) {
        let next = self.next.get(&witness).copied().unwrap_or(0);
        let (from, to) = (at_ns.saturating_sub(near_ns), at_ns.saturating_add(near_ns));
        self.times.within(next, from, to)
    }

    /// Whether the store is to get a change of it.
    pub(super) fn is_to_be_amended(&self) -> bool {
        self.published.is_some() && self.recorded
    }

    /// Keeps the event as it was published, before its first change since.
    pub(super) fn mark(&mut self, dirty: &mut Vec<EventId>) {
        if self.published.is_none() {
            self.published = Some(Box::new(self.event.clone()));
            dirty.push(self.event.id);
        }
    }

    /// `count` occurrences were seen: by whom, when, and by whose hand, if that was not known.
    pub(super) fn was_seen(&mut self, observed: &Observed, count: u64) {
        if self.event.provenance == Provenance::Unknown {
            self.event.provenance = observed.occurrence.provenance;
        }
        self.add_witness(observed.witness, observed.time, count);
        // A late witness may report out of order.
        self.last_ns = self.last_ns.max(observed.at_ns);
    }

    pub(super) fn add_witness(&mut self, source: WitnessName, first_time: Timestamp, count: u64) {
        match self.event.witnesses.iter_mut().find(|w| w.source == source) {
            Some(witness) => witness.count += count,
            None => self.event.witnesses.push(Witness {
                source,
                count,
                first_time,
            }),
        }
    }

    /// Adds what this occurrence says and the event does not; a source with text gives the
    /// message. What differs in its particulars is kept as a variant: details of two occurrences are
    /// not mixed.
    pub(super) fn enrich(&mut self, occurrence: &Occurrence, time: Timestamp) {
        let event = &mut self.event;
        if event.gpu.is_none() {
            event.gpu.clone_from(&occurrence.gpu);
        }
        match (&mut event.process, &occurrence.process) {
            (Some(known), Some(observed)) => {
                known.pid = known.pid.or(observed.pid);
                known.comm = known.comm.take().or_else(|| observed.comm.clone());
                known.cgroup = known.cgroup.take().or_else(|| observed.cgroup.clone());
                known.container = known
                    .container
                    .take()
                    .or_else(|| observed.container.clone());
            }
            (process @ None, observed) => process.clone_from(observed),
            (Some(_), None) => {}
        }
        if is_synthetic(&event.message) && !is_synthetic(&occurrence.message) {
            event.message.clone_from(&occurrence.message);
        }
        if by_site(event.kind) && event.message != occurrence.message {
            if event.repeats == 0 && is_piece(&event.message, &occurrence.message) {
                event.message.clone_from(&occurrence.message);
                let piece = std::mem::replace(&mut event.detail, occurrence.detail.clone());
                event.detail.fill_from(&piece);
            } else if !is_piece(&occurrence.message, &event.message) {
                add_variant(&mut event.variants, &occurrence.message, time);
            }
            return;
        }
        if event.detail != occurrence.detail {
            event.detail.fill_from(&occurrence.detail);
        }
    }

    pub(super) fn amend(&mut self, now: Timestamp) -> Option<(Amendment, Event)> {
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

pub(super) fn is_synthetic(message: &str) -> bool {
    message.starts_with(SYNTHETIC)
}

/// Whether occurrences of this kind may be the same fault with different texts.
fn by_site(kind: Kind) -> bool {
    matches!(kind, Kind::Xid | Kind::Sxid)
}

/// Keeps a text that differs from the event's, unless it is known or there are enough.
fn add_variant(variants: &mut Vec<Variant>, text: &str, time: Timestamp) {
    let text = cut(text);
    let same = |known: &&mut Variant| {
        known.message == text || is_piece(&known.message, text) || is_piece(text, &known.message)
    };
    if let Some(known) = variants.iter_mut().find(same) {
        if known.message.len() < text.len() {
            known.message = text.to_owned();
        }
    } else if !is_synthetic(text) && variants.len() < MAX_VARIANTS {
        variants.push(Variant {
            time,
            message: text.to_owned(),
        });
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_VARIANT_BYTES)]
}

/// A loss of a source that goes on losing is one event with the sum.
pub(super) fn add_losses(event: &mut Event, occurrence: &Occurrence) {
    let (known, observed) = (&mut event.detail.source, &occurrence.detail.source);
    let (Some(lost), Some(more)) = (known.lost, observed.lost) else {
        return;
    };
    let lost = lost.saturating_add(more);
    known.lost = Some(lost);
    known.last_seq = observed.last_seq.or(known.last_seq);
    let source = known.source.as_deref().unwrap_or("a source");
    let reason = known.reason.as_deref().unwrap_or("no reason is known");
    event.message = format!("{lost} records of {source} are lost: {reason}");
}

/// Whether `whole` begins with `piece` and goes on with another word.
pub(in crate::pipeline) fn is_piece(piece: &str, whole: &str) -> bool {
    let Some(rest) = whole.strip_prefix(piece) else {
        return false;
    };
    let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let splits_word = in_word(piece.chars().next_back()) && in_word(rest.chars().next());
    !rest.is_empty() && !splits_word
}
