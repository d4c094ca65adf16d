use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicBool, Ordering};

use gtrace_event::Kind;
use gtrace_store::{Filter, Store, StoreError};

use crate::common::{Place, child, child_store, day, event, events, put, unlimited};

#[test]
fn a_second_writer_is_refused_and_learns_who_the_first_is() {
    let place = Place::new();
    let first = place.store();
    let error = Store::open(&place.path, unlimited()).err().unwrap();
    let me = std::process::id();
    assert!(matches!(&error, StoreError::Locked { pid: Some(pid), .. } if *pid == me));
    let text = error.to_string();
    assert!(
        text.contains(&me.to_string()) && text.contains("stop that one"),
        "{text}"
    );
    drop(first);
    place.store();
}

/// In a child process: holds the store until its stdin closes.
#[test]
fn child_holds() {
    let Some(path) = child_store() else { return };
    let _store = Store::open(&path, unlimited()).unwrap();
    println!("held");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn a_writer_in_another_process_holds_the_lock_until_it_dies() {
    let place = Place::new();
    let mut child = child("concurrency::child_holds", &place.path)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("held")));
    let pid = child.id();
    let error = Store::open(&place.path, unlimited()).err().unwrap();
    assert!(matches!(error, StoreError::Locked { pid: Some(p), .. } if p == pid));
    child.kill().unwrap();
    child.wait().unwrap();
    place.store();
}

#[test]
fn readers_see_whole_batches_while_the_writer_appends_and_drops_days() {
    let place = Place::new();
    let mut options = unlimited();
    options.retention_bytes = Some(300_000);
    let mut store = Store::open(&place.path, options).unwrap();
    put(&mut store, 0, &events(day(0), 0..10));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let reader = place.reader();
                    let (mut last, mut rounds) = (0, 0);
                    while !done.load(Ordering::Relaxed) {
                        let seq = reader.last_seq().unwrap();
                        assert!(seq >= last, "{seq}");
                        last = seq;
                        let report = reader.verify().unwrap();
                        assert!(report.is_ok(), "{report:?}");
                        let xids = Filter {
                            kinds: vec![Kind::Xid],
                            ..Filter::default()
                        };
                        let found = reader.query(&xids).unwrap().len();
                        assert_eq!(found % 10, 0);
                        rounds += 1;
                    }
                    rounds
                })
            })
            .collect();
        for n in 1..120_i64 {
            let now = day(n / 10);
            store.append_at(now, &events(now, 0..10), &[]).unwrap();
            if n % 10 == 0 {
                store.retain(now, true).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 1);
        }
    });
    assert!(place.reader().verify().unwrap().first_seq > 1);
}

#[test]
fn a_reader_outlives_its_writer_and_sees_the_next_one() {
    let place = Place::new();
    let mut store = place.store();
    let reader = place.reader();
    store.append(&events(day(0), 0..3), &[]).unwrap();
    drop(store);
    assert_eq!(reader.last_seq().unwrap(), 3);
    let mut store = place.store();
    store.append(&events(day(0), 3..5), &[]).unwrap();
    assert_eq!(reader.last_seq().unwrap(), 5);
    assert!(reader.event(event(day(0), 1).id).unwrap().is_none());
}

#[test]
fn another_program_that_holds_the_database_is_a_retryable_error() {
    let place = Place::new();
    let mut options = unlimited();
    options.busy_timeout = std::time::Duration::from_millis(20);
    let mut store = Store::open(&place.path, options).unwrap();
    let other = rusqlite::Connection::open(&place.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.append(&events(day(0), 0..1), &[]).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append(&events(day(0), 0..1), &[]).unwrap(), 1..=1);
}
