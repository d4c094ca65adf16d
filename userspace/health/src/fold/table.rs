//! Every part with its reasons, within bounds.

use std::collections::{BTreeMap, HashSet};

use gtrace_event::{
    Event, EventId, HealthReason, HealthSnapshot, HealthSubject, ReasonStatus, SubjectHealth,
    Timestamp,
};
use jiff::SignedDuration;

use crate::reason;
use crate::rules::Rule;

/// Parts that are known at most.
const SUBJECTS: usize = 256;
/// Reasons of one part at most, those that are over included.
const REASONS: usize = 32;

/// See the module. A part's `reasons` hold; its `past` has those that are pending or over.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    subjects: BTreeMap<HealthSubject, SubjectHealth>,
    /// Events that some reason rests on.
    events: HashSet<EventId>,
    /// Parts and reasons that found no room.
    pub(super) dropped: u64,
}

impl Table {
    pub(super) fn of(snapshot: &HealthSnapshot) -> Self {
        let subjects = snapshot.subjects.iter().take(SUBJECTS);
        let mut table = Self {
            subjects: subjects.map(|s| (s.subject.clone(), s.clone())).collect(),
            events: HashSet::new(),
            dropped: snapshot.dropped,
        };
        table.count_events();
        table
    }

    pub(super) fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &SubjectHealth> {
        self.subjects.values()
    }

    pub(super) fn subjects(&self) -> Vec<HealthSubject> {
        self.subjects.keys().cloned().collect()
    }

    pub(super) fn get(&self, subject: &HealthSubject) -> Option<&SubjectHealth> {
        self.subjects.get(subject)
    }

    pub(super) fn get_mut(&mut self, subject: &HealthSubject) -> Option<&mut SubjectHealth> {
        self.subjects.get_mut(subject)
    }

    pub(super) fn has_event(&self, id: EventId) -> bool {
        self.events.contains(&id)
    }

    /// The part, healthy since `time` where it is new; `None` if there is no room for it.
    pub(super) fn entry(
        &mut self,
        subject: &HealthSubject,
        time: Timestamp,
    ) -> Option<&mut SubjectHealth> {
        if !self.subjects.contains_key(subject) {
            if self.subjects.len() >= SUBJECTS && !self.make_room() {
                self.dropped += 1;
                return None;
            }
            let new = SubjectHealth::healthy(subject.clone(), time);
            self.subjects.insert(subject.clone(), new);
        }
        self.subjects.get_mut(subject)
    }

    /// Lets go of the part of which nothing is wrong for longest.
    fn make_room(&mut self) -> bool {
        let host = HealthSubject::host();
        let idle = self
            .subjects
            .values()
            .filter(|s| s.subject != host && s.reasons.is_empty());
        let oldest = idle.min_by_key(|s| (s.since, s.subject.clone()));
        let Some(oldest) = oldest.map(|s| s.subject.clone()) else {
            return false;
        };
        self.subjects.remove(&oldest);
        self.count_events();
        true
    }

    pub(super) fn any(&self, subject: &HealthSubject, is: impl Fn(&HealthReason) -> bool) -> bool {
        let known = self.subjects.get(subject);
        known.is_some_and(|s| s.reasons.iter().chain(&s.past).any(is))
    }

    /// Changes reasons of a part.
    pub(super) fn each(
        &mut self,
        subject: &HealthSubject,
        mut change: impl FnMut(&mut HealthReason),
    ) {
        self.retain(subject, |reason| {
            change(reason);
            true
        });
    }

    /// Changes reasons of a part, and drops those for which `keep` is false.
    pub(super) fn retain(
        &mut self,
        subject: &HealthSubject,
        keep: impl FnMut(&mut HealthReason) -> bool,
    ) {
        let Some(known) = self.subjects.get_mut(subject) else {
            return;
        };
        let before = known.reasons.len() + known.past.len();
        let mut all: Vec<HealthReason> = std::mem::take(&mut known.reasons);
        all.append(&mut known.past);
        all.retain_mut(keep);
        let dropped = all.len() < before;
        sort_out(known, all);
        if dropped {
            self.count_events();
        }
    }

