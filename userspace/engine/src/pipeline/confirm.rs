//! Who wrote a line that printk:console has shown. The tracepoint does not say, /dev/kmsg does: mostly within a
//! millisecond, but not before the next record where the line has no final newline. Until then the line is no
//! fault yet.
//!
//! A line waits a moment before it becomes an event ([`WITHIN`]), so that nearly every one begins with its
//! provenance. One whose record comes later than that is in the fold already; its occurrence is counted once
//! its record comes, so that no counter has to fall.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use gtrace_event::{EventId, Kind, Occurrence, PciAddress};

use super::fold::is_piece;
use super::pending_xids::{NEAR_NS, code_of};
use crate::metrics::Counted;

/// How long a line waits for its record before it is an event: so much later a true fault is seen at most.
const WITHIN: Duration = Duration::from_millis(50);
/// After so long the record is taken for an open one. Most come within a millisecond.
const OPEN_AFTER: Duration = Duration::from_millis(15);
/// After so long nobody is expected to say who wrote a line.
pub(super) const SETTLED_AFTER: Duration = Duration::from_secs(10);
/// A record that /dev/kmsg showed first waits so long for printk:console.
const SHOWN_FOR: Duration = Duration::from_secs(1);
/// Most lines that wait; further ones do not.
const MAX_HELD: usize = 4096;
/// Most occurrences that are counted later, and records that are remembered; the oldest go first.
const MAX_UNCOUNTED: usize = 4096;
const MAX_SHOWN: usize = 1024;

/// What of a line and its record is compared.
#[derive(Debug)]
pub(super) struct Text {
    kind: Kind,
    code: Option<(PciAddress, u32)>,
    at_ns: u64,
    /// Of kind and message: most comparisons end here.
    hash: u64,
    message: String,
}

impl From<&Occurrence> for Text {
    fn from(occurrence: &Occurrence) -> Self {
        let mut hasher = DefaultHasher::new();
        occurrence.kind.name().hash(&mut hasher);
        occurrence.message.hash(&mut hasher);
        Self {
            kind: occurrence.kind,
            code: code_of(occurrence),
            at_ns: occurrence.boottime_ns.unwrap_or(0),
            hash: hasher.finish(),
            message: occurrence.message.clone(),
        }
    }
}

impl Text {
    fn is_near(&self, other: &Self) -> bool {
        self.at_ns.abs_diff(other.at_ns) <= NEAR_NS
    }

    fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.message == other.message && self.is_near(other)
    }

    /// printk:console shows the pieces of a record, /dev/kmsg the whole.
    fn is_piece_of(&self, whole: &Self) -> bool {
        self.code.is_some()
            && self.code == whole.code
            && self.kind == whole.kind
            && self.is_near(whole)
            && is_piece(&self.message, &whole.message)
    }
}

/// A line that waits for its record.
#[derive(Debug)]
struct Held {
    text: Text,
    occurrence: Box<Occurrence>,
    since: Instant,
}

/// An occurrence in the fold of which nobody knows yet who wrote it.
#[derive(Debug)]
struct Uncounted {
    text: Text,
    event: EventId,
    counted: Counted,
    until: Instant,
}

/// What printk:console has shown of a record of /dev/kmsg.
#[derive(Debug)]
pub(super) enum Shown {
    /// Nothing yet.
    First,
    /// A line that has waited for this record.
    Held(Box<Occurrence>),
    /// A line that is in the fold already and was not counted.
    Uncounted(Counted),
}

/// Lines and records that wait for each other, each kind oldest first.
#[derive(Debug, Default)]
pub(super) struct Confirmations {
    held: VecDeque<Held>,
    uncounted: VecDeque<Uncounted>,
    shown: VecDeque<(Text, gtrace_event::Provenance, Instant)>,
    /// The end of records held until then was asked for.
    asked_until: Option<Instant>,
}

impl Confirmations {
    /// Has a line of printk:console wait for its record; gives it back if it need not, with its provenance, or
    /// cannot.
    pub(super) fn hold(
        &mut self,
        mut occurrence: Occurrence,
        now: Instant,
    ) -> Result<(), Box<Occurrence>> {
        let text = Text::from(&occurrence);
        self.shown.retain(|(_, _, until)| *until > now);
        let shown = position(&self.shown, |(record, ..)| (&text, record));
        if let Some((_, provenance, _)) = shown.and_then(|at| self.shown.remove(at)) {
            occurrence.provenance = provenance;
            return Err(Box::new(occurrence));
        }
        if self.held.len() >= MAX_HELD {
            return Err(Box::new(occurrence));
        }
        self.held.push_back(Held {
            text,
            occurrence: Box::new(occurrence),
            since: now,
        });
        Ok(())
    }

