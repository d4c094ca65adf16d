use gtrace_store::Hash;

use crate::common::{Place, day, events, new_event, put};

#[test]
fn the_chain_runs_over_days_and_restarts() {
    let place = Place::new();
    for n in 0..3 {
        let mut store = place.store();
        put(&mut store, n, &events(day(n), 0..4));
        put(&mut store, n, &[new_event(day(n), 4)]);
    }
    let report = place.reader().verify().unwrap();
    assert_eq!((report.days, report.records), (3, 15));
    assert_eq!((report.first_seq, report.last_seq), (1, 15));
    assert_eq!(report.fault, None);
    assert_eq!(report.last_hash, place.store().last_hash());
    assert_eq!(place.reader().hash_at(15).unwrap(), Some(report.last_hash));
    assert_eq!(place.reader().hash_at(16).unwrap(), None);
}

#[test]
fn an_empty_store_verifies() {
    let place = Place::new();
    let store = place.store();
    let report = place.reader().verify().unwrap();
    assert!(report.is_ok());
    assert_eq!((report.records, report.last_hash), (0, Hash::GENESIS));
    assert_eq!(store.last_hash(), Hash::GENESIS);
}

#[test]
fn each_hash_is_the_documented_one() {
    let place = Place::new();
    let mut store = place.store();
    put(&mut store, 0, &events(day(0), 0..2));
    put(&mut store, 1, &[new_event(day(1), 2)]);
    let mut hash = Hash::GENESIS;
    for (seq, record) in place.reader().records_after(0, 10).unwrap() {
        hash = hash.link(seq, serde_json::to_string(&record).unwrap().as_bytes());
        assert_eq!(place.reader().hash_at(seq).unwrap(), Some(hash));
    }
}
