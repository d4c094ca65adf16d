//! One reason: what it rests on, when it holds and when it is over.

use gtrace_event::{
    Cleared, Clearing, Event, EventId, HealthReason, ReasonCount, ReasonEvent, ReasonStatus,
    ReasonTally, RuleOrigin, Timestamp,
};
use jiff::SignedDuration;

use crate::pattern::code_of;
use crate::rules::{Escalation, Rule, counts, fill};

/// Events that a reason keeps, the newest.
const EVENTS: usize = 16;
/// Tallies of those before them.
const TALLIES: usize = 24;
/// Events of so long share a tally.
const TALLY: SignedDuration = SignedDuration::from_secs(3600);
/// Events of the tallies whose counts are known, so that what becomes known of them later is not counted twice.
const TALLIED: usize = 64;
/// Boots that it keeps.
const BOOTS: usize = 8;

fn after(time: Timestamp, seconds: u32) -> Timestamp {
    time.saturating_add(SignedDuration::from_secs(i64::from(seconds)))
        .unwrap_or(Timestamp::MAX)
}

/// A reason of `rule` that rests on nothing yet.
pub(crate) fn begin(rule: &Rule, event: &Event) -> HealthReason {
    HealthReason {
        origin: rule.origin,
        code: code_of(event),
        status: ReasonStatus::Pending,
        confidence: rule.confidence,
        occurrences: 0,
        ..HealthReason::own(
            &rule.name,
            rule.state,
            rule.action,
            &rule.text_of(event),
            event.time,
        )
    }
}

/// What a reason learns from an event.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// Whether it happened once more.
    pub(crate) fresh: bool,
    /// The event that found no room any more.
    pub(crate) evicted: Option<EventId>,
}

/// Takes an event, new or with more known of it.
pub(crate) fn learn(reason: &mut HealthReason, rule: &Rule, event: &Event) -> Learned {
    debug_assert!(counts(event));
    let (count, last) = (
        event.repeats.saturating_add(1),
        event.last_time.unwrap_or(event.time).max(event.time),
    );
    let mut learned = Learned::default();
    let known = reason.events.iter_mut().find(|known| known.id == event.id);
    let mut is_new = false;
    let more = match known {
        Some(known) => {
            let more = count.saturating_sub(known.count);
            if more > 0 {
                (known.count, known.last) = (count, known.last.max(last));
            }
            more
        }
        None => match amend_tally(&mut reason.earlier, event.id, count, last) {
            Some(more) => more,
            None => {
                is_new = true;
                reason.events.push(ReasonEvent {
                    id: event.id,
                    count,
                    before: 0,
                    settled: 0,
                    last,
                });
                if reason.events.len() > EVENTS {
                    let oldest = reason.events.remove(0);
                    learned.evicted = Some(oldest.id);
                    tally(&mut reason.earlier, rule, &oldest);
                }
                count
            }
        },
    };
    if !reason.escalated {
        reason.text = rule.text_of(event);
    }
    if event.advice.is_some() {
        reason.advice.clone_from(&event.advice);
    }
    if more == 0 {
        return learned;
    }
    learned.fresh = true;
    reason.occurrences = reason.occurrences.saturating_add(more);
    let new_boot = event
        .boot_id
        .as_ref()
        .filter(|boot| is_new && !reason.boots.contains(boot));
    let newer = last > reason.last;
    reason.last = match new_boot {
        // What happens in it is newer than all before it, also where its clock is behind.
        Some(_) => last,
        None => reason.last.max(last),
    };
    if let Some(boot) = new_boot {
        reason.boots.push(boot.clone());
        let surplus = reason.boots.len().saturating_sub(BOOTS);
        reason.boots.drain(..surplus);
    }
    let over = match (&reason.cleared, reason.status) {
        // It is back after the reboot, though the record of that may be later than the event.
        (Some(cleared), ReasonStatus::Cleared) if new_boot.is_none() => match cleared.by {
            // It was not quiet after all.
            Clearing::Quiet => !newer,
            // What is reported late happened before.
            _ => last <= cleared.time,
        },
        _ => false,
    };
    if over {
        if let Some(known) = reason.events.iter_mut().find(|known| known.id == event.id) {
            known.before = known.count;
        } else if let Some(tally) = tally_of(&mut reason.earlier, event.id) {
            tally.before = tally.count.min(tally.before.saturating_add(more));
        }
        return learned;
    }
    if reason.status == ReasonStatus::Cleared {
        reason.status = ReasonStatus::Pending;
        reason.since = last;
        (reason.state, reason.action) = (rule.state, rule.action);
    }
    if reason.status == ReasonStatus::Pending && happened(reason, last, rule.within_s) >= rule.times
    {
        reason.status = ReasonStatus::Active;
        reason.since = last;
    }
    if let Some(escalation) = rule.escalate.as_ref().filter(|_| !reason.escalated)
        && is_escalated(reason, escalation, last)
    {
        escalate(reason, escalation, event);
    }
    learned
}

