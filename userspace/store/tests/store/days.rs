use std::time::Duration;

use gtrace_event::{Kind, Record};
use gtrace_store::{Filter, Options, Reader, Store};

use crate::common::{Place, ack, assert_whole, day, event, events, new_event, put, unlimited};

fn tables(place: &Place) -> Vec<String> {
    let conn = rusqlite::Connection::open(&place.path).unwrap();
    let mut statement = conn.prepare("SELECT name FROM days ORDER BY n").unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_day_is_that_of_the_append_whatever_time_the_records_have() {
    let place = Place::new();
    let mut store = place.store();
    put(&mut store, 0, &[new_event(day(-9), 0)]);
    put(&mut store, 1, &[new_event(day(-8), 1)]);
    assert_eq!(tables(&place), ["records_20261121", "records_20261122"]);
    assert_whole(&place.path);
}

#[test]
fn a_clock_that_goes_back_breaks_nothing() {
    let place = Place::new();
    let mut store = place.store();
    // Over midnight and back; then years ahead and back, to a date that was there before.
    for (i, n) in [0, 1, 0, 1, 9_000, 9_000, 1, 2].into_iter().enumerate() {
        let i = u64::try_from(i).unwrap();
        put(&mut store, n, &[new_event(day(n), i)]);
    }
    assert_eq!(
        tables(&place),
        [
            "records_20261121",
            "records_20261122",
            "records_20510713",
            "records_20261122_4",
            "records_20261123",
        ]
    );
    assert_whole(&place.path);
    assert_eq!(place.reader().query(&Filter::default()).unwrap().len(), 8);
    // The table of the day that never was goes with the days around it.
    drop(store);
    let mut store = Store::open(&place.path, aged(1)).unwrap();
    assert_eq!(store.retain(day(4), true).unwrap().days_dropped.len(), 4);
    assert_whole(&place.path);
}

fn aged(days: u64) -> Options {
    Options {
        retention_age: Some(Duration::from_secs(days * 86_400)),
        ..unlimited()
    }
}

fn fill(store: &mut Store, days: std::ops::Range<i64>, records: u64) {
    for n in days {
        put(store, n, &events(day(n), 0..records));
    }
}

#[test]
fn retention_by_age_drops_days_shrinks_the_file_and_keeps_the_chain() {
    let place = Place::new();
    let mut store = Store::open(&place.path, aged(3)).unwrap();
    fill(&mut store, 0..10, 300);
    store.checkpoint().unwrap();
    let before = std::fs::metadata(&place.path).unwrap().len();
    // Day 5 ended three days before day 9 began; day 6 not.
    let report = store.retain(day(9), true).unwrap();
    assert_eq!(report.days_dropped.len(), 6, "{report:?}");
    assert_eq!(report.records_removed, 1_800);
    assert!(!report.over_limit);
    let after = std::fs::metadata(&place.path).unwrap().len();
    assert!(after < before / 2, "{before} -> {after}");
    assert_eq!(report.bytes_freed, before - after);
    assert_eq!(report.used_bytes, after);
    let verified = place.reader().verify().unwrap();
    assert!(verified.is_ok(), "{verified:?}");
    // Each of the six is recorded.
    assert_eq!((verified.first_seq, verified.records), (1_801, 1_206));
    assert_eq!(verified.removed, 1_800);
    // And the chain goes on.
    fill(&mut store, 10..11, 5);
    assert_eq!(store.last_seq(), 3_011);
    assert_whole(&place.path);
    assert_eq!(store.retain(day(10), true).unwrap().days_dropped.len(), 1);
    assert_whole(&place.path);
}

#[test]
fn retention_by_size_removes_the_oldest_until_it_fits() {
    let place = Place::new();
    let limit = 1 << 20;
    let options = Options {
        retention_bytes: Some(limit),
        ..unlimited()
    };
    let mut store = Store::open(&place.path, options).unwrap();
    fill(&mut store, 0..10, 300);
    let (mut report, mut removed) = (store.retain(day(9), true).unwrap(), 0);
    while report.unfinished {
        removed += report.records_removed;
        report = store.retain(day(9), true).unwrap();
    }
    removed += report.records_removed;
    let xids = Filter {
        kinds: vec![Kind::Xid],
        ..Filter::default()
    };
    let kept = place.reader().query(&xids).unwrap();
    assert!(kept.len() > 300 && kept.len() < 3_000, "{}", kept.len());
    // Of one severity, so the newest are kept.
    assert_eq!(kept.len() as u64 + removed, 3_000);
    assert!(kept[0].time > day(0), "{}", kept[0].time);
    assert!(
        report.used_bytes <= limit && !report.over_limit,
        "{report:?}"
    );
    assert!(std::fs::metadata(&place.path).unwrap().len() <= limit);
    assert_whole(&place.path);
}

#[test]
fn the_current_table_stays_however_old_and_large() {
    let place = Place::new();
    let options = Options {
        retention_bytes: Some(1),
        ..aged(1)
    };
    let mut store = Store::open(&place.path, options).unwrap();
    assert!(store.retain(day(0), true).unwrap().days_dropped.is_empty());
    fill(&mut store, 0..1, 100);
    let report = store.retain(day(99), true).unwrap();
    assert!(report.days_dropped.is_empty() && report.over_limit);
    assert_eq!(place.reader().last_seq().unwrap(), 100);
}

#[test]
fn notes_about_an_event_that_retention_dropped_do_no_harm() {
    let place = Place::new();
    let mut store = Store::open(&place.path, aged(1)).unwrap();
    let gone = event(day(0), 0);
    let id = gone.id;
    put(&mut store, 0, &[Record::Event(Box::new(gone))]);
    put(&mut store, 5, &[Record::Ack(ack(id, day(5)))]);
    store.retain(day(5), true).unwrap();
    let reader: Reader = place.reader();
    assert!(reader.event(id).unwrap().is_none());
    // What is left: the note, and the record of the removal.
    let left = reader.query(&Filter::default()).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].kind, Kind::RecordsRemoved);
    assert_eq!(reader.records_after(0, 10).unwrap().len(), 2);
    assert_eq!(reader.unreadable(), 0);
}

#[test]
fn a_store_that_is_written_for_long_stays_of_one_size() {
    let place = Place::new();
    let mut store = Store::open(&place.path, aged(2)).unwrap();
    let mut sizes = Vec::new();
    for n in 0..30 {
        fill(&mut store, n..n + 1, 200);
        store.retain(day(n), true).unwrap();
        sizes.push(std::fs::metadata(&place.path).unwrap().len());
        let wal = store.size().unwrap().wal_bytes;
        assert!(wal <= 8 << 20, "{wal}");
    }
    assert!(sizes[29] <= sizes[5], "{sizes:?}");
    assert_whole(&place.path);
}
