//! Retention bounds the store at any time of the day, and what it removes is distinguished from what somebody
//! else removes.

use std::collections::HashSet;
use std::process::Command;

use gtrace_event::{Ack, Event, Kind, Record, RemovalCause, Severity};
use gtrace_store::{Fault, Filter, Options, Store, Why};
use rusqlite::Connection;

use crate::common::{Place, ack, amended, assert_whole, day, of_severity, put, unlimited};
use crate::document::script;

const LIMIT: u64 = 2 << 20;

fn bounded() -> Options {
    Options {
        retention_bytes: Some(LIMIT),
        ..unlimited()
    }
}

/// Of a day in which each hundredth event is fatal and all others are of `severity`.
struct Flood {
    fatal: HashSet<gtrace_event::EventId>,
    removals: Vec<(u64, Event)>,
    records_removed: u64,
}

fn flood(store: &mut Store, severity: Severity, events: u64) -> Flood {
    let mut flood = Flood {
        fatal: HashSet::new(),
        removals: Vec::new(),
        records_removed: 0,
    };
    for n in 0..events {
        let severity = match n % 100 {
            50 => Severity::Fatal,
            _ => severity,
        };
        let event = of_severity(day(0), n, severity);
        if severity == Severity::Fatal {
            flood.fatal.insert(event.id);
        }
        let records = [Record::Event(Box::new(event))];
        put(store, 0, &records);
        while store.retention_is_due() {
            let report = store.retain(day(0), true).unwrap();
            let fits = report.used_bytes <= LIMIT && !report.over_limit;
            assert!(fits || report.unfinished, "{report:?}");
            flood.records_removed += report.records_removed;
        }
        let used = store.size().unwrap().used_bytes;
        assert!(used <= LIMIT + LIMIT / 8, "{used} after {n}");
        flood.removals.extend(store.take_removals());
    }
    flood
}

fn kept(place: &Place, severity: Severity) -> HashSet<gtrace_event::EventId> {
    let events = place.reader().query(&Filter::default()).unwrap();
    let of = events.iter().filter(|e| e.severity == severity);
    of.map(|event| event.id).collect()
}

#[test]
fn within_one_day_the_least_severe_events_go_first_and_the_size_is_bounded() {
    let place = Place::new();
    let mut store = Store::open(&place.path, bounded()).unwrap();
    let flood = flood(&mut store, Severity::Info, 6_000);
    store.checkpoint().unwrap();
    assert!(std::fs::metadata(&place.path).unwrap().len() <= LIMIT + LIMIT / 8);
    assert_eq!(kept(&place, Severity::Fatal), flood.fatal);
    // Of the others the newest are there.
    let events = place.reader().query(&Filter::default()).unwrap();
    let newest = events.iter().rev().find(|e| e.severity == Severity::Info);
    assert!(newest.is_some_and(|e| e.message.ends_with("number 5999")));

    // Each removal is a record, and together they are all that is missing.
    let report = place.reader().verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert!(report.removed > 1_000, "{report:?}");
    let recorded = flood.removals.iter().map(|(_, e)| {
        assert_eq!(e.kind, Kind::RecordsRemoved);
        assert_eq!(e.detail.removal.removal, Some(RemovalCause::Size));
        e.detail.removal.removed_records.unwrap()
    });
    let recorded: u64 = recorded.sum();
    assert_eq!(
        (recorded, report.removed),
        (flood.records_removed, recorded)
    );
    assert_eq!(report.records + report.removed, store.last_seq());
}

#[test]
fn a_flood_of_fatal_events_is_bounded_too_by_dropping_the_oldest() {
    let place = Place::new();
    let mut store = Store::open(&place.path, bounded()).unwrap();
    let flood = flood(&mut store, Severity::Fatal, 6_000);
    let kept = kept(&place, Severity::Fatal);
    assert!(kept.len() > 100 && kept.len() < 6_000);
    let report = place.reader().verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert!(report.first_seq > 1);
    assert!(flood.records_removed >= report.removed);
    drop(store);
    let mut store = Store::open(&place.path, bounded()).unwrap();
    store.retain(day(0), true).unwrap();
    assert_whole(&place.path);
}

#[test]
fn an_event_that_became_severe_stays_and_what_is_about_a_removed_one_goes_with_it() {
    let place = Place::new();
    let mut store = Store::open(&place.path, bounded()).unwrap();
    let raised = of_severity(day(0), 1, Severity::Info);
    let (_, raise) = amended(&raised, day(0), |e| e.severity = Severity::Fatal);
    let plain = of_severity(day(0), 2, Severity::Info);
    let (_, repeat) = amended(&plain, day(0), |e| e.repeats = 3);
    let note: Ack = ack(plain.id, day(0));
    let ids = (raised.id, plain.id);
    let records = [
        Record::Event(Box::new(raised)),
        Record::Event(Box::new(plain)),
        raise,
        repeat,
        Record::Ack(note),
    ];
    put(&mut store, 0, &records);
    flood(&mut store, Severity::Info, 6_000);
    let reader = place.reader();
    assert_eq!(
        reader.event(ids.0).unwrap().unwrap().severity,
        Severity::Fatal
    );
    assert!(reader.event(ids.1).unwrap().is_none());
    let first: Vec<u64> = reader
        .records_after(0, 2)
        .unwrap()
        .iter()
        .map(|r| r.0)
        .collect();
    assert_eq!(first, [1, 3]);
    assert_whole(&place.path);
}