/// Counts an event that is no longer kept.
fn tally(earlier: &mut Vec<ReasonTally>, rule: &Rule, event: &ReasonEvent) {
    let one = ReasonTally {
        count: event.count,
        before: event.before,
        settled: event.settled,
        from: Some(event.last),
        last: event.last,
        events: vec![ReasonCount {
            id: event.id,
            count: event.count,
        }],
    };
    let into = earlier.last_mut();
    match into.filter(|tally| span(tally, &one) <= TALLY) {
        Some(tally) => join(tally, one),
        None => earlier.push(one),
    }
    if earlier.len() > TALLIES {
        make_room(earlier, rule.looks_back_s(), event.last);
    }
    let known: usize = earlier.iter().map(|tally| tally.events.len()).sum();
    let mut surplus = known.saturating_sub(TALLIED);
    for tally in earlier {
        let some = surplus.min(tally.events.len());
        tally.events.drain(..some);
        surplus -= some;
    }
}

fn from(tally: &ReasonTally) -> Timestamp {
    tally.from.unwrap_or(tally.last)
}

/// From the oldest event of two tallies to the newest.
fn span(one: &ReasonTally, other: &ReasonTally) -> SignedDuration {
    let last = one.last.max(other.last);
    last.duration_since(from(one).min(from(other)))
}

fn join(tally: &mut ReasonTally, other: ReasonTally) {
    tally.from = Some(from(tally).min(from(&other)));
    tally.last = tally.last.max(other.last);
    tally.count = tally.count.saturating_add(other.count);
    tally.before = tally.before.saturating_add(other.before);
    tally.settled = tally.settled.saturating_add(other.settled);
    tally.events.extend(other.events);
}

/// Lets go of the tallies that no count reaches any more; where there are none, joins the two neighbours that are closest together.
/// So 24 tallies of a count that looks back 30 days are of three days at most.
fn make_room(earlier: &mut Vec<ReasonTally>, looks_back_s: Option<u32>, now: Timestamp) {
    let before = earlier.len();
    if let Some(seconds) = looks_back_s {
        earlier.retain(|tally| after(tally.last, seconds) >= now);
    }
    if earlier.len() < before {
        return;
    }
    let pairs = earlier.iter().zip(earlier.iter().skip(1)).enumerate();
    let closest = pairs.min_by_key(|(_, (one, next))| span(one, next));
    if let Some(at) = closest.map(|(at, _)| at) {
        let next = earlier.remove(at + 1);
        if let Some(tally) = earlier.get_mut(at) {
            join(tally, next);
        }
    }
}

/// The tally that an event is counted in, if that is still known.
fn tally_of(earlier: &mut [ReasonTally], id: EventId) -> Option<&mut ReasonTally> {
    let mut tallies = earlier.iter_mut();
    tallies.find(|tally| tally.events.iter().any(|known| known.id == id))
}

/// More is known of an event that is counted in a tally: how often it happened besides.
fn amend_tally(
    earlier: &mut [ReasonTally],
    id: EventId,
    count: u64,
    last: Timestamp,
) -> Option<u64> {
    let tally = tally_of(earlier, id)?;
    let known = tally.events.iter_mut().find(|known| known.id == id)?;
    let more = count.saturating_sub(known.count);
    if more > 0 {
        known.count = count;
        tally.count = tally.count.saturating_add(more);
        tally.last = tally.last.max(last);
    }
    Some(more)
}

