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
    match state {
        AttachState::Attached => (SourceState::Active, None),
        AttachState::Off => (SourceState::Off, None),
        AttachState::Paused => (SourceState::Off, Some("paused".to_owned())),
        AttachState::Held(reason) => (SourceState::Off, Some((*reason).to_owned())),
        AttachState::Replaced(by) => {
            let reason = format!("not needed: {} sees the calls", by.name());
            (SourceState::Off, Some(reason))
        }
        AttachState::Degraded(reason) => (SourceState::Degraded, Some(reason.clone())),
        AttachState::Absent(reason) => (SourceState::Absent, Some(reason.clone())),
        AttachState::Failed(reason) => (SourceState::Failed, Some(reason.clone())),
    }
}

pub(super) fn show_probe(hub: &Hub, witness: WitnessName, state: &AttachState) {
    let (shown, reason) = state_of(state);
    show(hub, witness, shown, reason);
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
