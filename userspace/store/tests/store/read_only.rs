use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use gtrace_store::{Access, Filter, Reader, Store, StoreError};

use crate::common::{Place, STORE_ENV, Tmpfs, child_store, day, events, is_root, put, unlimited};

fn append(path: &Path, numbers: std::ops::Range<u64>) -> Store {
    let mut store = Store::open(path, unlimited()).unwrap();
    put(&mut store, 0, &events(day(0), numbers));
    store
}

fn count(reader: &Reader) -> usize {
    assert!(reader.verify().unwrap().is_ok());
    reader.query(&Filter::default()).unwrap().len()
}

#[test]
fn root_a_closed_store_on_a_read_only_file_system_is_read_as_it_is() {
    let Some(disk) = Tmpfs::mount("4m") else {
        return;
    };
    // A name with everything that means something in a URI.
    let path = disk.0.path().join("a b%3f?c#d.db");
    drop(append(&path, 0..5));
    disk.remount_read_only();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.access(), Access::Immutable);
    assert_eq!(count(&reader), 5);
    let error = Store::open(&path, unlimited()).err().unwrap();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
}

#[test]
fn root_the_wal_of_a_dead_writer_is_read_on_a_read_only_file_system() {
    let Some(disk) = Tmpfs::mount("4m") else {
        return;
    };
    let (live, dead) = (disk.0.path().join("live.db"), disk.0.path().join("dead.db"));
    let store = append(&live, 0..5);
    for suffix in ["", "-wal", "-shm"] {
        let with = |p: &Path| format!("{}{suffix}", p.display());
        fs::copy(with(&live), with(&dead)).unwrap();
    }
    drop(store);
    disk.remount_read_only();
    let reader = Reader::open(&dead).unwrap();
    assert_eq!(reader.access(), Access::Shared);
    assert_eq!(count(&reader), 5);
}

#[test]
fn root_a_wal_without_its_index_on_a_read_only_file_system_is_refused_with_a_remedy() {
    let Some(disk) = Tmpfs::mount("4m") else {
        return;
    };
    let (live, dead) = (disk.0.path().join("live.db"), disk.0.path().join("dead.db"));
    let store = append(&live, 0..5);
    for suffix in ["", "-wal"] {
        let with = |p: &Path| format!("{}{suffix}", p.display());
        fs::copy(with(&live), with(&dead)).unwrap();
    }
    drop(store);
    disk.remount_read_only();
    // Reading the file alone would silently miss what is in the WAL.
    let error = Reader::open(&dead).err().unwrap();
    assert!(matches!(error, StoreError::NotReadable { .. }), "{error:?}");
    assert!(error.to_string().contains("copy"), "{error}");
}

/// In a child process of another user.
#[test]
fn child_reads() {
    let Some(path) = child_store() else { return };
    match Reader::open(&path) {
        Ok(reader) => println!("got {:?} {}", reader.access(), count(&reader)),
        Err(e) => println!("got {e}"),
    }
}

/// What a user with no rights but to read gets.
fn as_nobody(place: &Place) -> Option<String> {
    let exe = place.dir.path().join("test");
    if !exe.exists() {
        fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    }
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&exe)
        .args(["--exact", "read_only::child_reads", "--nocapture"])
        .env(STORE_ENV, &place.path)
        .output();
    let Ok(output) = output else {
        println!("SKIPPED: no setpriv here");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let got = text.lines().find_map(|l| l.split_once("got "));
    Some(got.unwrap_or_else(|| panic!("{output:?}")).1.to_owned())
}

#[test]
fn root_a_user_who_may_only_read_does_so_beside_the_writer_and_after_it() {
    if !is_root() {
        println!("SKIPPED: becoming another user needs root");
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.dir.path(), Permissions::from_mode(0o755)).unwrap();
    let store = append(&place.path, 0..5);
    let Some(refused) = as_nobody(&place) else {
        return;
    };
    assert!(refused.contains("may read the store"), "{refused}");
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", place.path.display());
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640,
            "{file}"
        );
        fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    }
    assert_eq!(as_nobody(&place).unwrap(), "Shared 5");
    drop(store);
    assert_eq!(as_nobody(&place).unwrap(), "Immutable 5");
}