/// Count, those before it was cleared, those before a person's word, and the newest time of all that is kept.
fn parts(reason: &HealthReason) -> impl Iterator<Item = (u64, u64, u64, Timestamp)> {
    let earlier = reason.earlier.iter();
    let earlier = earlier.map(|t| (t.count, t.before, t.settled, t.last));
    let events = reason.events.iter();
    earlier.chain(events.map(|e| (e.count, e.before, e.settled, e.last)))
}

/// How often it happened since it was last cleared, within `within_s` before `now`; without it, ever. An event counts
/// whole if its newest occurrence is in that time.
fn happened(reason: &HealthReason, now: Timestamp, within_s: Option<u32>) -> u64 {
    parts(reason)
        .filter(|(.., last)| within_s.is_none_or(|seconds| after(*last, seconds) >= now))
        .map(|(count, before, ..)| count.saturating_sub(before))
        .sum()
}

/// Takes what its rule says now; false where that says nothing any more.
pub(crate) fn rejudge(reason: &mut HealthReason, rule: Option<&Rule>) -> bool {
    let Some(rule) = rule.filter(|rule| !rule.off) else {
        // A judgement without an event is no rule's; one of a rule that gtrace no longer has ends with the boot.
        return rule.is_none() && reason.origin == RuleOrigin::Builtin;
    };
    reason.origin = rule.origin;
    // What no rule escalates any more is as bad as the rule says.
    reason.escalated &= rule.escalate.is_some();
    if !reason.escalated {
        (reason.state, reason.action) = (rule.state, rule.action);
        reason.confidence = rule.confidence;
    }
    true
}

fn is_escalated(reason: &HealthReason, escalation: &Escalation, now: Timestamp) -> bool {
    // The first boot is no reboot.
    let reboots = reason.boots.len().saturating_sub(1);
    let again = escalation.after_reboots.is_some_and(|most| reboots >= most);
    let often = escalation.times.is_some_and(|times| {
        let within_s = escalation.within_s;
        // Also what was cleared meanwhile: that it comes again is the point.
        let all = parts(reason)
            .filter(|(.., last)| within_s.is_none_or(|seconds| after(*last, seconds) >= now))
            .map(|(count, _, settled, _)| count.saturating_sub(settled));
        all.sum::<u64>() >= times
    });
    reason.status == ReasonStatus::Active && (again || often)
}

fn escalate(reason: &mut HealthReason, escalation: &Escalation, event: &Event) {
    reason.escalated = true;
    reason.state = reason.state.worse(escalation.state);
    reason.action = reason.action.max(escalation.action);
    reason.text = fill(&escalation.text, event);
}

/// Forgets an event that turns out not to be the kernel's, or of another rule. Whether anything is left.
pub(crate) fn retract(reason: &mut HealthReason, id: EventId) -> bool {
    let Some(at) = reason.events.iter().position(|known| known.id == id) else {
        return true;
    };
    let gone = reason.events.remove(at);
    reason.occurrences = reason.occurrences.saturating_sub(gone.count);
    let lives = parts(reason).any(|(count, before, ..)| count > before);
    if reason.status == ReasonStatus::Active && !lives {
        reason.status = match reason.cleared {
            Some(_) => ReasonStatus::Cleared,
            None => ReasonStatus::Pending,
        };
    }
    reason.occurrences > 0
}

/// Ends it.
pub(crate) fn clear(reason: &mut HealthReason, time: Timestamp, by: Clearing) {
    reason.status = ReasonStatus::Cleared;
    reason.cleared = Some(Cleared { time, by });
    reason.escalated = false;
    reason.acknowledged = None;
    for event in &mut reason.events {
        event.before = event.count;
    }
    for tally in &mut reason.earlier {
        tally.before = tally.count;
    }
    if matches!(by, Clearing::Acknowledgement | Clearing::Replacement) {
        // A person has looked at it, or it is another device: from here on it is counted anew.
        let newest = reason.boots.pop();
        reason.boots = newest.into_iter().collect();
        for event in &mut reason.events {
            event.settled = event.count;
        }
        for tally in &mut reason.earlier {
            tally.settled = tally.count;
        }
    }
}

