use gtrace_event::{Kind, Occurrence, Severity, Timestamp};

use super::{Findings, Reading, STATED_EVERY};
use crate::{GpuSample, RecoveryAction};

/// What the driver of a GPU asked for when that was last read.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    known: Option<RecoveryAction>,
    stated: Option<Timestamp>,
}

impl Recovery {
    /// Reports that the driver asks for an action, for another or for none any more. What it asks for at the beginning, and
    /// still does, is how the GPU stands. A reading that failed says nothing.
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let Some(action) = now.recovery_action.map(RecoveryAction) else {
            return;
        };
        let before = self.known.replace(action);
        let changed = before.is_some_and(|before| before != action);
        let age = |at: Timestamp| now.time.duration_since(at).unsigned_abs();
        let due = self.stated.is_none_or(|at| age(at) >= STATED_EVERY);
        let stands = before.is_none() || due && action != RecoveryAction::NONE;
        if !changed && !stands {
            return;
        }
        self.stated = Some(now.time);
        let event = occurrence(found, before.filter(|_| changed), action);
        match changed {
            true => found.happened(event),
            false => found.stands(event),
        }
    }
}

fn occurrence(
    found: &Findings<'_>,
    before: Option<RecoveryAction>,
    action: RecoveryAction,
) -> Occurrence {
    let (severity, text) = match action {
        RecoveryAction::NONE => (
            Severity::Info,
            "the driver asks for no recovery action any more".to_owned(),
        ),
        action => {
            let severity = match action.is_fatal() {
                true => Severity::Fatal,
                false => Severity::Critical,
            };
            (
                severity,
                format!("the driver asks for a recovery action: {action}"),
            )
        }
    };
    let reading = Reading {
        value: Some(f64::from(action.0)),
        previous: before.map(|before| f64::from(before.0)),
        ..Reading::of("gtrace_gpu_recovery_action")
    };
    let mut event = reading.occurrence(found.gpu, (Kind::RecoveryAction, severity), text);
    event.detail.xid.recovery_from = before.map(|before| before.to_string());
    event.detail.xid.recovery_to = Some(action.to_string());
    event
}
