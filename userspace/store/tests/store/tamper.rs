//! Whatever is changed in a store behind its back, `verify` finds it.

use std::path::{Path, PathBuf};

use gtrace_event::{Event, Record};
use gtrace_store::{Fault, Filter, Hash, Reader, Resume, Why};
use rusqlite::Connection;

use crate::common::{Place, ack, amended, day, event, put};

const D: [&str; 3] = ["records_20261121", "records_20261122", "records_20261123"];

/// Three days of five records: event, event, amendment, acknowledgement, event.
fn whole() -> Place {
    let place = Place::new();
    let mut store = place.store();
    for n in 0..3 {
        let first = event(day(n), 1);
        let (_, amendment) = amended(&first, day(n), |e| e.repeats = 2);
        let note = Record::Ack(ack(first.id, day(n)));
        let more = |n| Record::Event(Box::new(event(day(0), n)));
        let records = [
            Record::Event(Box::new(first)),
            more(2),
            amendment,
            note,
            more(3),
        ];
        put(&mut store, n, &records);
    }
    drop(store);
    place
}

fn copy(place: &Place) -> PathBuf {
    let to = place.path.with_extension("tampered");
    std::fs::copy(&place.path, &to).unwrap();
    to
}

fn fault_after(place: &Place, sql: &str) -> Option<Fault> {
    let path = copy(place);
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    Reader::open(&path).unwrap().verify().unwrap().fault
}

#[track_caller]
fn assert_found(place: &Place, sql: &str, seq: Option<u64>, why: Why) {
    let fault = fault_after(place, sql).unwrap_or_else(|| panic!("not found: {sql}"));
    assert_eq!((fault.seq, fault.why), (seq, why), "{sql}");
}

#[test]
fn an_untouched_store_is_fine() {
    assert_eq!(fault_after(&whole(), ""), None);
}

#[test]
fn a_changed_record_is_found() {
    let place = whole();
    let t = D[1];
    for (sql, why) in [
        ("body = replace(body, 'NVRM', 'NVRX')", Why::HashMismatch),
        ("body = body || ' '", Why::HashMismatch),
        ("hash = zeroblob(32)", Why::HashMismatch),
        ("hash = x'00'", Why::HashMismatch),
        ("time_ns = time_ns + 1", Why::Column("time_ns")),
        ("kind = 'aer'", Why::Column("kind")),
        ("kind = NULL", Why::Column("kind")),
        ("severity = 'info'", Why::Column("severity")),
        ("pci = '0000:3b:00.1'", Why::Column("pci")),
        (
            "event_id = '01KAJ8Z5000000000000000000'",
            Why::Column("event_id"),
        ),
        ("record = 'ack'", Why::Column("record")),
    ] {
        let sql = format!("UPDATE {t} SET {sql} WHERE seq = 7");
        assert_found(&place, &sql, Some(7), why);
    }
}

#[test]
fn a_table_or_an_epoch_that_begins_with_record_0_is_none() {
    let place = whole();
    let path = copy(&place);
    let conn = Connection::open(&path).unwrap();
    let id = place.reader().epochs().unwrap().id_of(1).unwrap();
    let sql = "INSERT INTO epochs(epoch, first_seq) VALUES ('01KAJ8Z5000000000000000000', 0)";
    conn.execute_batch(sql).unwrap();
    let reader = Reader::open(&path).unwrap();
    let resume = reader.epochs().unwrap().resume_after(id, 15);
    assert_eq!(resume, Resume::After(1));
    conn.execute_batch("UPDATE days SET first_seq = 0 WHERE n = 2")
        .unwrap();
    let fault = reader.verify().unwrap().fault.unwrap();
    assert!(matches!(fault.why, Why::File(_)), "{fault}");
    assert!(reader.chain_after(0, 10, 1 << 20).is_err());
}

#[test]
fn a_record_rewritten_with_a_hash_of_its_own_is_found_at_the_next() {
    let place = whole();
    let before = place.reader().hash_at(6).unwrap().unwrap();
    let body = r#"{"record":"ack","id":"01KAJ8Z5000000000000000000","time":"2026-11-21T00:00:00Z","by":"x","note":"y"}"#;
    let hash = before.link(7, body.as_bytes());
    let sql = format!(
        "UPDATE {} SET body = '{body}', hash = x'{hash}', record = 'ack', kind = NULL,
         severity = NULL, pci = NULL, event_id = '01KAJ8Z5000000000000000000',
         time_ns = 1795219200000000000 WHERE seq = 7",
        D[1]
    );
    assert_found(&place, &sql, Some(8), Why::HashMismatch);
}

#[test]
fn missing_and_swapped_records_are_found() {
    let place = whole();
    let t = D[1];
    let delete = |seq: u64| format!("DELETE FROM {t} WHERE seq = {seq}");
    assert_found(&place, &delete(7), Some(7), Why::Gap { found: 8 });
    assert_found(&place, &delete(6), Some(6), Why::Gap { found: 7 });
    let cut = Why::FirstSeq {
        expected: 10,
        found: 11,
    };
    assert_found(&place, &delete(10), Some(11), cut);
    let swap = format!(
        "UPDATE {t} SET seq = -1 WHERE seq = 7; UPDATE {t} SET seq = 7 WHERE seq = 8;
         UPDATE {t} SET seq = 8 WHERE seq = -1"
    );
    assert_found(&place, &swap, Some(7), Why::HashMismatch);
    let renumber = format!(
        "DELETE FROM {t} WHERE seq = 7;
         UPDATE {t} SET seq = 7 WHERE seq = 8; UPDATE {t} SET seq = 8 WHERE seq = 9"
    );
    assert_found(&place, &renumber, Some(7), Why::HashMismatch);
    let emptied = format!("DELETE FROM {}", D[2]);
    assert_found(&place, &emptied, Some(11), Why::EmptyDay);
}

