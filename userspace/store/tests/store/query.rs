use std::ops::ControlFlow;

use gtrace_event::{Event, Kind, Provenance, Record, Severity, Timestamp};
use gtrace_store::{Filter, GpuFilter, Reader};

use crate::common::{PCI, Place, ack, amended, at, day, event, events, messages, new_event, put};

#[test]
fn what_was_appended_reads_back_whole_and_numbered() {
    let place = Place::new();
    let mut store = place.store();
    let first = event(at("2026-03-03T04:05:06.123456789Z"), 1);
    let (_, amendment) = amended(&first, day(0), |e| e.repeats = 3);
    let records = [
        Record::Event(Box::new(first.clone())),
        amendment,
        Record::Ack(ack(first.id, day(0))),
    ];
    assert_eq!(store.append(&records, &[]).unwrap(), 1..=3);
    assert_eq!(store.append(&[new_event(day(0), 2)], &[]).unwrap(), 4..=4);
    let back = place.reader().records_after(0, 3).unwrap();
    let want: Vec<_> = (1..).zip(records).collect();
    assert_eq!(back, want);
    assert_eq!(place.reader().records_after(3, 9).unwrap().len(), 1);
    assert_eq!(place.reader().records_after(4, 9).unwrap().len(), 0);
    assert_eq!(place.reader().last_seq().unwrap(), 4);
    assert_eq!(store.last_seq(), 4);
}

#[test]
fn an_append_of_nothing_gives_an_empty_range() {
    let place = Place::new();
    let mut store = place.store();
    store.append(&events(day(0), 0..2), &[]).unwrap();
    assert!(store.append(&[], &[]).unwrap().is_empty());
}

#[test]
fn amendments_and_acks_of_later_days_are_folded_into_their_event() {
    let place = Place::new();
    let mut store = place.store();
    let old = event(day(0), 1);
    let (second, a1) = amended(&old, day(1), |e| e.provenance = Provenance::Kernel);
    let (mut want, a2) = amended(&second, day(3), |e| e.severity = Severity::Fatal);
    want.acks.push(ack(old.id, day(5)));
    for (n, record) in [
        (0, Record::Event(Box::new(old.clone()))),
        (1, a1),
        (2, new_event(day(2), 7)),
        (3, a2),
        (5, Record::Ack(want.acks[0].clone())),
    ] {
        put(&mut store, n, &[record]);
    }
    let reader = place.reader();
    assert_eq!(reader.event(old.id).unwrap().unwrap(), want);
    // The window holds the event only; its amendments lie outside.
    let window = Filter {
        since: Some(day(0)),
        until: Some(day(1)),
        ..Filter::default()
    };
    assert_eq!(reader.query(&window).unwrap(), [want]);
    assert!(reader.event(event(day(0), 9).id).unwrap().is_none());
}

