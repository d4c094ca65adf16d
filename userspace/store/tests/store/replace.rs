//! A store that turns out damaged while it is written gives way to a new one.

use gtrace_event::RemovalCause;
use gtrace_store::{Reader, Resume};

use crate::common::{Place, assert_whole, damage_running, day, events, put};

#[test]
fn a_damaged_store_is_replaced_and_the_chain_goes_on_in_the_new_one() {
    let place = Place::new();
    let mut store = place.store();
    let cursor = ("kmsg".to_owned(), "4711".to_owned());
    store
        .append_at(day(0), &events(day(0), 0..5), &[cursor])
        .unwrap();
    let (last, hash) = (store.last_id().unwrap().unwrap(), store.last_hash());
    damage_running(&place);
    let waiting = events(day(0), 5..8);
    let error = store.append_at(day(0), &waiting, &[]).unwrap_err();
    assert!(error.is_damage(), "{error:?}");

    store.replace(&error.to_string()).unwrap();
    let seqs = store.append_at(day(0), &waiting, &[]).unwrap();
    assert_eq!(seqs, 7..=9);
    let [(6, recorded)] = &store.take_removals()[..] else {
        panic!("the break is not recorded")
    };
    let detail = &recorded.detail.removal;
    assert_eq!(detail.removal, Some(RemovalCause::Damage));
    let [range] = &detail.removed[..] else {
        panic!("{detail:?}")
    };
    assert_eq!((range.first, range.last), (1, 5));
    assert_eq!(range.hash, hash.to_string());
    let moved = std::path::PathBuf::from(detail.moved_to.clone().unwrap());
    assert!(moved.exists() && moved != place.path);
    assert_eq!(store.cursor("kmsg").unwrap().as_deref(), Some("4711"));

    let reader = place.reader();
    let report = reader.verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(
        (report.first_seq, report.last_seq, report.removed),
        (6, 9, 5)
    );
    // No id means two records, and who saw the old ones learns that they are gone.
    assert_ne!(store.epoch(), last.epoch);
    let resume = reader.epochs().unwrap().resume_after(last, 9);
    assert_eq!(resume, Resume::Unknown);
    // The old file still has them.
    assert_eq!(Reader::open(&moved).unwrap().last_seq().unwrap(), 5);
    drop((reader, store));
    let store = place.store();
    assert_eq!((store.last_seq(), store.moved_aside()), (9, None));
    assert_whole(&place.path);
}

#[test]
fn a_table_that_somebody_dropped_is_damage_and_a_lock_is_none() {
    let place = Place::new();
    let mut store = place.store();
    put(&mut store, 0, &events(day(0), 0..2));
    let other = rusqlite::Connection::open(&place.path).unwrap();
    other.execute_batch("DROP TABLE cursors").unwrap();
    let cursor = ("kmsg".to_owned(), "1".to_owned());
    let cursor = [cursor];
    let error = store.append_at(day(0), &[], &cursor).unwrap_err();
    assert!(error.is_damage(), "{error:?}");
    store.replace("a table is missing").unwrap();
    store.append_at(day(0), &[], &cursor).unwrap();
    assert_whole(&place.path);
}
