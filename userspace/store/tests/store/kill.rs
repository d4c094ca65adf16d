//! kill -9 at any moment: the store opens, verifies and holds whatever was acknowledged.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use gtrace_store::{Options, Reader, Store};

use crate::common::{Place, assert_whole, child, child_store, day, events, unlimited};

/// Any number below `n`.
fn random(n: u64) -> u64 {
    RandomState::new().hash_one(0) % n
}

const RETAIN_ENV: &str = "GTRACE_STORE_TEST_RETAIN";

/// Retention that drops nothing, or a day every few appends.
fn options() -> Options {
    Options {
        retention_bytes: std::env::var_os(RETAIN_ENV).map(|_| 200_000),
        ..unlimited()
    }
}

/// In a child process: appends for ever and prints each number once it is acknowledged.
#[test]
fn child_appends() {
    let Some(path) = child_store() else { return };
    let mut store = Store::open(&path, options()).unwrap();
    println!("ack {}", store.last_seq());
    for round in 0.. {
        let first = store.last_seq();
        let last = first + 1 + random(50);
        let now = day(i64::try_from(last / 100).unwrap());
        let cursor = ("kmsg".to_owned(), last.to_string());
        let seqs = store
            .append_at(now, &events(now, first..last), &[cursor])
            .unwrap();
        println!("ack {}", seqs.end());
        std::io::stdout().flush().unwrap();
        if round % 4 == 3 {
            store.retain(now, true).unwrap();
        }
    }
}

/// Starts the child, kills it at a random moment, returns the last number it acknowledged.
fn killed(place: &Place, retain: bool) -> u64 {
    let mut command = child("kill::child_appends", &place.path);
    if retain {
        command.env(RETAIN_ENV, "1");
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("ack ") {
        assert_ne!(
            lines.read_line(&mut text).unwrap(),
            0,
            "the child did not start: {text}"
        );
    }
    // Half of the moments lie in the first appends after the start.
    let longest = [5_000, 150_000][usize::from(random(2) == 0)];
    std::thread::sleep(Duration::from_micros(random(longest)));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut last = 0;
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut lines, &mut rest).unwrap();
    text.push_str(std::str::from_utf8(&rest).unwrap());
    // The last line may be cut.
    for line in text.split_inclusive('\n').filter(|l| l.ends_with('\n')) {
        if let Some((_, seq)) = line.split_once("ack ") {
            last = seq.trim().parse().unwrap();
        }
    }
    last
}

#[test]
fn every_acknowledged_record_survives_kill_9() {
    let place = Place::new();
    let mut acknowledged = 0;
    for _ in 0..20 {
        let last = killed(&place, false);
        assert!(last >= acknowledged);
        acknowledged = last;
        // A reader comes first: with the WAL as the dead writer left it.
        let reader = Reader::open(&place.path).unwrap();
        let stored = reader.last_seq().unwrap();
        assert!(stored >= last, "{stored} < {last}");
        assert_whole(&place.path);
        drop(reader);
        let store = place.store();
        assert_eq!(store.moved_aside(), None);
        assert_eq!(store.last_seq(), stored);
        // The cursor is of the same transaction as its records.
        let cursor = (stored > 0).then(|| stored.to_string());
        assert_eq!(store.cursor("kmsg").unwrap(), cursor);
    }
    assert!(acknowledged > 0);
    let all = place.reader().records_after(0, usize::MAX).unwrap();
    let want = events(day(0), 0..acknowledged);
    assert!(all.len() >= want.len());
    for ((seq, got), n) in all.iter().zip(0..acknowledged) {
        assert_eq!(*seq, n + 1);
        let gtrace_event::Record::Event(got) = got else {
            panic!("{got:?}")
        };
        assert!(got.message.ends_with(&format!(" {n}")), "{}", got.message);
    }
}

#[test]
fn kill_9_amid_retention_keeps_the_chain() {
    let place = Place::new();
    let mut first = 1;
    // On a slow disk it takes more rounds until days are dropped.
    for round in 0..100 {
        let last = killed(&place, true);
        let report = place.reader().verify().unwrap();
        assert!(report.is_ok(), "{report:?}");
        assert!(report.last_seq >= last);
        first = report.first_seq;
        assert_eq!(place.store().moved_aside(), None);
        if round >= 10 && first > 1 {
            return;
        }
    }
    panic!("no retention took place: the first record is {first}");
}