    /// /dev/kmsg shows a record: what printk:console showed of it.
    pub(super) fn show(&mut self, record: &Occurrence, now: Instant) -> Shown {
        let text = Text::from(record);
        let held = position(&self.held, |held| (&held.text, &text));
        if let Some(held) = held.and_then(|at| self.held.remove(at)) {
            return Shown::Held(held.occurrence);
        }
        let uncounted = position(&self.uncounted, |line| (&line.text, &text));
        if let Some(line) = uncounted.and_then(|at| self.uncounted.remove(at)) {
            return Shown::Uncounted(line.counted);
        }
        if self.shown.len() >= MAX_SHOWN {
            self.shown.pop_front();
        }
        self.shown
            .push_back((text, record.provenance, now + SHOWN_FOR));
        Shown::First
    }

    /// Another witness of the kernel reports an Xid: the line that has waited for that.
    pub(super) fn take_reported(&mut self, report: &Occurrence) -> Option<Box<Occurrence>> {
        let code = code_of(report)?;
        let at_ns = report.boottime_ns.unwrap_or(0);
        let meant = |held: &Held| {
            held.text.code == Some(code) && held.text.at_ns.abs_diff(at_ns) <= NEAR_NS
        };
        let at = self.held.iter().position(meant)?;
        self.held.remove(at).map(|held| held.occurrence)
    }

    /// Lines that have waited long enough.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<Occurrence> {
        let due = |held: &&Held| held.since + WITHIN <= now;
        let due = self.held.iter().take_while(due).count();
        self.held
            .drain(..due)
            .map(|held| *held.occurrence)
            .collect()
    }

    /// When the newest line was logged whose record may be open, once that is likely.
    pub(super) fn open_record(&mut self, now: Instant) -> Option<u64> {
        let due = |held: &&Held| held.since + OPEN_AFTER <= now;
        let newest = self.held.iter().take_while(due).last()?;
        let asked = self.asked_until.is_some_and(|until| newest.since <= until);
        self.asked_until = Some(newest.since);
        (!asked).then_some(newest.text.at_ns)
    }

    /// An occurrence of `event` is counted once it is known who wrote `line`; gives back one that is not waited for
    /// any longer.
    pub(super) fn count_later(
        &mut self,
        line: Text,
        event: EventId,
        counted: Counted,
        now: Instant,
    ) -> Option<Counted> {
        let full = self.uncounted.len() >= MAX_UNCOUNTED;
        let oldest = full.then(|| self.uncounted.pop_front()).flatten();
        self.uncounted.push_back(Uncounted {
            text: line,
            event,
            counted,
            until: now + SETTLED_AFTER,
        });
        oldest.map(|line| line.counted)
    }

    /// It is known who wrote `event`: its occurrences that were not counted.
    pub(super) fn settle(&mut self, event: EventId) -> Vec<Counted> {
        let mut settled = Vec::new();
        self.uncounted.retain(|line| {
            if line.event == event {
                settled.push(line.counted);
            }
            line.event != event
        });
        settled
    }

    /// Occurrences of which nobody will say who wrote them.
    pub(super) fn unsettled(&mut self, now: Instant) -> Vec<Counted> {
        let due = |line: &&Uncounted| line.until <= now;
        let due = self.uncounted.iter().take_while(due).count();
        self.uncounted.drain(..due).map(|l| l.counted).collect()
    }

    /// When something of this is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let held = self.held.front().map(|held| held.since + WITHIN);
        let unasked = |held: &&Held| self.asked_until.is_none_or(|until| held.since > until);
        let open = self.held.iter().find(unasked);
        let open = open.map(|held| held.since + OPEN_AFTER);
        let uncounted = self.uncounted.front().map(|line| line.until);
        [held, open, uncounted].into_iter().flatten().min()
    }
}

