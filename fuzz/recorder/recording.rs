//! The flight recorder's files on disk: what can be read is read, what cannot is counted.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use gtrace_event::Timestamp;
use gtrace_recorder::{Disk, evidence, line};
use libfuzzer_sys::fuzz_target;

/// In memory where there is such a file system.
static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let dir = parent.join(format!("gtrace-fuzz-{}", std::process::id()));
    fs::create_dir_all(dir.join("ring")).unwrap();
    fs::create_dir_all(dir.join("evidence/01KJRZX1M8B6Q0T0G3E1R4Y5PN")).unwrap();
    dir
});

fuzz_target!(|data: &[u8]| {
    let ring = DIR.join("ring");
    fs::write(ring.join("0000000001.jsonl"), data).unwrap();
    let read = Disk::read(&ring, Timestamp::MIN, Timestamp::MAX).unwrap();
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(
        read.entries.len() as u64 + read.unreadable <= lines as u64 + data.len() as u64 / 65_536
    );
    // What was read is written as it would be read again.
    let again: Vec<u8> = read.entries.iter().flat_map(line).collect();
    fs::write(ring.join("0000000001.jsonl"), &again).unwrap();
    let second = Disk::read(&ring, Timestamp::MIN, Timestamp::MAX).unwrap();
    assert_eq!((second.entries, second.unreadable), (read.entries, 0));
    // The plan of a recording that was cut off.
    let plan = DIR.join("evidence/01KJRZX1M8B6Q0T0G3E1R4Y5PN");
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.json"), data).unwrap();
    let _ = evidence::interrupted(&DIR.join("evidence")).unwrap();
});
