//! How each source stands here; what there are is in [`crate::component`].

use gtrace_api::{SourceState, SourceStatus};
use gtrace_event::WitnessName;

use crate::bpf::AttachState;
use crate::component;
use crate::hub::Hub;

/// Sets how a source stands; the remedy is added where it is not well.
pub fn set_state(
    statuses: &mut [SourceStatus],
    witness: WitnessName,
    state: SourceState,
    reason: Option<String>,
) {
    component::set_state(statuses, witness.name(), state, reason);
}

/// Shows in the hub how a source stands.
pub fn show(hub: &Hub, witness: WitnessName, state: SourceState, reason: Option<String>) {
    component::show(hub, witness.name(), state, reason);
}

/// How a probe's state shows.
pub fn state_of(state: &AttachState) -> (SourceState, Option<String>) {
    let shown = match state {
        AttachState::Attached => SourceState::Active,
        AttachState::Degraded(_) => SourceState::Degraded,
        AttachState::Off
        | AttachState::Paused
        | AttachState::Held(_)
        | AttachState::Replaced(_) => SourceState::Off,
        AttachState::Absent(_) => SourceState::Absent,
        AttachState::Failed(_) => SourceState::Failed,
    };
    let reason = match state {
        AttachState::Paused => Some("paused".to_owned()),
        AttachState::Held(reason) => Some((*reason).to_owned()),
        AttachState::Replaced(by) => Some(format!("not needed: {} sees the calls", by.name())),
        _ => reason_of(state).map(str::to_owned),
    };
    (shown, reason)
}

pub(super) fn show_probe(hub: &Hub, witness: WitnessName, state: &AttachState) {
    let (shown, reason) = state_of(state);
    show(hub, witness, shown, reason);
}

/// The state that a probe's source shows.
fn reason_of(state: &AttachState) -> Option<&str> {
    match state {
        AttachState::Absent(reason)
        | AttachState::Failed(reason)
        | AttachState::Degraded(reason) => Some(reason),
        AttachState::Attached
        | AttachState::Off
        | AttachState::Paused
        | AttachState::Held(_)
        | AttachState::Replaced(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_witness_that_is_a_source_is_in_the_table_once() {
        for witness in WitnessName::ALL {
            let rows = component::all()
                .filter(|c| c.witness() == Some(witness))
                .count();
            let want = usize::from(!matches!(witness, WitnessName::File | WitnessName::Gtrace));
            assert_eq!(rows, want, "{witness}");
        }
    }

    #[test]
    fn only_what_is_not_well_has_a_remedy() {
        let mut statuses = component::initial();
        let absent = Some("no driver".to_owned());
        set_state(
            &mut statuses,
            WitnessName::Nvml,
            SourceState::Absent,
            absent,
        );
        set_state(&mut statuses, WitnessName::Kmsg, SourceState::Active, None);
        let get = |w| statuses.iter().find(|s| s.witness == Some(w)).unwrap();
        assert!(
            get(WitnessName::Nvml)
                .remedy
                .as_ref()
                .unwrap()
                .contains("driver")
        );
        assert!(get(WitnessName::Kmsg).remedy.is_none());
    }
}