/// Changes every time that it has.
pub(crate) fn change_times(reason: &mut HealthReason, change: impl Fn(&mut Timestamp)) {
    change(&mut reason.since);
    change(&mut reason.last);
    if let Some(acknowledged) = &mut reason.acknowledged {
        change(acknowledged);
    }
    if let Some(cleared) = &mut reason.cleared {
        change(&mut cleared.time);
    }
    for event in &mut reason.events {
        change(&mut event.last);
    }
    for tally in &mut reason.earlier {
        if let Some(from) = &mut tally.from {
            change(from);
        }
        change(&mut tally.last);
    }
}

/// When time alone changes it: it is over, or no longer remembered.
pub(crate) fn deadline(reason: &HealthReason, rule: Option<&Rule>) -> Option<Timestamp> {
    const PENDING_S: u32 = 86_400;
    let rule = rule?;
    match reason.status {
        ReasonStatus::Active if reason.escalated => None,
        ReasonStatus::Active => Some(after(reason.last, rule.quiet_s?)),
        ReasonStatus::Pending => Some(after(
            reason.last,
            rule.within_s.unwrap_or(PENDING_S).max(PENDING_S),
        )),
        ReasonStatus::Cleared => {
            let cleared = reason.cleared.as_ref()?;
            Some(after(cleared.time.max(reason.last), rule.remembered_s()))
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Gpu, Kind, Occurrence, Provenance, Severity, WitnessName};

    use super::*;
    use crate::rules::Rules;

    fn event(second: i64) -> Event {
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, "Xid 13");
        occurrence.provenance = Provenance::Kernel;
        occurrence.detail.xid.xid = Some(13);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        let time = Timestamp::from_second(1_772_500_000 + second).unwrap();
        Event::seen(time, WitnessName::Kmsg, 1, occurrence)
    }

    #[test]
    fn what_becomes_known_of_an_event_that_is_no_longer_kept_is_counted_once() {
        let rules = Rules::builtin().unwrap();
        let mut events: Vec<Event> = (0..40).map(event).collect();
        let rule = rules.of(&events[0]).unwrap();
        let mut reason = begin(rule, &events[0]);
        for event in &mut events {
            event.repeats = 2;
            learn(&mut reason, rule, event);
        }
        assert_eq!((reason.events.len(), reason.occurrences), (EVENTS, 120));
        // The same again, and two more of one.
        for event in &events {
            assert!(!learn(&mut reason, rule, event).fresh);
        }
        events[3].repeats = 4;
        assert!(learn(&mut reason, rule, &events[3]).fresh);
        assert_eq!((reason.events.len(), reason.occurrences), (EVENTS, 122));
        assert_eq!(happened(&reason, reason.last, None), 122);
        let last = reason.last;
        clear(&mut reason, last, Clearing::Acknowledgement);
        assert_eq!(happened(&reason, last, None), 0);
        // What is counted one by one is bounded, and so is what is known of the others.
        for second in 100..400 {
            learn(&mut reason, rule, &event(second));
        }
        let known: usize = reason.earlier.iter().map(|tally| tally.events.len()).sum();
        assert_eq!((known, reason.occurrences), (TALLIED, 422));
    }

    #[test]
    fn a_count_within_a_time_has_all_of_that_time_and_little_more_of_a_chain_of_months() {
        const DAY_S: u32 = 86_400;
        let rules = Rules::builtin().unwrap();
        // One event each, how many of them the count looks back, and how many more it may have.
        for (every_s, within_s, all, more) in [
            (1800, DAY_S, 49, 2),
            (600, 7 * DAY_S, 1009, 80),
            (7200, 30 * DAY_S, 361, 36),
        ] {
            let mut rule = rules.of(&event(0)).unwrap().clone();
            let escalation = rule.escalate.as_mut().unwrap();
            (escalation.times, escalation.within_s) = (Some(all + more + 1), Some(within_s));
            let mut reason = begin(&rule, &event(0));
            for n in 0..1500 {
                learn(&mut reason, &rule, &event(n * every_s));
                assert!(reason.earlier.len() <= TALLIES);
            }
            assert!(!reason.escalated, "{every_s}");
            let counted = happened(&reason, reason.last, Some(within_s));
            assert!(
                (all..=all + more).contains(&counted),
                "{every_s}: {counted}"
            );
        }
    }
}
