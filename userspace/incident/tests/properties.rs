//! What holds whatever happens, and in whatever order it is seen.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};

use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Event, EventId, Gpu, Holder, Incident, IncidentId, IncidentState, Kind, Occurrence, Process,
    Provenance, Severity, StateChange, Timestamp, WitnessName,
};
use gtrace_incident::{Correlator, Options, Rules};
use proptest::prelude::*;

fn begin() -> Timestamp {
    "2026-03-03T03:12:00Z".parse().unwrap()
}

fn after(seconds: i64) -> Timestamp {
    begin() + jiff::SignedDuration::from_secs(seconds)
}

fn new_correlator() -> Correlator {
    Correlator::new(Rules::builtin().unwrap(), Options::default())
}

#[derive(Clone, Debug)]
struct Given {
    kind: Kind,
    code: u32,
    bus: u8,
    pid: u32,
    ms: i64,
    provenance: Provenance,
    repeats: u64,
}

fn given() -> impl Strategy<Value = Given> {
    let kinds = prop::sample::select(Kind::ALL.to_vec());
    let codes = prop::sample::select(vec![13_u32, 31, 43, 48, 63, 74, 79, 94, 119, 154]);
    let provenance = prop::sample::select(vec![
        Provenance::Kernel,
        Provenance::Kernel,
        Provenance::Injected,
        Provenance::Userspace,
        Provenance::Unknown,
    ]);
    (
        kinds,
        codes,
        1..5_u8,
        1..6_u32,
        0..600_000_i64,
        provenance,
        0..3_u64,
    )
        .prop_map(|(kind, code, bus, pid, ms, provenance, repeats)| Given {
            kind,
            code,
            bus,
            pid,
            ms,
            provenance,
            repeats,
        })
}

fn event(given: &Given) -> Event {
    let time = begin() + jiff::SignedDuration::from_millis(given.ms);
    let mut occurrence = Occurrence::new(given.kind, Severity::Warning, "text");
    occurrence.gpu = Some(Gpu::at(
        format!("0000:{:02x}:00.0", given.bus).parse().unwrap(),
    ));
    occurrence.process = Some(Process {
        pid: Some(given.pid),
        ..Process::default()
    });
    occurrence.detail.xid.xid = (given.kind == Kind::Xid).then_some(given.code);
    occurrence.provenance = given.provenance;
    Catalogue::builtin().assess(&mut occurrence);
    Event::seen(time, WitnessName::Kmsg, 1, occurrence)
}