    /// Puts a reason of gtrace's own in the place of one of the same name.
    pub(super) fn put(&mut self, subject: &HealthSubject, reason: HealthReason, time: Timestamp) {
        let Some(known) = self.entry(subject, time) else {
            return;
        };
        let mut all: Vec<HealthReason> = std::mem::take(&mut known.reasons);
        all.append(&mut known.past);
        let at = all.iter().position(|r| r.rule == reason.rule);
        let old = at.map(|at| all.remove(at));
        let mut reason = reason;
        if let Some(old) = old.filter(|old| old.status == ReasonStatus::Active) {
            reason.occurrences = old.occurrences;
            if old.state == reason.state {
                reason.since = old.since;
            }
        }
        all.push(reason);
        sort_out(known, all);
        self.bound(subject);
    }

    pub(super) fn remove(&mut self, subject: &HealthSubject, rule: &str) {
        self.retain(subject, |reason| reason.rule != rule);
    }

    /// Lets go of a part.
    pub(super) fn forget(&mut self, subject: &HealthSubject) {
        if self.subjects.remove(subject).is_some() {
            self.count_events();
        }
    }

    /// Forgets what is pending or over.
    pub(super) fn forget_past(&mut self, subject: &HealthSubject) {
        self.retain(subject, |reason| reason.status == ReasonStatus::Active);
    }

    /// Has the reason of `rule` and `code` learn of an event.
    pub(super) fn learn(
        &mut self,
        subject: &HealthSubject,
        rule: &Rule,
        code: Option<u32>,
        event: &Event,
    ) {
        let Some(known) = self.subjects.get_mut(subject) else {
            return;
        };
        let mut all: Vec<HealthReason> = std::mem::take(&mut known.reasons);
        all.append(&mut known.past);
        let of_rule = |reason: &HealthReason| reason.rule == rule.name && reason.code == code;
        let at = all.iter().position(of_rule).unwrap_or_else(|| {
            all.push(reason::begin(rule, event));
            all.len() - 1
        });
        let learned = reason::learn(&mut all[at], rule, event);
        sort_out(known, all);
        self.events.insert(event.id);
        if learned.evicted.is_some() {
            self.count_events();
        }
        self.bound(subject);
    }

    /// The wall clock was set back by `step`, a negative one: what it said since `from` is moved with it.
    pub(super) fn set_back(&mut self, from: Timestamp, step: SignedDuration) {
        let shift = |time: &mut Timestamp| {
            if *time >= from {
                *time = time.checked_add(step).unwrap_or(*time);
            }
        };
        for known in self.subjects.values_mut() {
            shift(&mut known.since);
            for reason in known.reasons.iter_mut().chain(&mut known.past) {
                reason::change_times(reason, shift);
            }
        }
    }

    /// Lets go of reasons beyond the bound: those that are over first, then the mildest.
    fn bound(&mut self, subject: &HealthSubject) {
        let Some(known) = self.subjects.get_mut(subject) else {
            return;
        };
        let (mut gone, mut lost) = (false, 0);
        while known.reasons.len() + known.past.len() > REASONS {
            let oldest = |reasons: &[HealthReason]| {
                let ranked = reasons.iter().enumerate();
                ranked
                    .min_by_key(|(at, r)| (r.state.is_bad(), r.action, r.last, *at))
                    .map(|(at, _)| at)
            };
            match oldest(&known.past) {
                Some(at) => drop(known.past.remove(at)),
                None => {
                    let Some(at) = oldest(&known.reasons) else {
                        break;
                    };
                    known.reasons.remove(at);
                    lost += 1;
                }
            }
            gone = true;
        }
        self.dropped += lost;
        if gone {
            self.count_events();
        }
    }

    /// Which events reasons rest on.
    pub(super) fn count_events(&mut self) {
        let reasons = self
            .subjects
            .values()
            .flat_map(|s| s.reasons.iter().chain(&s.past));
        self.events = reasons
            .flat_map(|r| r.events.iter().map(|e| e.id))
            .collect();
    }
}

/// Reasons that hold, and the others, each sorted so that order does not depend on the way there.
fn sort_out(known: &mut SubjectHealth, mut all: Vec<HealthReason>) {
    all.sort_by(|a, b| (&a.rule, a.code).cmp(&(&b.rule, b.code)));
    let holds = |reason: &HealthReason| reason.status == ReasonStatus::Active;
    (known.reasons, known.past) = all.into_iter().partition(holds);
}
