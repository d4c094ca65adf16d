//! Incidents in the core.

use super::*;

impl World {
    fn incident(&self) -> gtrace_event::Incident {
        self.flush();
        let mut incidents = self.hub.incidents();
        assert_eq!(incidents.len(), 1, "{incidents:#?}");
        incidents.remove(0)
    }

    fn stored_incidents(&self) -> Vec<gtrace_event::Incident> {
        let all = gtrace_store::IncidentFilter::default();
        self.reader().incidents(&all).unwrap()
    }

    fn change_incident(
        &self,
        id: gtrace_event::IncidentId,
        state: IncidentState,
    ) -> Result<gtrace_event::Incident, String> {
        self.change_incident_at(Timestamp::now(), id, state)
    }

    fn change_incident_at(
        &self,
        time: Timestamp,
        id: gtrace_event::IncidentId,
        state: IncidentState,
    ) -> Result<gtrace_event::Incident, String> {
        let change = StateChange::new(time, state, "me", "");
        let (answer, done) = oneshot::channel();
        self.send(Input::Command(Command::Incident(
            id,
            Box::new(change),
            answer,
        )));
        done.blocking_recv().unwrap()
    }
}

fn fallen(provenance: Provenance) -> Occurrence {
    let mut occurrence =
        xid("NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.");
    occurrence.detail.xid.xid = Some(79);
    occurrence.provenance = provenance;
    occurrence
}

#[test]
fn a_fault_opens_an_incident_that_a_restart_takes_up_and_a_person_resolves() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let opened = world.incident();
    let event = world.stored(None).remove(0);
    assert_eq!(
        (opened.events.as_slice(), opened.state),
        (&[event.id][..], IncidentState::Open)
    );
    assert_eq!(opened.host.as_deref(), Some("h"));
    assert_eq!(world.stored_incidents(), std::slice::from_ref(&opened));
    let acked = world
        .change_incident(opened.id, IncidentState::Acknowledged)
        .unwrap();
    assert_eq!(world.stored_incidents(), std::slice::from_ref(&acked));
    let published = loop {
        if let News::Incident(published) = world.stream.blocking_recv().unwrap()
            && published.incident.state == IncidentState::Acknowledged
        {
            break published;
        }
    };
    // Behind the event, the incident, the boot and the change of health.
    assert_eq!(
        (published.incident.clone(), published.seq),
        (acked.clone(), Some(5))
    );

    let World { dir, core, .. } = world;
    core.finish();
    let world = World::start(dir, PciTree::default());
    assert_eq!(world.incident(), acked);
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let again = world.incident();
    assert_eq!(
        (again.id, again.event_count),
        (acked.id, 1),
        "the repeat is another event"
    );
    let resolved = world
        .change_incident(opened.id, IncidentState::Resolved)
        .unwrap();
    assert!(resolved.closed.is_some());
    assert!(
        world
            .stored_incidents()
            .iter()
            .all(|i| i.state == IncidentState::Resolved)
    );
    assert!(
        world
            .change_incident(gtrace_event::IncidentId::new(1), IncidentState::Open)
            .is_err()
    );
    let report = world.reader().verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
}

#[test]
fn what_a_program_wrote_opens_no_incident_until_the_kernel_confirms_it() {
    let mut world = World::with_kmsg();
    let mut line =
        xid("NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.");
    line.provenance = Provenance::Unknown;
    world.ingest_one(CONSOLE, line.clone());
    let first = world.next_event();
    assert_eq!(first.provenance, Provenance::Unknown);
    assert!(world.hub.incidents().is_empty());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    assert_eq!(world.incident().events, [first.id]);
}

#[test]
fn what_is_resolved_is_opened_again_before_anything_else_and_lives_then() {
    let world = World::new(PciTree::default());
    let fallen = || {
        let mut occurrence = fallen(Provenance::Kernel);
        occurrence.gpu = Some(gtrace_event::Gpu::at(pci(GPU)));
        occurrence
    };
    world.ingest_one(KMSG, fallen());
    let opened = world.incident();
    let long_ago = Timestamp::now() - jiff::SignedDuration::from_hours(2);
    world
        .change_incident_at(long_ago, opened.id, IncidentState::Resolved)
        .unwrap();
    let again = world.change_incident(opened.id, IncidentState::Resolved);
    assert!(again.unwrap_err().contains("resolved already, by me"));
    let acked = world.change_incident(opened.id, IncidentState::Acknowledged);
    assert!(acked.unwrap_err().contains("incidents reopen"));
    // An hour after it was resolved the correlator has let go of it.
    let world = world.restart(PciTree::default());
    let reopened = world
        .change_incident(opened.id, IncidentState::Open)
        .unwrap();
    assert_eq!(
        (reopened.state, reopened.event_count),
        (IncidentState::Open, 1)
    );
    let mut other = fallen();
    other.message =
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=2, name=b, GPU has fallen off the bus.".into();
    other.boottime_ns = Some(clock::boottime_ns() + 1);
    world.ingest_one(KMSG, other);
    world.flush();
    let incidents = world.hub.incidents();
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    assert!(incidents[0].occurrences > reopened.occurrences);
}

