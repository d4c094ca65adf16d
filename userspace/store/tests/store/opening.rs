use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::Command;
use std::time::Duration;

use gtrace_event::RemovalCause;
use gtrace_store::{Reader, Store, StoreError};
use rusqlite::Connection;

use crate::common::{Place, assert_whole, damage_running, day, events, put, unlimited};

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
    // The message has the cause; whoever prints the chain would print it twice.
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn a_store_that_is_not_there_is_missing_for_a_reader() {
    let place = Place::new();
    let error = Reader::open(&place.path).err().unwrap();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!place.path.exists());
    let error = Reader::open(place.dir.path()).err().unwrap();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
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

#[test]
fn an_empty_file_that_a_killed_first_start_left_is_a_new_store() {
    let place = Place::new();
    fs::write(&place.path, "").unwrap();
    fs::write(place.path.with_extension("db.lock"), "4711\n").unwrap();
    let mut store = place.store();
    assert_eq!(store.moved_aside(), None);
    store.append(&events(day(0), 0..2), &[]).unwrap();
    drop(store);
    // From now on there was one, also after a start that another one follows.
    drop(place.store());
    fs::write(&place.path, "").unwrap();
    let moved = place.store().moved_aside().unwrap().clone();
    assert_eq!(moved.why, "the file is empty");
}

/// SQLite would delete it.
#[test]
fn a_write_ahead_log_whose_store_is_gone_is_kept_and_reported() {
    let place = Place::new();
    let mut store = place.store();
    store.append(&events(day(0), 0..2), &[]).unwrap();
    let wal = place.path.with_extension("db-wal");
    let (file, log) = (fs::read(&place.path).unwrap(), fs::read(&wal).unwrap());
    drop(store);
    fs::remove_file(&place.path).unwrap();
    fs::write(&wal, &log).unwrap();

    let mut store = place.store();
    let moved = store.moved_aside().unwrap().clone();
    let kept = format!("{}-wal", moved.to.display());
    assert!(moved.to_string().contains(&kept), "{moved}");
    assert_eq!(store.append(&events(day(0), 0..1), &[]).unwrap(), 2..=2);
    let (_, event) = store.take_removals().remove(0);
    let detail = &event.detail;
    assert_eq!(detail.removal.removal, Some(RemovalCause::Damage));
    assert_eq!(detail.removal.moved_to.as_ref(), Some(&kept));
    let remedy = detail.source.remedy.as_deref().unwrap();
    assert!(remedy.starts_with("put the database"), "{remedy}");

    // Who reads too early takes nothing away, also where the file is there and empty.
    for empty in [false, true] {
        if empty {
            fs::write(&moved.to, "").unwrap();
        }
        let error = Reader::open(&moved.to).err().unwrap();
        assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
        assert_eq!(fs::read(&kept).unwrap(), log);
    }
    fs::write(&moved.to, file).unwrap();
    assert_eq!(Reader::open(&moved.to).unwrap().last_seq().unwrap(), 2);
}

#[test]
fn an_empty_file_is_a_damaged_store_where_there_was_one() {
    let place = Place::new();
    // Somebody may make the file, with the owner that it is to have.
    fs::write(&place.path, "").unwrap();
    let mut store = place.store();
    assert_eq!(store.moved_aside(), None);
    store.append(&events(day(0), 0..2), &[]).unwrap();
    drop(store);
    let wal = place.path.with_extension("db-wal");
    fs::write(&wal, "what is left").unwrap();
    fs::write(&place.path, "").unwrap();
    let mut store = place.store();
    let moved = store.moved_aside().unwrap().clone();
    assert_eq!(moved.why, "the file is empty");
    let kept = fs::read_to_string(format!("{}-wal", moved.to.display()));
    assert_eq!(kept.unwrap(), "what is left");
    store.append(&[], &[]).unwrap();
    let (_, event) = store.take_removals().remove(0);
    assert_eq!(event.detail.removal.removal, Some(RemovalCause::Damage));
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
fn damage_is_found_however_the_last_writer_ended() {
    let place = Place::new();
    let mut store = place.store();
    store.append(&events(day(0), 0..50), &[]).unwrap();
    drop(store);
    damage(&place);
    let mut store = place.store();
    let moved = store.moved_aside().unwrap().clone();
    assert!(!moved.why.is_empty() && moved.to.exists());
    assert_eq!(store.last_seq(), 0);
    // The first record of the new one says so.
    assert!(store.has_unrecorded_removals());
    assert_eq!(store.append(&events(day(0), 0..1), &[]).unwrap(), 2..=2);
    let [(1, event)] = &store.take_removals()[..] else {
        panic!("not recorded")
    };
    let detail = &event.detail.removal;
    assert_eq!(detail.removal, Some(RemovalCause::Damage));
    assert_eq!(detail.moved_to.as_deref(), moved.to.to_str());
    assert_eq!(
        place.reader().event(event.id).unwrap().as_ref(),
        Some(event)
    );
    assert!(!store.has_unrecorded_removals());
    assert_whole(&place.path);
}

#[test]
fn damage_in_the_middle_that_no_append_meets_is_found_at_the_start() {
    let place = Place::new();
    let mut store = place.store();
    put(&mut store, 0, &events(day(0), 0..500));
    put(&mut store, 1, &events(day(1), 500..501));
    drop(store);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&place.path)
        .unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    file.write_all_at(&[0x5a; 4096], pages / 2 * 4096).unwrap();
    let mut store = place.store();
    assert!(store.moved_aside().is_some());

    // The remedy that the event names reads nearly all.
    store.append(&[], &[]).unwrap();
    let (_, event) = store.take_removals().remove(0);
    let remedy = event.detail.source.remedy.clone().unwrap();
    let (command, _) = remedy.split_once(" reads ").unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    let Ok(output) = Command::new(words[0]).args(&words[1..]).output() else {
        println!("SKIPPED: no sqlite3 here");
        return;
    };
    let sql = String::from_utf8_lossy(&output.stdout);
    let found = sql
        .lines()
        .filter(|line| line.contains("INSERT INTO records"));
    let found = found.count();
    assert!(found > 400, "{command}: {found} of 501 records");
}