/// Plays events and, for some, what becomes known of them later; keeps each incident as it was seen last.
fn play(correlator: &mut Correlator, all: &[(Given, Event)]) -> BTreeMap<IncidentId, Incident> {
    let mut seen: BTreeMap<IncidentId, Incident> = BTreeMap::new();
    let mut see = |changed: Vec<Incident>| {
        for incident in changed {
            let before = seen.insert(incident.id, incident.clone());
            if let Some(before) = before {
                assert!(
                    before.revision < incident.revision,
                    "{before:?} {incident:?}"
                );
                assert_eq!(before.drill, incident.drill);
            }
        }
    };
    for (given, event) in all {
        see(correlator.ingest(event));
        for repeats in 1..=given.repeats {
            let mut more = event.clone();
            more.repeats = repeats;
            more.last_time = Some(event.time);
            see(correlator.ingest(&more));
        }
        see(correlator.tick(event.time));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_event_is_in_two_incidents_and_drills_never_meet_faults(all in prop::collection::vec(given(), 1..120)) {
        let all: Vec<(Given, Event)> = all.into_iter().map(|given| { let event = event(&given); (given, event) }).collect();
        let by_id: BTreeMap<EventId, &Event> = all.iter().map(|(_, event)| (event.id, event)).collect();
        let mut correlator = new_correlator();
        let incidents = play(&mut correlator, &all);
        let mut in_one = BTreeSet::new();
        for incident in incidents.values() {
            prop_assert_eq!(incident.events.len() as u64, incident.event_count);
            for id in &incident.events {
                prop_assert!(in_one.insert(*id), "{} is in two", id);
                let drill = by_id[id].provenance == Provenance::Injected;
                prop_assert_eq!(drill, incident.drill);
                prop_assert!(matches!(by_id[id].provenance, Provenance::Kernel | Provenance::Injected));
            }
            let occurrences: u64 = incident.events.iter().map(|id| {
                all.iter().find(|(_, event)| event.id == *id).map_or(0, |(given, _)| given.repeats + 1)
            }).sum();
            prop_assert_eq!(incident.occurrences, occurrences);
            for link in &incident.chain {
                prop_assert!(incident.events.contains(&link.from) && incident.events.contains(&link.to));
            }
            prop_assert!(!incident.title.is_empty() && incident.title.chars().count() <= 200);
        }
        // Each critical fault of the kernel is in one.
        for (_, event) in &all {
            let counts = event.provenance == Provenance::Kernel && event.severity >= Severity::Critical;
            prop_assert!(!counts || event.kind == Kind::RecordsRemoved || in_one.contains(&event.id), "{:?}", event);
        }
    }

    #[test]
    fn a_restart_in_the_middle_opens_no_incident_twice(all in prop::collection::vec(given(), 1..60), at in 0..60_usize) {
        let mut all: Vec<(Given, Event)> = all.into_iter().map(|given| { let event = event(&given); (given, event) }).collect();
        all.sort_by_key(|(given, _)| given.ms);
        let at = at.min(all.len());
        let mut correlator = new_correlator();
        let before = play(&mut correlator, &all[..at]);
        let mut next = new_correlator();
        for incident in before.values() {
            let events = all.iter().map(|(_, event)| event).filter(|event| incident.events.contains(&event.id));
            next.adopt(incident.clone(), &events.cloned().collect::<Vec<_>>());
        }
        let resumed: BTreeSet<IncidentId> = next.incidents().map(|incident| incident.id).collect();
        // What comes a second time, as from the kernel's log, changes nothing.
        for (_, event) in &all[..at] {
            if next.has_event(event.id) {
                let changed = next.ingest(event);
                prop_assert!(changed.iter().all(|incident| resumed.contains(&incident.id)), "{:?}", changed);
            }
        }
    }
}

/// What the kernel reports so many milliseconds after the beginning, of a GPU and a process.
fn fault(kind: Kind, code: u32, bus: u8, pid: u32, ms: i64) -> Event {
    event(&Given {
        kind,
        code,
        bus,
        pid,
        ms,
        provenance: Provenance::Kernel,
        repeats: 0,
    })
}

fn xid(code: u32, seconds: i64) -> Event {
    fault(Kind::Xid, code, 1, 1, seconds * 1000)
}

/// `event` with so many repeats, the last of them then.
fn repeated(event: &Event, repeats: u64, seconds: i64) -> Event {
    Event {
        repeats,
        last_time: Some(after(seconds)),
        ..event.clone()
    }
}

fn resolved_at(time: Timestamp) -> StateChange {
    StateChange::new(time, IncidentState::Resolved, "me", "")
}

#[test]
fn the_same_fault_after_it_was_resolved_is_another_incident() {
    let mut correlator = new_correlator();
    let first = correlator.ingest(&xid(48, 0)).remove(0);
    let again = correlator.ingest(&xid(48, 3600)).remove(0);
    assert_eq!(again.id, first.id);
    assert_eq!(again.event_count, 2);
    let resolved = resolved_at(begin());
    let closed = correlator
        .change(first.id, |incident| incident.change_state(resolved))
        .unwrap();
    assert!(closed.closed.is_some() && closed.revision > again.revision);
    let new = correlator.ingest(&xid(48, 3700)).remove(0);
    assert_ne!(new.id, first.id);
    assert_eq!((new.revision, new.event_count), (0, 1));
}

#[test]
fn a_repeat_after_it_was_resolved_opens_another_incident() {
    let mut correlator = new_correlator();
    let event = xid(48, 0);
    let first = correlator.ingest(&event).remove(0);
    let resolved = resolved_at(after(3600));
    correlator.change(first.id, |incident| incident.change_state(resolved));
    // What happened before is known late.
    let late = correlator.ingest(&repeated(&event, 1, 3599)).remove(0);
    assert_eq!((late.id, late.occurrences), (first.id, 2));
    let new = correlator.ingest(&repeated(&event, 2, 3700)).remove(0);
    assert_ne!(new.id, first.id);
    assert_eq!((new.revision, new.opened), (0, after(3700)));
    assert_eq!(new.events, [event.id]);
    // From here on it is that one's, and so is what happens to the same GPU.
    let more = correlator.ingest(&repeated(&event, 3, 3710)).remove(0);
    assert_eq!((more.id, more.occurrences), (new.id, 4));
    assert_eq!((more.opened, more.last_time), (after(3700), after(3710)));
    let other = correlator.ingest(&xid(63, 3720)).remove(0);
    assert_eq!((other.id, other.event_count), (new.id, 2));
}

#[test]
fn a_repeat_by_a_clock_that_was_set_back_is_of_nothing_that_was_resolved_before() {
    let mut correlator = new_correlator();
    let event = xid(48, 3000);
    let first = correlator.ingest(&event).remove(0);
    correlator.tick(after(3600));
    let resolved = resolved_at(after(3604));
    correlator.change(first.id, |incident| incident.change_state(resolved));
    // What happened before is known late.
    let late = correlator.ingest(&repeated(&event, 1, 3603)).remove(0);
    assert_eq!((late.id, late.occurrences), (first.id, 2));
    correlator.tick(after(5));
    let new = correlator.ingest(&repeated(&event, 2, 8)).remove(0);
    assert_ne!(new.id, first.id);
    assert_eq!((new.revision, new.state), (0, IncidentState::Open));
}

#[test]
fn what_was_resolved_before_a_restart_is_left_as_it_is_by_what_happens_then() {
    let mut correlator = new_correlator();
    let event = xid(48, 0);
    let first = correlator.ingest(&event).remove(0);
    let resolved = resolved_at(after(100));
    let first = correlator
        .change(first.id, |incident| incident.change_state(resolved))
        .unwrap();
    let mut next = new_correlator();
    next.adopt(first.clone(), std::slice::from_ref(&event));
    assert!(next.ingest(&event).is_empty());
    let new = next.ingest(&repeated(&event, 1, 130)).remove(0);
    assert_ne!(new.id, first.id);
    assert_eq!((new.revision, new.opened), (0, after(130)));
    // It goes an hour after it was resolved.
    next.tick(after(3701));
    assert!(next.incidents().all(|incident| incident.id != first.id));
}

#[test]
fn what_is_quiet_is_resolved_by_itself_by_its_class() {
    let mut correlator = new_correlator();
    let program = correlator.ingest(&xid(13, 0)).remove(0);
    assert!(correlator.tick(after(3599)).is_empty());
    let resolved = correlator.tick(after(3600));
    assert_eq!(
        (resolved[0].id, resolved[0].state),
        (program.id, IncidentState::Resolved)
    );
    assert_eq!(resolved[0].history[0].by, "gtrace");
    let memory = correlator.ingest(&xid(48, 4000)).remove(0);
    assert!(
        correlator.tick(after(1_000_000)).is_empty(),
        "{memory:?} waits for somebody"
    );
}

#[test]
fn a_clock_that_was_set_resolves_nothing_before_an_hour_has_passed() {
    // Set forward by hours, as after a start with a wrong time, and back.
    for (first, set) in [(0, 5 * 3600), (10 * 3600, 0)] {
        let mut correlator = new_correlator();
        correlator.ingest(&xid(13, first));
        assert!(correlator.tick(after(first + 60)).is_empty());
        correlator.set_clock(after(set));
        assert!(correlator.tick(after(set)).is_empty(), "{first}");
        assert!(correlator.tick(after(set + 3599)).is_empty(), "{first}");
        assert_eq!(correlator.tick(after(set + 3600)).len(), 1, "{first}");
    }
}

#[test]
fn what_repeats_after_the_clock_was_set_back_is_not_quiet() {
    let mut correlator = new_correlator();
    let event = xid(13, 10 * 3600);
    let opened = correlator.ingest(&event).remove(0);
    assert!(correlator.tick(after(10 * 3600 + 60)).is_empty());
    correlator.set_clock(after(0));
    assert!(correlator.tick(after(0)).is_empty());
    let repeated = correlator.ingest(&repeated(&event, 1, 3000)).remove(0);
    assert_eq!(repeated.id, opened.id);
    assert!(correlator.tick(after(3000)).is_empty());
    assert!(correlator.tick(after(6599)).is_empty());
    assert_eq!(correlator.tick(after(6600)).len(), 1);
}

#[test]
fn what_an_earlier_run_had_of_a_clock_that_was_ahead_is_resolved_an_hour_after_the_start() {
    let ahead = 400 * 86_400;
    let fault = xid(13, ahead);
    let opened = new_correlator().ingest(&fault).remove(0);
    let mut reopened = opened.clone();
    reopened.change_state(resolved_at(after(ahead + 10)));
    let note = "not over".to_owned();
    let open = StateChange::new(after(ahead + 20), IncidentState::Open, "me", note);
    reopened.change_state(open);
    for incident in [opened, reopened] {
        let mut correlator = new_correlator();
        correlator.adopt(incident, std::slice::from_ref(&fault));
        assert!(correlator.tick(after(0)).is_empty());
        assert!(correlator.tick(after(3599)).is_empty());
        let resolved = correlator.tick(after(3600));
        assert_eq!(resolved.len(), 1);
        assert_eq!(resolved[0].state, IncidentState::Resolved);
    }
}

#[test]
fn an_incident_is_not_quiet_while_one_of_its_many_events_repeats() {
    let mut correlator = new_correlator();
    let events: Vec<Event> = (0..70).map(|second| xid(13, second)).collect();
    let opened = correlator.ingest(&events[0]).remove(0);
    let mut last = None;
    for event in &events[1..] {
        last = correlator.ingest(event).pop();
    }
    let joined = last.unwrap();
    assert_eq!((joined.id, joined.event_count), (opened.id, 70));
    let beyond = repeated(&events[69], 1, 3000);
    let changed = correlator.ingest(&beyond).remove(0);
    assert!(changed.revision > joined.revision);
    assert_eq!(changed.last_time, after(3000));
    assert!(correlator.ingest(&beyond).is_empty());
    assert!(correlator.tick(after(6599)).is_empty());
    assert_eq!(correlator.tick(after(6600)).len(), 1);
}

#[test]
fn a_storm_stays_bounded() {
    let mut correlator = new_correlator();
    let begun = std::time::Instant::now();
    let mut last = None;
    for n in 0..20_000_u32 {
        let event = fault(Kind::Xid, 31, 1, n + 1, i64::from(n) / 2);
        last = correlator.ingest(&event).pop().or(last);
    }
    println!("{} ns an event", begun.elapsed().as_nanos() / 20_000);
    // Each is of another program: four have an incident of their own, all others have one together.
    assert_eq!(correlator.incidents().count(), 5);
    let incident = last.unwrap();
    assert_eq!(
        (incident.event_count, incident.occurrences),
        (19_996, 19_996)
    );
    assert!(
        incident.title.starts_with("many programs failed on GPU"),
        "{}",
        incident.title
    );
    assert!(incident.events.len() <= 256 && incident.affected.processes.len() <= 64);
    let size = serde_json::to_string(&incident).unwrap().len();
    assert!(size < 64 << 10, "{size} bytes");
}

#[test]
fn a_storm_of_incidents_leaves_those_of_other_gpus_that_may_change() {
    let mut correlator = new_correlator();
    let fault = |code: u32, bus: u8, minute: u32| {
        fault(Kind::Xid, code, bus, minute + 1, i64::from(minute) * 60_000)
    };
    let first = correlator.ingest(&fault(48, 2, 0)).remove(0);
    // Every two minutes another program fails on another GPU.
    for nth in 1..=300 {
        correlator.ingest(&fault(31, 1, 2 * nth));
    }
    let most = Options::default().incidents;
    assert_eq!(correlator.incidents().count(), most);
    let again = correlator.ingest(&fault(48, 2, 602)).remove(0);
    assert_eq!((again.id, again.event_count), (first.id, 2));
}

#[test]
fn the_clients_of_a_remote_gpu_are_affected_by_its_fault() {
    let mut lost = fault(Kind::GpuLost, 0, 1, 7, 0);
    let client = |client: &str| Holder {
        remote_client: Some(client.to_owned()),
        ..Holder::default()
    };
    lost.detail.holders.holders = vec![client("a: train (1)"), Holder::default()];
    let mut correlator = new_correlator();
    correlator.ingest(&lost);
    // Known later, and a client that is known.
    lost.detail.holders.holders = vec![client("b: infer (2)"), client("a: train (1)")];
    lost.repeats += 1;
    let changed = correlator.ingest(&lost);
    let [incident] = &changed[..] else {
        panic!("{changed:?}");
    };
    assert_eq!(
        incident.affected.remote_clients,
        ["a: train (1)", "b: infer (2)"]
    );
}
