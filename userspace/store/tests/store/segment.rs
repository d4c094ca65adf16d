//! A segment of the chain proves itself, across days and over what retention removed.

use gtrace_event::Severity;
use gtrace_store::{Hash, Options, Store};

use crate::common::{Place, day, events, of_severity, put, unlimited};

/// Recomputes every hash; the numbers of records before which some were removed.
fn gaps(segment: &gtrace_store::Segment) -> Vec<u64> {
    let mut gaps = Vec::new();
    let mut previous: Option<(u64, Hash)> = None;
    for record in &segment.records {
        let hash = record.before.link(record.seq, record.body.as_bytes());
        assert_eq!(hash, record.hash, "record {}", record.seq);
        match previous {
            Some((seq, hash)) if seq + 1 == record.seq => assert_eq!(hash, record.before),
            Some(_) => gaps.push(record.seq),
            None => {}
        }
        previous = Some((record.seq, record.hash));
    }
    gaps
}

#[test]
fn a_segment_holds_the_records_of_its_time_over_days_and_restarts() {
    let place = Place::new();
    for n in 0..3 {
        let time = day(n as i64);
        let mut store = place.store();
        store
            .append_at(time, &events(time, n * 10..n * 10 + 10), &[])
            .unwrap();
    }
    let reader = place.reader();
    let segment = reader.segment(day(1), day(2), 1_000).unwrap();
    assert_eq!(gaps(&segment), [0; 0]);
    let numbers: Vec<u64> = segment.records.iter().map(|record| record.seq).collect();
    assert_eq!((numbers[0], segment.left_out), (11, 0));
    assert_eq!(Some(segment.records[0].before), reader.hash_at(10).unwrap());
    let few = reader.segment(day(0), day(3), 7).unwrap();
    assert_eq!((few.records.len(), few.left_out), (7, 23));
    let none = reader.segment(day(40), day(41), 7).unwrap();
    assert!(none.records.is_empty());
}

#[test]
fn a_segment_goes_on_over_removed_records_with_the_hash_that_the_removal_states() {
    let place = Place::new();
    let options = Options {
        retention_bytes: Some(2 << 20),
        ..unlimited()
    };
    let mut store = Store::open(&place.path, options).unwrap();
    for n in 0..6_000 {
        let severity = if n % 100 == 50 {
            Severity::Fatal
        } else {
            Severity::Info
        };
        let record = gtrace_event::Record::Event(Box::new(of_severity(day(0), n, severity)));
        put(&mut store, 0, &[record]);
        while store.retention_is_due() {
            store.retain(day(0), true).unwrap();
        }
    }
    let segment = place.reader().segment(day(0), day(1), 100_000).unwrap();
    assert!(
        !gaps(&segment).is_empty(),
        "retention removed nothing from the middle"
    );
}
