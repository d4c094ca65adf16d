//! What led to what among the events of an incident.

use std::collections::BTreeMap;
use std::sync::Arc;

use gtrace_event::{CausalLink, Confidence, EventId};

use crate::member::{Key, Member};
use crate::rules::{CauseRule, Relation, Rules};

/// Witnesses of one moment may report in any order.
const SLACK_NS: i128 = 2_000_000_000;

/// For each event that has a cause among `members` the best of them, in the order of the effects.
pub(crate) fn chain(members: &[Arc<Member>], rules: &Rules) -> Vec<CausalLink> {
    let mut links = Vec::new();
    let mut cause_of: BTreeMap<EventId, EventId> = BTreeMap::new();
    for to in members {
        let candidates = members.iter().filter_map(|from| {
            let rule = connects(from, to, rules)?;
            // What came later is the cause only if it cannot be the effect.
            let backwards = apart(from, to) < 0 && connects(to, from, rules).is_some();
            (!backwards).then(|| (from, rule, sureness(from, to, rule)))
        });
        let mut candidates: Vec<_> = candidates.collect();
        // The surest, of these the nearest.
        candidates.sort_by_key(|(from, _, confidence)| {
            (std::cmp::Reverse(*confidence), apart(from, to).abs())
        });
        let best = candidates
            .into_iter()
            .find(|(from, ..)| !leads_to(&cause_of, from.id, to.id));
        if let Some((from, rule, confidence)) = best {
            cause_of.insert(to.id, from.id);
            links.push(CausalLink {
                from: from.id,
                to: to.id,
                why: match is_reversed(from, to) {
                    true => format!(
                        "{}; it was seen {} ms later, which is at the same time as far as the clocks show",
                        rule.why,
                        apart(to, from) / 1_000_000
                    ),
                    false => rule.why.clone(),
                },
                confidence,
                rule: rule.name.clone(),
            });
        }
    }
    links
}

/// How sure it is that `rule` fits. What was seen after its effect, though within the slack, is no more than at the same
/// time.
fn sureness(from: &Member, to: &Member, rule: &CauseRule) -> Confidence {
    match is_reversed(from, to) {
        true => Confidence::Low,
        false => rule.confidence,
    }
}

/// Whether `from` was seen after `to`.
pub(crate) fn is_reversed(from: &Member, to: &Member) -> bool {
    apart(from, to) < 0
}

/// Whether `id` has `origin` among its causes: a link from it back would make a circle.
fn leads_to(cause_of: &BTreeMap<EventId, EventId>, mut id: EventId, origin: EventId) -> bool {
    while let Some(cause) = cause_of.get(&id) {
        if *cause == origin {
            return true;
        }
        id = *cause;
    }
    false
}

/// The first rule by which `from` can be the cause of `to`.
pub(crate) fn connects<'a>(from: &Member, to: &Member, rules: &'a Rules) -> Option<&'a CauseRule> {
    if from.id == to.id || from.drill != to.drill {
        return None;
    }
    let apart = apart(from, to);
    if apart < -SLACK_NS {
        return None;
    }
    let both = from.causes.iter().filter(|rule| to.effects.contains(rule));
    both.filter_map(|at| rules.causes().get(*at)).find(|rule| {
        let related = rule
            .relations
            .iter()
            .any(|relation| are_related(*relation, from, to));
        related && apart <= i128::from(rule.within_s) * 1_000_000_000
    })
}

/// Nanoseconds from `from` to `to`.
fn apart(from: &Member, to: &Member) -> i128 {
    to.time.as_nanosecond() - from.time.as_nanosecond()
}

fn are_related(relation: Relation, from: &Member, to: &Member) -> bool {
    let of_kind = |key: &Key| match relation {
        Relation::Device => matches!(key, Key::Device(_) | Key::Instance(..) | Key::Named(_)),
        Relation::Process => matches!(key, Key::Process(_)),
        Relation::Job => matches!(key, Key::Job(_)),
        Relation::Fabric => matches!(key, Key::Fabric),
        Relation::Host => false,
    };
    let shared = |key: &Key| of_kind(key) && to.keys.has_related(key);
    // One GPU is not enough where each program made its own fault.
    let apart = relation == Relation::Device && from.is_of_another_program(to);
    relation == Relation::Host || !apart && from.keys.iter().any(shared)
}
