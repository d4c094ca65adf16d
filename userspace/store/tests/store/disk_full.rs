use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use gtrace_store::{Reader, Store, StoreError};

use crate::common::{
    Place, STORE_ENV, Tmpfs, assert_whole, child_store, day, events, messages, unlimited,
};

#[test]
fn root_a_full_disk_loses_nothing_and_the_same_append_succeeds_later() {
    let Some(disk) = Tmpfs::mount("1m") else {
        return;
    };
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![0; 400 << 10]).unwrap();
    let path = disk.0.path().join("store.db");
    let mut store = Store::open(&path, unlimited()).unwrap();
    let cursor = |n: u64| [("kmsg".to_owned(), n.to_string())];
    let (batch, error, stored) = loop {
        let next = store.last_seq();
        let batch = events(day(0), next..next + 40);
        if let Err(e) = store.append_at(day(0), &batch, &cursor(next + 40)) {
            break (batch, e, next);
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(!error.is_damage());
    assert!(error.to_string().contains("free space"), "{error}");
    assert!(stored >= 40);
    assert_eq!(store.last_seq(), stored);
    assert_eq!(store.cursor("kmsg").unwrap(), Some(stored.to_string()));
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.last_seq().unwrap(), stored);
    // Still full: still the same.
    assert!(
        store
            .append_at(day(0), &batch, &cursor(stored + 40))
            .is_err()
    );
    fs::remove_file(ballast).unwrap();
    let seqs = store
        .append_at(day(0), &batch, &cursor(stored + 40))
        .unwrap();
    assert_eq!(seqs, stored + 1..=stored + 40);
    assert_eq!(reader.last_seq().unwrap(), stored + 40);
    assert_eq!(
        store.cursor("kmsg").unwrap(),
        Some((stored + 40).to_string())
    );
    assert_whole(&path);
    let messages = messages(&reader);
    assert!(
        messages
            .last()
            .unwrap()
            .ends_with(&format!(" {}", stored + 39))
    );
    assert_eq!(messages.len() as u64, stored + 40);
}

#[test]
fn root_a_store_that_cannot_even_be_created_says_so() {
    let Some(disk) = Tmpfs::mount("64k") else {
        return;
    };
    fs::write(disk.0.path().join("ballast"), vec![0; 56 << 10]).unwrap();
    let path = disk.0.path().join("store.db");
    let error = Store::open(&path, unlimited()).err().unwrap();
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    // An empty one would be a damaged store at the next start.
    assert!(!path.exists());
    fs::remove_file(disk.0.path().join("ballast")).unwrap();
    fs::write(disk.0.path().join("ballast"), vec![0; 4 << 10]).unwrap();
    let store = Store::open(&path, unlimited());
    assert!(store.is_ok() || store.err().is_some_and(|e| !e.is_damage()));
}

/// In a child process with a limit on the size of its files.
#[test]
fn child_hits_its_limit() {
    let Some(path) = child_store() else { return };
    let mut store = Store::open(&path, unlimited()).unwrap();
    let error = loop {
        let next = store.last_seq();
        if let Err(e) = store.append_at(day(0), &events(day(0), next..next + 40), &[]) {
            break e;
        }
    };
    println!("end {} {} {error}", store.last_seq(), error.is_damage());
}

#[test]
fn a_limit_on_file_sizes_is_no_damage_either() {
    let place = Place::new();
    let mut child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 600; exec \"$0\" --exact disk_full::child_hits_its_limit --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env(STORE_ENV, &place.path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{lines:?}");
    let end = lines.iter().find_map(|l| l.split_once("end ")).unwrap().1;
    let mut words = end.splitn(3, ' ');
    let stored: u64 = words.next().unwrap().parse().unwrap();
    assert_eq!(words.next(), Some("false"), "{end}");
    assert!(stored > 0);
    let mut store = place.store();
    assert_eq!(store.moved_aside(), None);
    assert_eq!(store.last_seq(), stored);
    store
        .append_at(day(0), &events(day(0), stored..stored + 40), &[])
        .unwrap();
    assert_whole(&place.path);
}
