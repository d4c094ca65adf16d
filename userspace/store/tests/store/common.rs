use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gtrace_event::{
    Ack, Amendment, Event, EventId, Gpu, Kind, Occurrence, Record, Severity, Timestamp, WitnessName,
};
use gtrace_store::{Filter, Options, Reader, Store};
use tempfile::TempDir;

pub(crate) const PCI: &str = "0000:3b:00.0";
/// The path of the store, for a child of this test binary.
pub(crate) const STORE_ENV: &str = "GTRACE_STORE_TEST_PATH";

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn day(n: i64) -> Timestamp {
    // 2026-11-21 is day 20,778.
    Timestamp::from_second((20_778 + n) * 86_400 + 3_600).unwrap()
}

pub(crate) fn event(time: Timestamp, n: u64) -> Event {
    let message = format!("NVRM: Xid (PCI:{PCI}): 79, number {n}");
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, message);
    occurrence.detail.xid.xid = Some(79);
    occurrence.gpu = Some(Gpu::at(PCI.parse().unwrap()));
    let mut event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
    event.boot_id = Some("boot-1".to_owned());
    event
}

pub(crate) fn new_event(time: Timestamp, n: u64) -> Record {
    Record::Event(Box::new(event(time, n)))
}

pub(crate) fn events(time: Timestamp, numbers: std::ops::Range<u64>) -> Vec<Record> {
    numbers.map(|n| new_event(time, n)).collect()
}

pub(crate) fn of_severity(time: Timestamp, n: u64, severity: Severity) -> Event {
    let mut event = event(time, n);
    event.severity = severity;
    event
}

/// Damages an index of day 0 under a running writer, which reads it again before its next append.
pub(crate) fn damage_running(place: &Place) {
    let conn = rusqlite::Connection::open(&place.path).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let sql = "SELECT rootpage FROM sqlite_master WHERE name = 'records_20261121_event'";
    let page: u32 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&place.path);
    let at = u64::from(page - 1) * 4096;
    file.unwrap().write_all_at(&[0x5a; 100], at).unwrap();
    // Another connection has written: the writer's pages are old.
    conn.execute("UPDATE meta SET value = value", []).unwrap();
}

/// `old` with one more revision, changed by `change`, and the amendment that makes it so.
pub(crate) fn amended(
    old: &Event,
    time: Timestamp,
    change: impl FnOnce(&mut Event),
) -> (Event, Record) {
    let mut new = old.clone();
    new.revision += 1;
    change(&mut new);
    let amendment = Amendment::between(old, &new, time).unwrap();
    (new, Record::Amendment(Box::new(amendment)))
}

pub(crate) fn ack(id: EventId, time: Timestamp) -> Ack {
    Ack::new(id, time, "on-call", "reset the GPU")
}

/// A directory with a path for a store in it.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("store.db");
        Self { dir, path }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.path, unlimited()).unwrap()
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.path).unwrap()
    }
}

pub(crate) fn unlimited() -> Options {
    Options {
        retention_age: None,
        retention_bytes: None,
        ..Options::default()
    }
}

/// Appends `records` on day `n`.
pub(crate) fn put(store: &mut Store, n: i64, records: &[Record]) {
    store.append_at(day(n), records, &[]).unwrap();
}

pub(crate) fn messages(reader: &Reader) -> Vec<String> {
    let events = reader.query(&Filter::default()).unwrap();
    events.into_iter().map(|e| e.message).collect()
}

#[track_caller]
pub(crate) fn assert_whole(path: &Path) {
    let report = Reader::open(path).unwrap().verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// This test binary, running the one test `test` as a child process.
pub(crate) fn child(test: &str, store: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(STORE_ENV, store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// The store of a child process; `None` in the ordinary test run.
pub(crate) fn child_store() -> Option<PathBuf> {
    std::env::var_os(STORE_ENV).map(PathBuf::from)
}

/// A tmpfs of its own, unmounted at the end.
pub(crate) struct Tmpfs(pub(crate) TempDir);

impl Tmpfs {
    /// `None`, with the reason printed, where mounting is not possible.
    pub(crate) fn mount(size: &str) -> Option<Self> {
        if !is_root() {
            println!("SKIPPED: mounting a tmpfs needs root");
            return None;
        }
        let dir = TempDir::new().unwrap();
        let options = format!("size={size}");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "gtrace-store-test"])
            .arg(dir.path())
            .status();
        if !status.is_ok_and(|s| s.success()) {
            println!("SKIPPED: mount -t tmpfs failed here");
            return None;
        }
        Some(Self(dir))
    }

    pub(crate) fn remount_read_only(&self) {
        let status = Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(self.0.path())
            .status()
            .unwrap();
        assert!(status.success());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}