/// A store from which retention has removed some, as a file of its own.
fn retained() -> Place {
    let place = Place::new();
    let mut store = Store::open(&place.path, bounded()).unwrap();
    flood(&mut store, Severity::Info, 6_000);
    drop(store);
    place
}

fn fault_after(place: &Place, sql: &str) -> Option<Fault> {
    let path = place.path.with_extension("tampered");
    std::fs::copy(&place.path, &path).unwrap();
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let reader = gtrace_store::Reader::open(&path).unwrap();
    reader.verify().unwrap().fault
}

#[test]
fn what_somebody_else_removed_is_distinguished_from_retention() {
    let place = retained();
    assert_eq!(fault_after(&place, ""), None);
    let conn = Connection::open(&place.path).unwrap();
    let name = |order: &str| -> String {
        let sql = format!("SELECT name FROM days ORDER BY n {order} LIMIT 1");
        conn.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let (table, newest) = (name("ASC"), name("DESC"));
    let second =
        format!("SELECT seq FROM \"{newest}\" WHERE kind = 'xid' ORDER BY seq LIMIT 1 OFFSET 1");
    let second: u32 = conn.query_row(&second, [], |row| row.get(0)).unwrap();
    drop(conn);
    // One more record, beside those that retention removed.
    let sql = format!("DELETE FROM \"{newest}\" WHERE seq = {second}");
    let fault = fault_after(&place, &sql).unwrap();
    assert!(
        matches!(fault.why, Why::Gap { .. }) && fault.seq == Some(second.into()),
        "{second}: {fault:?}"
    );
    // The whole beginning, without a record of it.
    let sql = format!("DROP TABLE \"{table}\"; DELETE FROM days WHERE name = '{table}'");
    assert_eq!(fault_after(&place, &sql).unwrap().why, Why::Beginning);
    // A record changed to say more than it did.
    let sql = format!(
        "UPDATE \"{table}\" SET body = replace(body, '\"removed\":[{{\"first\":', '\"removed\":[{{\"first\":1')
         WHERE kind = 'records_removed'"
    );
    let conn = Connection::open(&place.path).unwrap();
    let tables: Vec<String> = conn
        .prepare("SELECT name FROM days")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    drop(conn);
    let all: Vec<String> = tables.iter().map(|t| sql.replace(&table, t)).collect();
    assert!(fault_after(&place, &all.join(";")).is_some());
}

#[test]
fn the_script_of_the_documentation_distinguishes_retention_from_tampering_too() {
    let place = retained();
    let run = || {
        let output = Command::new("python3")
            .args(["-c", &script()])
            .arg(&place.path)
            .output();
        output.map(|o| {
            let text = String::from_utf8_lossy(&o.stdout).into_owned();
            (
                o.status.success(),
                text + &String::from_utf8_lossy(&o.stderr),
            )
        })
    };
    let Ok((good, output)) = run() else {
        println!("SKIPPED: no python3 here");
        return;
    };
    let removed = place.reader().verify().unwrap().removed;
    assert!(
        good && output.contains(&format!("{removed} removed")),
        "{output}"
    );
    let conn = Connection::open(&place.path).unwrap();
    let table: String = conn
        .query_row("SELECT name FROM days ORDER BY n LIMIT 1", [], |row| {
            row.get(0)
        })
        .unwrap();
    let sql = format!(
        "DELETE FROM \"{table}\" WHERE seq = (SELECT min(seq) FROM \"{table}\" WHERE severity = 'fatal')"
    );
    conn.execute_batch(&sql).unwrap();
    let (good, output) = run().unwrap();
    assert!(!good && output.contains("BROKEN"), "{output}");
}

#[test]
fn a_clock_that_may_be_wrong_removes_nothing_by_age() {
    let place = Place::new();
    let options = Options {
        retention_age: Some(std::time::Duration::from_secs(86_400)),
        ..unlimited()
    };
    let mut store = Store::open(&place.path, options).unwrap();
    for n in 0..3 {
        let event = of_severity(day(n), 1, Severity::Info);
        put(&mut store, n, &[Record::Event(Box::new(event))]);
    }
    let report = store.retain(day(9_000), false).unwrap();
    assert_eq!(report.records_removed, 0);
    assert_eq!(store.retain(day(9_000), true).unwrap().records_removed, 2);
    assert_whole(&place.path);
}