#[test]
fn what_happens_again_just_before_the_end_is_counted_in_the_incident_too() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let opened = world.incident();
    for _ in 0..3 {
        world.ingest_one(KMSG, fallen(Provenance::Kernel));
    }
    let world = world.restart(PciTree::default());
    let stored = world.stored_incidents().remove(0);
    assert_eq!((stored.id, stored.occurrences), (opened.id, 4));
    assert_eq!(world.incident(), stored);
}

#[test]
fn a_repeat_after_a_restart_of_what_was_resolved_opens_another_that_begins_then() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let opened = world.incident();
    let resolved = world
        .change_incident(opened.id, IncidentState::Resolved)
        .unwrap();
    let world = world.restart(PciTree::default());
    assert!(world.hub.incidents().is_empty());
    let mut again = fallen(Provenance::Kernel);
    again.boottime_ns = Some(clock::boottime_ns());
    world.ingest_one(KMSG, again);
    let new = world.incident();
    assert_ne!(new.id, opened.id);
    assert!(
        resolved.closed.is_some_and(|closed| new.opened >= closed),
        "{new:#?}"
    );
    let stored = world.stored_incidents();
    assert_eq!(stored.len(), 2);
    assert!(stored.contains(&resolved), "{stored:#?}");
}

#[test]
fn evidence_is_added_once_and_that_there_is_no_incident_is_said_apart() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let opened = world.incident();
    let add = |id| {
        let (answer, done) = oneshot::channel();
        let missing = gtrace_event::MissingEvidence::new("samples", "there are none");
        world.send(Input::Command(Command::Evidence {
            incident: id,
            evidence: Vec::new(),
            missing: vec![missing],
            answer,
        }));
        done.blocking_recv().unwrap()
    };
    assert_eq!(add(opened.id), Ok(()));
    let first = world.hub.incident(opened.id).unwrap();
    assert_eq!(first.missing.len(), 1);
    assert_eq!(add(opened.id), Ok(()));
    assert_eq!(world.hub.incident(opened.id).unwrap(), first);
    let nobody = "01KJSZ3M7B0000000000ABCDEF".parse().unwrap();
    assert_eq!(add(nobody), Err(crate::hub::Unchanged::NoIncident(nobody)));
}

#[test]
fn the_worst_of_many_unresolved_incidents_are_taken_up_and_the_rest_is_counted() {
    const LEFT_OUT: usize = 9;
    let mut correlator = gtrace_incident::Correlator::new(
        gtrace_incident::Rules::builtin().unwrap(),
        gtrace_incident::Options::default(),
    );
    let mut records = Vec::new();
    for nth in 0..crate::hub::INCIDENTS_MAX + LEFT_OUT {
        let at = format!("{nth:04x}:3b:00.0");
        let lost = fault_of(&at, Kind::GpuLost, Severity::Fatal, "gone");
        let event = Event::seen(Timestamp::now(), SYSFS, 1, lost);
        let mut incident = correlator.ingest(&event).remove(0);
        // The oldest is the worst.
        if nth > 0 {
            incident.severity = Severity::Warning;
        }
        records.push(gtrace_event::Record::Incident(Box::new(incident)));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let mut store = Store::open(&path, gtrace_store::Options::default()).unwrap();
    store.append(&records, &[]).unwrap();
    store.close();
    let world = World::start(dir, PciTree::default());
    world.flush();
    let taken_up = world.hub.incidents();
    assert_eq!(taken_up.len(), crate::hub::INCIDENTS_MAX);
    let fatal = taken_up.iter().filter(|i| i.severity == Severity::Fatal);
    assert_eq!(fatal.count(), 1);
    assert!(world.hub.has_taken_up_incidents());
    let lost = world.hub.metrics.lost_of("incidents");
    assert_eq!(lost, LEFT_OUT as u64);
}