/// Where the first pair of a line and its record is: the same text, or else a piece of it.
fn position<'a, T>(
    items: &'a VecDeque<T>,
    pair: impl Fn(&'a T) -> (&'a Text, &'a Text),
) -> Option<usize> {
    let same = items.iter().position(|item| {
        let (line, record) = pair(item);
        line.is_same(record)
    });
    same.or_else(|| {
        items.iter().position(|item| {
            let (line, record) = pair(item);
            line.is_piece_of(record)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_event::{Gpu, Provenance, Severity};

    fn line(message: &str, at_ns: u64) -> Occurrence {
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, message);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        occurrence.detail.xid.xid = Some(79);
        occurrence.boottime_ns = Some(at_ns);
        occurrence
    }

    fn record(message: &str, at_ns: u64) -> Occurrence {
        Occurrence {
            provenance: Provenance::Userspace,
            ..line(message, at_ns)
        }
    }

    #[test]
    fn a_line_and_its_record_find_each_other_whichever_comes_first() {
        let now = Instant::now();
        let mut waits = Confirmations::default();
        waits.hold(line("Xid 79, a", 1000), now).unwrap();
        waits.hold(line("Xid 79, b", 1000), now).unwrap();
        let Shown::Held(found) = waits.show(&record("Xid 79, b", 2000), now) else {
            panic!("it waits");
        };
        assert_eq!(found.message, "Xid 79, b");
        // The whole of which printk:console showed a piece.
        let whole = record("Xid 79, a and more", 3000);
        assert!(matches!(waits.show(&whole, now), Shown::Held(_)));

        let first = record("Xid 79, c", 4000);
        assert!(matches!(waits.show(&first, now), Shown::First));
        let found = waits.hold(line("Xid 79, c", 4000), now).unwrap_err();
        assert_eq!(found.provenance, Provenance::Userspace);
        waits.hold(line("Xid 79, c", 4000), now).unwrap();
    }

    #[test]
    fn the_same_text_long_before_or_after_is_another_record() {
        let now = Instant::now();
        let mut waits = Confirmations::default();
        waits.hold(line("Xid 79", 0), now).unwrap();
        let later = record("Xid 79", NEAR_NS + 1);
        assert!(matches!(waits.show(&later, now), Shown::First));
        let forgotten = now + SHOWN_FOR;
        waits.hold(line("Xid 79", NEAR_NS + 1), forgotten).unwrap();
    }

    #[test]
    fn a_line_waits_for_a_bounded_time_and_its_end_is_asked_for_once() {
        let begin = Instant::now();
        let mut waits = Confirmations::default();
        assert!(waits.deadline().is_none() && waits.open_record(begin).is_none());
        waits.hold(line("Xid 79", 7), begin).unwrap();
        waits.hold(line("Xid 79, newest", 8), begin).unwrap();
        assert_eq!(waits.deadline(), Some(begin + OPEN_AFTER));
        assert_eq!(waits.open_record(begin), None);
        assert_eq!(waits.open_record(begin + OPEN_AFTER), Some(8));
        assert_eq!(waits.open_record(begin + OPEN_AFTER), None);
        // A line that has just come is not taken for an open one.
        let later = begin + 2 * OPEN_AFTER;
        waits.hold(line("Xid 79, later", 9), later).unwrap();
        assert_eq!(waits.open_record(later), None);
        assert_eq!(waits.deadline(), Some(later + OPEN_AFTER));
        let reported = waits.show(&record("Xid 79, later", 9), later);
        assert!(matches!(reported, Shown::Held(_)));
        assert_eq!(waits.deadline(), Some(begin + WITHIN));
        assert_eq!(waits.overdue(begin + WITHIN).len(), 2);
        assert!(waits.deadline().is_none());
    }

    #[test]
    fn lines_that_nobody_confirms_stay_bounded() {
        let now = Instant::now();
        let mut waits = Confirmations::default();
        let counted = Counted::from(&gtrace_event::Event::seen(
            gtrace_event::Timestamp::now(),
            gtrace_event::WitnessName::PrintkConsole,
            1,
            line("Xid 79", 1),
        ));
        let event = EventId::new(1);
        let mut given_up = 0;
        for n in 0..2 * MAX_HELD as u64 {
            let text = format!("Xid 79, {n}");
            let refused = waits.hold(line(&text, n), now).is_err();
            assert_eq!(refused, n >= MAX_HELD as u64);
            let text = Text::from(&line(&text, n));
            let oldest = waits.count_later(text, event, counted, now);
            given_up += usize::from(oldest.is_some());
        }
        assert_eq!(given_up, 2 * MAX_HELD - MAX_UNCOUNTED);
        assert_eq!(waits.unsettled(now).len(), 0);
        assert_eq!(waits.settle(event).len(), MAX_UNCOUNTED);

        let mut waits = Confirmations::default();
        for n in 0..2 * MAX_SHOWN as u64 {
            waits.show(&record(&format!("Xid 79, {n}"), n), now);
        }
        assert_eq!(waits.shown.len(), MAX_SHOWN);
    }
}
