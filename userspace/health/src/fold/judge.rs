//! From reasons to a state.

use gtrace_event::{
    Confidence, HealthAction, HealthReason, HealthState, ReasonStatus, RuleOrigin, SubjectHealth,
    SubjectKind,
};

/// What people see of a part: if it has changed, that is news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    state: HealthState,
    action: HealthAction,
    uuid: Option<String>,
    reasons: Vec<ShownReason>,
}

type ShownReason = (
    String,
    RuleOrigin,
    Option<u32>,
    HealthState,
    HealthAction,
    bool,
    bool,
    Option<String>,
);

pub(super) fn shown(subject: &SubjectHealth) -> Shown {
    let reasons = subject.reasons.iter().map(|reason| {
        (
            reason.rule.clone(),
            reason.origin,
            reason.code,
            reason.state,
            reason.action,
            reason.escalated,
            reason.acknowledged.is_some(),
            // What no event says is in the text alone.
            reason.events.is_empty().then(|| reason.text.clone()),
        )
    });
    Shown {
        state: subject.state,
        action: subject.action,
        uuid: subject.uuid.clone(),
        reasons: reasons.collect(),
    }
}

type Judgement = (HealthState, HealthAction, Option<Confidence>);

/// The worst of the reasons that hold.
pub(super) fn judge(subject: &SubjectHealth) -> Judgement {
    of_reasons(&subject.reasons)
}

fn of_reasons(reasons: &[HealthReason]) -> Judgement {
    let holds = || reasons.iter().filter(|r| r.status == ReasonStatus::Active);
    let state = holds().fold(HealthState::Healthy, |state, r| state.worse(r.state));
    let action = holds().map(|r| r.action).max().unwrap_or_default();
    let confidence = holds()
        .filter(|r| r.state == state)
        .map(|r| r.confidence)
        .max();
    (state, action, confidence.filter(|_| state.is_bad()))
}

/// The host: the worst of its own reasons and of its parts. What nobody can judge says nothing of it, unless nothing
/// else is known.
pub(super) fn overall<'a>(subjects: impl Iterator<Item = &'a SubjectHealth>) -> Judgement {
    let mut all: Option<Judgement> = None;
    for subject in subjects {
        let of_host = subject.subject.part == SubjectKind::Host;
        let (state, action, confidence) = match of_host {
            true if subject.reasons.is_empty() && subject.past.is_empty() => continue,
            true => of_reasons(&subject.reasons),
            false => (subject.state, subject.action, subject.confidence),
        };
        all = Some(match all {
            None => (state, action, confidence),
            Some(known) => combine(known, (state, action, confidence)),
        });
    }
    all.unwrap_or_default()
}

fn combine(known: Judgement, other: Judgement) -> Judgement {
    let action = known.1.max(other.1);
    let (a, b) = (known.0, other.0);
    let state = match (a, b) {
        (HealthState::Unknown, state) | (state, HealthState::Unknown) => state,
        (a, b) => a.worse(b),
    };
    let of = |judgement: Judgement| judgement.2.filter(|_| judgement.0 == state);
    (state, action, of(known).max(of(other)))
}