#[test]
fn events_come_oldest_first_also_where_history_was_appended_late() {
    let place = Place::new();
    let mut store = place.store();
    // More than one page of the merge, in three days, appended against the order of time.
    let mut want: Vec<Event> = Vec::new();
    for d in [2, 1, 0] {
        let batch: Vec<Event> = (0..700_i64)
            .map(|n| {
                let second = day(0).as_second() + n * 3 + d;
                event(Timestamp::from_second(second).unwrap(), 0)
            })
            .collect();
        let records: Vec<_> = batch
            .iter()
            .map(|e| Record::Event(Box::new(e.clone())))
            .collect();
        put(&mut store, 3 - d, &records);
        want.extend(batch);
    }
    want.sort_by_key(|e| e.time);
    let reader = place.reader();
    assert_eq!(reader.query(&Filter::default()).unwrap(), want);
    let newest = Filter {
        limit: Some(300),
        ..Filter::default()
    };
    assert_eq!(reader.query(&newest).unwrap(), want[want.len() - 300..]);
    let mut first = Vec::new();
    let stop = |e| {
        first.push(e);
        if first.len() < 10 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    reader.for_each(&Filter::default(), stop).unwrap();
    assert_eq!(first, want[..10]);
}

/// Four events that differ in everything a filter checks.
fn mixed(place: &Place) -> Vec<Event> {
    let mut all: Vec<Event> = (0..4)
        .map(|n| event(day(i64::try_from(n).unwrap()), n))
        .collect();
    all[1].kind = Kind::Aer;
    all[1].severity = Severity::Info;
    all[1].boot_id = Some("boot-2".to_owned());
    all[2].gpu = None;
    all[2].provenance = Provenance::Injected;
    let gpu = all[3].gpu.as_mut().unwrap();
    gpu.pci = Some("0000:5e:00.0".parse().unwrap());
    gpu.uuid = Some("GPU-5fd1a0b2".to_owned());
    let records: Vec<_> = all
        .iter()
        .map(|e| Record::Event(Box::new(e.clone())))
        .collect();
    let mut store = place.store();
    put(&mut store, 0, &records);
    let note = ack(all[0].id, day(9));
    put(&mut store, 9, &[Record::Ack(note.clone())]);
    all[0].acks.push(note);
    all
}

fn found(reader: &Reader, filter: Filter) -> Vec<String> {
    let events = reader.query(&filter).unwrap();
    events
        .iter()
        .map(|e| e.message.rsplit(' ').next().unwrap().to_owned())
        .collect()
}

/// Sets a part of a filter.
type Narrow<'a> = &'a dyn Fn(&mut Filter);

#[test]
fn each_part_of_a_filter_narrows() {
    let place = Place::new();
    let all = mixed(&place);
    let reader = place.reader();
    let gpu = |text: &str| Some(GpuFilter::Text(text.to_owned()));
    let cases: [(Narrow<'_>, &str); 18] = [
        (&|_| {}, "0123"),
        (&|f| f.since = Some(day(1)), "123"),
        (&|f| f.until = Some(day(1)), "0"),
        (
            &|f| {
                f.since = Some(day(1));
                f.until = Some(day(3));
            },
            "12",
        ),
        (&|f| f.kinds = vec![Kind::Aer], "1"),
        (&|f| f.kinds = vec![Kind::Aer, Kind::Xid], "0123"),
        (&|f| f.min_severity = Some(Severity::Warning), "023"),
        (&|f| f.provenance = Some(Provenance::Injected), "2"),
        (&|f| f.boot_id = Some("boot-2".into()), "1"),
        (&|f| f.unacked_only = true, "123"),
        (&|f| f.id = Some(all[2].id), "2"),
        (
            &|f| {
                f.id = Some(all[2].id);
                f.unacked_only = true;
                f.since = Some(day(3));
            },
            "",
        ),
        (
            &|f| f.gpu = Some(GpuFilter::Pci(PCI.parse().unwrap())),
            "01",
        ),
        (&|f| f.gpu = gpu("5e:"), "3"),
        (&|f| f.gpu = gpu("gpu-5FD1"), "3"),
        (&|f| f.limit = Some(2), "23"),
        (
            &|f| {
                f.limit = Some(2);
                f.unacked_only = true;
                f.until = Some(day(3));
            },
            "12",
        ),
        (&|f| f.limit = Some(0), ""),
    ];
    for (fill, want) in cases {
        let mut filter = Filter::default();
        fill(&mut filter);
        assert_eq!(found(&reader, filter.clone()).concat(), want, "{filter:?}");
    }
    assert_eq!(reader.query(&Filter::default()).unwrap(), all);
}

#[test]
fn a_filter_sees_what_an_amendment_brought() {
    let place = Place::new();
    let mut store = place.store();
    let mut old = event(day(0), 0);
    old.severity = Severity::Info;
    old.gpu = None;
    let (_, amendment) = amended(&old, day(1), |e| {
        e.severity = Severity::Fatal;
        e.gpu = event(day(0), 0).gpu;
    });
    let first = Record::Event(Box::new(old.clone()));
    put(&mut store, 0, &[first]);
    let fatal_there = Filter {
        min_severity: Some(Severity::Critical),
        gpu: Some(GpuFilter::Pci(PCI.parse().unwrap())),
        ..Filter::default()
    };
    assert!(place.reader().query(&fatal_there).unwrap().is_empty());
    put(&mut store, 1, &[amendment]);
    assert_eq!(place.reader().query(&fatal_there).unwrap().len(), 1);
}

#[test]
fn a_restart_gets_the_events_of_its_boot_and_the_cursors_that_belong_to_them() {
    let place = Place::new();
    let mut store = place.store();
    let cursor = |n: u64| {
        (
            "kmsg".to_owned(),
            format!("{{\"boot_id\":\"boot-1\",\"seq\":{n}}}"),
        )
    };
    let mut other = event(day(0), 5);
    other.boot_id = Some("boot-0".to_owned());
    store
        .append(&[Record::Event(Box::new(other))], &[cursor(1)])
        .unwrap();
    store.append(&[new_event(day(0), 6)], &[cursor(2)]).unwrap();
    store.append(&[new_event(day(2), 7)], &[cursor(3)]).unwrap();
    drop(store);
    let store = place.store();
    assert_eq!(store.cursor("kmsg").unwrap(), Some(cursor(3).1));
    assert_eq!(store.cursor("other").unwrap(), None);
    assert_eq!(store.last_seq(), 3);
    let since = |t| place.reader().unconfirmed("boot-1", t, 100).unwrap().len();
    assert_eq!((since(day(0)), since(day(1)), since(day(3))), (2, 1, 0));
}

#[test]
fn a_record_of_a_newer_gtrace_is_counted_not_fatal_and_still_in_the_chain() {
    let place = Place::new();
    let mut store = place.store();
    store.append(&events(day(0), 0..2), &[]).unwrap();
    drop(store);
    // As a newer version would have written it.
    let conn = rusqlite::Connection::open(&place.path).unwrap();
    let (table, body, hash): (String, String, Vec<u8>) = {
        let t: String = conn
            .query_row("SELECT name FROM days", [], |r| r.get(0))
            .unwrap();
        conn.query_row(
            &format!(
                "SELECT '{t}', (SELECT body FROM {t} WHERE seq = 2), hash FROM {t} WHERE seq = 1"
            ),
            [],
            |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
        )
        .unwrap()
    };
    let body = body.replace("\"kind\":\"xid\"", "\"kind\":\"cosmic_ray\"");
    let hash = gtrace_store::Hash(hash.try_into().unwrap()).link(2, body.as_bytes());
    conn.execute(
        &format!("UPDATE {table} SET body = ?1, hash = ?2, kind = 'cosmic_ray' WHERE seq = 2"),
        (body, &hash.0[..]),
    )
    .unwrap();
    drop(conn);
    let reader = place.reader();
    assert_eq!(messages(&reader).len(), 1);
    assert_eq!(reader.unreadable(), 1);
    assert!(reader.verify().unwrap().is_ok());
}