#[test]
fn missing_and_changed_days_are_found() {
    let place = whole();
    let t = D[1];
    let drop_day = format!("DROP TABLE {t}; DELETE FROM days WHERE n = 2");
    assert_found(&place, &drop_day, None, Why::MissingDay);
    assert_found(
        &place,
        &format!("DROP TABLE {t}"),
        Some(6),
        Why::MissingTable,
    );
    assert_found(
        &place,
        "DELETE FROM days WHERE n = 2",
        None,
        Why::Unlisted(t.to_owned()),
    );
    let renumbered = format!("{drop_day}; UPDATE days SET n = 2 WHERE n = 3");
    let cut = Why::FirstSeq {
        expected: 6,
        found: 11,
    };
    assert_found(&place, &renumbered, Some(11), cut);
    assert_found(
        &place,
        "UPDATE days SET n = 9 WHERE n = 3",
        None,
        Why::MissingDay,
    );
    let opening = |n| format!("UPDATE days SET opening_hash = zeroblob(32) WHERE n = {n}");
    assert_found(&place, &opening(2), Some(6), Why::OpeningHash);
    assert_found(
        &place,
        "UPDATE days SET unix_day = 0 WHERE n = 2",
        Some(6),
        Why::Date,
    );
    let first = Why::FirstSeq {
        expected: 6,
        found: 7,
    };
    assert_found(
        &place,
        "UPDATE days SET first_seq = 7 WHERE n = 2",
        Some(6 + 1),
        first,
    );
}

#[test]
fn the_opening_of_the_first_day_kept_is_checked_by_its_first_record() {
    let place = whole();
    let beheaded = format!("DROP TABLE {}; DELETE FROM days WHERE n = 1;", D[0]);
    assert_found(&place, &beheaded, Some(6), Why::Beginning);
    // In the version that recorded no removals it may have been retention.
    let kept = format!("{beheaded} UPDATE meta SET value = '2' WHERE key = 'schema';");
    assert_eq!(fault_after(&place, &kept), None);
    let opening = format!("{kept} UPDATE days SET opening_hash = zeroblob(32) WHERE n = 2");
    assert_found(&place, &opening, Some(6), Why::HashMismatch);
    let behead = format!("{kept} DELETE FROM {} WHERE seq = 6", D[1]);
    assert_found(&place, &behead, Some(6), Why::Gap { found: 7 });
}

#[test]
fn what_would_hide_records_from_queries_or_change_them_later_is_found() {
    let place = whole();
    let index = format!("{}_time", D[1]);
    let changed = Why::Schema(index.clone());
    let other_rows = |index: &str, of: &str| {
        format!(
            "PRAGMA writable_schema = 1;
             UPDATE sqlite_master SET sql = replace(sql, '''{of}''', '''none''') WHERE name = '{index}'"
        )
    };
    let of_incidents = format!("{}_incident", D[1]);
    let other_incidents = other_rows(&of_incidents, "incident");
    assert_found(&place, &other_incidents, None, Why::Schema(of_incidents));
    let other_events = other_rows(&index, "event");
    assert_found(&place, &other_events, None, changed.clone());
    assert_found(&place, &format!("DROP INDEX {index}"), None, changed);
    let trigger = format!(
        "CREATE TRIGGER forget AFTER INSERT ON {} BEGIN DELETE FROM cursors; END",
        D[2]
    );
    assert_found(&place, &trigger, None, Why::Unlisted("forget".to_owned()));
}

/// Cutting off the end leaves a whole, shorter chain: only a hash kept outside the store shows it.
#[test]
fn a_cut_off_end_is_reported_by_a_hash_kept_elsewhere() {
    let place = whole();
    let kept = place.reader().verify().unwrap();
    assert_eq!(
        fault_after(&place, &format!("DELETE FROM {} WHERE seq = 15", D[2])),
        None
    );
    let cut = Reader::open(&place.path.with_extension("tampered")).unwrap();
    assert_eq!(place.reader().hash_at(15).unwrap(), Some(kept.last_hash));
    assert_eq!(cut.hash_at(15).unwrap(), None);
}

/// All that a user can learn from the records of a store.
#[derive(Debug, PartialEq)]
struct Content {
    records: Vec<(u64, Record)>,
    events: Vec<Event>,
    last_hash: Hash,
}

/// `None` where the store reports that something is wrong with it.
fn content(path: &Path) -> Option<Content> {
    let reader = Reader::open(path).ok()?;
    let report = reader.verify().ok().filter(|r| r.is_ok())?;
    Some(Content {
        records: reader.records_after(0, 1_000).ok()?,
        events: reader.query(&Filter::default()).ok()?,
        last_hash: report.last_hash,
    })
}

#[test]
fn no_flipped_bit_of_the_file_changes_what_a_verified_store_says() {
    let place = whole();
    let bytes = std::fs::read(&place.path).unwrap();
    let want = content(&place.path).unwrap();
    let path = copy(&place);
    let mut found = 0;
    for i in (0..bytes.len()).step_by(61) {
        let mut bytes = bytes.clone();
        bytes[i] ^= 1 << (i % 8);
        std::fs::write(&path, &bytes).unwrap();
        match content(&path) {
            None => found += 1,
            Some(got) => assert_eq!(got, want, "byte {i}"),
        }
    }
    assert!(found > 100, "{found}");
}
