use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};

use gtrace_store::{Reader, Store, StoreError};
use rusqlite::Connection;

use crate::common::{Place, assert_whole, day, events, unlimited};

#[test]
fn missing_directories_are_made_for_owner_and_group_only() {
    let place = Place::new();
    let path = place.dir.path().join("var/lib/gtrace/store.db");
    let _store = Store::open(&path, unlimited()).unwrap();
    let mode = |p: &std::path::Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        mode(path.parent().unwrap()) & 0o027,
        0o020 & mode(path.parent().unwrap())
    );
    assert_eq!(mode(path.parent().unwrap()) & 0o007, 0);
    assert_eq!(mode(&path) & 0o007, 0);
}

#[test]
fn a_directory_that_cannot_be_is_named_with_a_remedy() {
    let place = Place::new();
    let file = place.dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("store.db"), unlimited())
        .err()
        .unwrap();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
    assert!(error.to_string().contains(file.to_str().unwrap()));
}

#[test]
fn a_store_that_is_not_there_is_missing_for_a_reader() {
    let place = Place::new();
    let error = Reader::open(&place.path).err().unwrap();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!place.path.exists());
}

#[test]
fn a_file_that_is_no_database_is_moved_aside_and_kept() {
    let place = Place::new();
    fs::write(&place.path, "not a database, but somebody's").unwrap();
    assert!(matches!(
        Reader::open(&place.path),
        Err(StoreError::Corrupt { .. })
    ));
    let mut store = place.store();
    let moved = store.moved_aside().unwrap().clone();
    assert!(moved.to.to_str().unwrap().contains("store.db.corrupt-2"));
    assert_eq!(
        fs::read_to_string(&moved.to).unwrap(),
        "not a database, but somebody's"
    );
    store.append(&events(day(0), 0..2), &[]).unwrap();
    drop(store);
    assert_eq!(place.store().moved_aside(), None);
    assert_whole(&place.path);
}

fn damage(place: &Place) {
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&place.path)
        .unwrap();
    let length = file.metadata().unwrap().len();
    for page in 4..length / 4096 {
        file.write_all_at(&[0x5a; 100], page * 4096).unwrap();
    }
}

#[test]
fn damage_is_found_when_the_last_writer_did_not_end_in_order() {
    let place = Place::new();
    let mut store = place.store();
    store.append(&events(day(0), 0..50), &[]).unwrap();
    drop(store);
    damage(&place);
    let lock = place.dir.path().join("store.db.lock");
    assert_eq!(fs::read_to_string(&lock).unwrap(), "clean\n");
    fs::write(&lock, "4711\n").unwrap();
    let store = place.store();
    let moved = store.moved_aside().unwrap();
    assert!(!moved.why.is_empty() && moved.to.exists());
    assert_eq!(store.last_seq(), 0);
}

#[test]
fn damage_that_shows_at_once_needs_no_crash_to_be_found() {
    let place = Place::new();
    place.store().append(&events(day(0), 0..50), &[]).unwrap();
    damage(&place);
    assert!(place.store().moved_aside().is_some());
}

#[test]
fn damage_met_while_writing_is_found_at_the_next_start() {
    let place = Place::new();
    place
        .store()
        .append_at(day(0), &events(day(0), 0..5), &[])
        .unwrap();
    let conn = Connection::open(&place.path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_master WHERE name = 'records_20261121_event'";
    let page: u32 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(conn);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&place.path)
        .unwrap();
    file.write_all_at(&[0x5a; 100], u64::from(page - 1) * 4096)
        .unwrap();
    let mut store = place.store();
    assert_eq!(store.moved_aside(), None);
    let error = store
        .append_at(day(0), &events(day(0), 5..6), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(!error.is_retryable());
    assert!(error.to_string().contains("restart"), "{error}");
    drop(store);
    assert!(place.store().moved_aside().is_some());
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let place = Place::new();
    let other = Connection::open(&place.path).unwrap();
    other
        .execute_batch("CREATE TABLE music(title TEXT)")
        .unwrap();
    drop(other);
    let before = fs::read(&place.path).unwrap();
    let error = Store::open(&place.path, unlimited()).err().unwrap();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
    assert!(matches!(
        Reader::open(&place.path),
        Err(StoreError::NotAStore { .. })
    ));
    assert_eq!(fs::read(&place.path).unwrap(), before);
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_alone() {
    let place = Place::new();
    drop(place.store());
    let other = Connection::open(&place.path).unwrap();
    other
        .execute_batch("UPDATE meta SET value = '2' WHERE key = 'schema'")
        .unwrap();
    drop(other);
    for error in [
        Store::open(&place.path, unlimited()).err().unwrap(),
        Reader::open(&place.path).err().unwrap(),
    ] {
        assert!(
            matches!(
                error,
                StoreError::NewerSchema {
                    found: 2,
                    known: 1,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}
