//! The health of host and parts. As many series as the fold knows parts, which is bounded.

use gtrace_engine::health;
use gtrace_engine::hub::Hub;
use gtrace_event::{HealthAction, HealthState, HealthSubject, SubjectKind};

use super::{Family, Labels};

fn labels(subject: &HealthSubject) -> Labels {
    let kind = ("subject", subject.part.name().to_owned());
    let name = subject.name.clone();
    match subject.part {
        SubjectKind::Host => vec![kind],
        SubjectKind::Gpu => vec![kind, ("gpu", name)],
        SubjectKind::Nvswitch => vec![kind, ("nvswitch", name)],
        SubjectKind::Port => vec![kind, ("port", name)],
        SubjectKind::Component => vec![kind, ("component", name)],
    }
}

pub(super) fn families(hub: &Hub) -> Vec<Family> {
    let Some(report) = health::report(hub) else {
        return Vec::new();
    };
    let states = report.subjects.iter().flat_map(|known| {
        HealthState::ALL.map(|state| {
            let mut labels = labels(&known.subject);
            labels.push(("state", state.name().to_owned()));
            (labels, f64::from(state == known.state))
        })
    });
    let asked = report
        .subjects
        .iter()
        .filter(|known| known.action != HealthAction::None);
    let actions = asked.map(|known| {
        let mut labels = labels(&known.subject);
        labels.push(("action", known.action.name().to_owned()));
        (labels, 1.0)
    });
    Vec::from(families! {
        gauge "health_state" [""] "1 for the state that host, GPU, NVSwitch, port or component is in" => values(states);
        gauge "health_action" [""] "1 for what is suggested, if anything" => values(actions);
        gauge "maintenance" [""] "1 while a maintenance window is on" => value(f64::from(report.maintenance.is_some()));
        counter "health_dropped" [""] "Parts and reasons of health that found no room" =>
            value(hub.health_dropped() as f64);
    })
}