#[test]
fn damage_met_while_writing_is_distinguished_from_what_passes() {
    let place = Place::new();
    let mut store = place.store();
    put(&mut store, 0, &events(day(0), 0..5));
    damage_running(&place);
    let error = store
        .append_at(day(0), &events(day(0), 5..6), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(error.is_damage());
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
        .execute_batch("UPDATE meta SET value = '4' WHERE key = 'schema'")
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
                    found: 4,
                    known: 3,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn a_store_without_epochs_gets_them_and_its_records_an_id_each() {
    let place = Place::new();
    let mut store = place.store();
    store.append(&events(day(0), 0..3), &[]).unwrap();
    drop(store);
    let conn = Connection::open(&place.path).unwrap();
    conn.execute_batch("DROP TABLE epochs; UPDATE meta SET value = '1' WHERE key = 'schema'")
        .unwrap();
    drop(conn);
    assert_whole(&place.path);
    assert_eq!(place.reader().epochs().unwrap().id_of(3), None);
    let mut store = place.store();
    store.append(&events(day(0), 3..4), &[]).unwrap();
    let epochs = place.reader().epochs().unwrap();
    let ids = [1, 3, 4].map(|seq| epochs.id_of(seq).unwrap());
    assert_eq!(ids[0].epoch, ids[1].epoch);
    assert_eq!(ids[2].epoch, store.epoch());
    assert_ne!(ids[1].epoch, ids[2].epoch);
    assert_eq!(store.last_id().unwrap(), Some(ids[2]));
    drop(store);
    assert_whole(&place.path);
}

#[test]
fn a_start_waits_for_a_writer_that_is_about_to_end_and_says_so() {
    let place = Place::new();
    let mut holder = Some(place.store());
    let mut message = None;
    let store = Store::open_within(&place.path, unlimited(), Duration::from_secs(60), |error| {
        message = Some(error.to_string());
        // The kernel has torn it down.
        holder = None;
    });
    assert!(store.is_ok());
    let message = message.unwrap();
    assert!(
        message.contains(&std::process::id().to_string()),
        "{message}"
    );
    // Not for ever.
    let error = Store::open_within(&place.path, unlimited(), Duration::ZERO, |_| {}).err();
    assert!(
        matches!(error, Some(StoreError::Locked { .. })),
        "{error:?}"
    );
}

#[test]
fn what_an_older_gtrace_removed_is_recorded_by_the_first_append() {
    let place = Place::new();
    let mut store = place.store();
    for n in 0..2 {
        let from = u64::try_from(n).unwrap() * 5;
        put(&mut store, n, &events(day(n), from..from + 5));
    }
    drop(store);
    let conn = Connection::open(&place.path).unwrap();
    conn.execute_batch(
        "DROP TABLE records_20261121; DELETE FROM days WHERE n = 1;
         UPDATE meta SET value = '2' WHERE key = 'schema'",
    )
    .unwrap();
    drop(conn);
    assert_whole(&place.path);
    let mut store = place.store();
    assert!(store.has_unrecorded_removals());
    put(&mut store, 1, &[]);
    let [(11, event)] = &store.take_removals()[..] else {
        panic!("not recorded")
    };
    let detail = &event.detail.removal;
    assert_eq!(detail.removal, Some(RemovalCause::Unrecorded));
    assert_eq!(detail.removed_records, Some(5));
    drop(store);
    assert!(!place.store().has_unrecorded_removals());
    let report = place.reader().verify().unwrap();
    assert!(report.is_ok() && report.removed == 5, "{report:?}");
}
