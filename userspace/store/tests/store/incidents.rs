use gtrace_event::{
    Event, EventId, FailureClass, Incident, IncidentId, IncidentState, Record, Severity,
    StateChange, Timestamp,
};
use gtrace_store::IncidentFilter;

use crate::common::{Place, ack, amended, day, event, put};

fn incident(time: Timestamp, events: Vec<EventId>) -> Incident {
    Incident {
        title: "a GPU fell off the bus".to_owned(),
        event_count: events.len() as u64,
        occurrences: events.len() as u64,
        events,
        ..Incident::new(time, FailureClass::Pcie, Severity::Critical)
    }
}

fn resolved(mut incident: Incident, time: Timestamp) -> Incident {
    incident.change_state(StateChange::new(
        time,
        IncidentState::Resolved,
        "on-call",
        "",
    ));
    incident
}

fn record(incident: &Incident) -> Record {
    Record::Incident(Box::new(incident.clone()))
}

#[test]
fn an_incident_is_as_its_newest_record_has_it_on_whatever_day() {
    let place = Place::new();
    let mut store = place.store();
    let first = incident(day(0), Vec::new());
    let second = incident(day(1), Vec::new());
    let third = incident(day(2), Vec::new());
    let first_done = resolved(first.clone(), day(2));
    let third_done = resolved(third.clone(), day(2));
    for (n, records) in [
        (0, vec![record(&first)]),
        (1, vec![record(&second)]),
        (
            2,
            vec![record(&third), record(&first_done), record(&third_done)],
        ),
    ] {
        put(&mut store, n, &records);
    }
    let reader = place.reader();
    let found = |filter| reader.incidents(&filter).unwrap();
    let all = [first_done.clone(), second.clone(), third_done.clone()];
    assert_eq!(found(IncidentFilter::default()), all);
    let unresolved = IncidentFilter {
        unresolved: true,
        ..IncidentFilter::default()
    };
    assert_eq!(found(unresolved), std::slice::from_ref(&second));
    for limit in 0..4 {
        let newest = IncidentFilter {
            limit: Some(limit),
            ..IncidentFilter::default()
        };
        assert_eq!(found(newest), all[3_usize.saturating_sub(limit)..]);
    }
    for one in all {
        assert_eq!(reader.incident(one.id).unwrap(), Some(one));
    }
    assert_eq!(reader.incident(IncidentId::new(1)).unwrap(), None);
}

/// The store of an incident that was resolved, and the incident before that; `set` changes the newer record.
fn resolved_and_changed(set: &str) -> (Place, Incident) {
    let place = Place::new();
    let mut store = place.store();
    let opened = incident(day(0), Vec::new());
    let changed = resolved(opened.clone(), day(0));
    put(&mut store, 0, &[record(&opened), record(&changed)]);
    store.close();
    let conn = rusqlite::Connection::open(&place.path).unwrap();
    let sql = format!("UPDATE records_20261121 SET {set} WHERE seq = 2");
    assert_eq!(conn.execute(&sql, []).unwrap(), 1);
    (place, opened)
}

#[test]
fn an_incident_whose_newest_record_a_newer_gtrace_wrote_is_as_the_one_before_has_it() {
    let (place, opened) = resolved_and_changed("body = replace(body, 'resolved', 'forgotten')");
    let reader = place.reader();
    let all = reader.incidents(&IncidentFilter::default()).unwrap();
    assert_eq!(all, std::slice::from_ref(&opened));
    assert_eq!(reader.unreadable(), 1);
    assert_eq!(reader.incident(opened.id).unwrap(), Some(opened));
}

#[test]
fn an_incident_of_which_a_newer_gtrace_says_something_else_is_listed() {
    let (place, opened) = resolved_and_changed("record = 'remark'");
    let all = place.reader().incidents(&IncidentFilter::default());
    assert_eq!(all.unwrap(), [opened]);
}

#[test]
fn a_table_of_before_is_read_without_its_index_of_incidents_and_gets_it_from_a_writer() {
    let place = Place::new();
    let mut store = place.store();
    let one = incident(day(0), Vec::new());
    put(&mut store, 0, &[record(&one)]);
    store.close();
    let conn = rusqlite::Connection::open(&place.path).unwrap();
    conn.execute_batch("DROP INDEX records_20261121_incident")
        .unwrap();
    let check = || {
        let reader = place.reader();
        let all = reader.incidents(&IncidentFilter::default());
        assert_eq!(all.unwrap(), std::slice::from_ref(&one));
        assert_eq!(reader.verify().unwrap().fault, None);
    };
    check();
    place.store().close();
    check();
    let index = "SELECT sql FROM sqlite_master WHERE name = 'records_20261121_incident'";
    let sql: String = conn.query_row(index, [], |row| row.get(0)).unwrap();
    assert!(sql.ends_with("WHERE record = 'incident'"), "{sql}");
}

#[test]
fn many_events_are_read_by_their_ids_in_the_order_asked_for() {
    let place = Place::new();
    let mut store = place.store();
    let mut all: Vec<Event> = (0..4)
        .map(|n| event(day(i64::try_from(n).unwrap()), n))
        .collect();
    // The second is of history that was appended a day late.
    for (of_day, event) in [(0, 0), (2, 1), (2, 2), (3, 3)] {
        let event = Record::Event(Box::new(all[event].clone()));
        put(&mut store, of_day, &[event]);
    }
    let (changed, amendment) = amended(&all[0], day(4), |e| e.repeats = 7);
    all[0] = changed;
    let note = ack(all[2].id, day(5));
    all[2].acks.push(note.clone());
    put(&mut store, 4, &[amendment]);
    put(&mut store, 5, &[Record::Ack(note)]);
    let reader = place.reader();
    let unknown = event(day(2), 9).id;
    let ids = [all[2].id, unknown, all[0].id, all[3].id, all[1].id];
    let want = [2, 0, 3, 1].map(|at: usize| all[at].clone());
    assert_eq!(reader.events(&ids).unwrap(), want);
    assert_eq!(reader.readable_events(&ids), want);
    assert_eq!(reader.events(&[]).unwrap(), []);
    assert_eq!(reader.events(&[unknown]).unwrap(), []);

    let both = incident(day(2), vec![all[2].id, unknown, all[0].id]);
    let none = incident(day(3), Vec::new());
    let again = incident(day(4), vec![all[0].id]);
    let mut given = Vec::new();
    let incidents = [both.clone(), none.clone(), again.clone()];
    let take = |incident, events| given.push((incident, events));
    reader.with_events(incidents, 2, take).unwrap();
    let want = [
        (both, vec![all[2].clone()]),
        (none, vec![]),
        (again, vec![all[0].clone()]),
    ];
    assert_eq!(given, want);
}
