//! Generated hosts, and PostgreSQL as the distribution has it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests only"
)]

pub mod fleet;
pub mod nats;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_event::{
    Amendment, Event, FailureClass, Incident, Kind, Occurrence, Provenance, Record, Severity,
    Timestamp, Witness, WitnessName,
};
use gtrace_head::db::Place;
use gtrace_store::{Options, Store};

/// A server of its own, in a directory of its own, that does not outlive the test.
pub struct Postgres {
    child: Child,
    dir: tempfile::TempDir,
}

impl Postgres {
    /// `None`, with the reason on standard output, where it is not installed.
    pub fn start() -> Option<Self> {
        let bin = std::fs::read_dir("/usr/lib/postgresql")
            .ok()
            .and_then(|versions| {
                let bins = versions.flatten().map(|version| version.path().join("bin"));
                bins.filter(|bin| bin.join("postgres").exists()).max()
            });
        let Some(bin) = bin else {
            println!("SKIPPED: no PostgreSQL in /usr/lib/postgresql");
            return None;
        };
        let dir = tempfile::Builder::new()
            .prefix("gtrace-pg")
            .tempdir_in("/tmp")
            .unwrap();
        // It refuses to run as root.
        let root = rustix::process::geteuid().is_root();
        let as_user = |program: &str| {
            let program = bin.join(program);
            if !root {
                return Command::new(program);
            }
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.arg(program);
            command
        };
        if root
            && !Command::new("chown")
                .arg("postgres:")
                .arg(dir.path())
                .status()
                .is_ok_and(|s| s.success())
        {
            println!("SKIPPED: PostgreSQL does not run as root, and there is no user postgres");
            return None;
        }
        let data = dir.path().join("data");
        let made = as_user("initdb")
            .args([
                "-A",
                "trust",
                "-U",
                "gtrace",
                "-E",
                "UTF8",
                "--no-sync",
                "-D",
            ])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb");
        let child = as_user("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
            .arg(dir.path())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, dir };
        let until = Instant::now() + Duration::from_secs(60);
        while tokio_ready(&server).is_err() {
            assert!(Instant::now() < until, "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    pub fn place(&self) -> Place {
        let dir = self.dir.path().display();
        Place::Postgres(format!("postgresql:///postgres?host={dir}&user=gtrace"))
    }
}

fn tokio_ready(server: &Postgres) -> Result<(), String> {
    let socket = server.dir.path().join(".s.PGSQL.5432");
    std::os::unix::net::UnixStream::connect(socket).map_err(|e| e.to_string())?;
    // The socket is there before it answers.
    gtrace_head::db::Database::open(&server.place())
        .map(drop)
        .map_err(|e| e.to_string())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT: at once, with its children.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        let _ = self.child.wait();
    }
}

/// An event of `host`.
pub fn event(host: &str, xid: u32, time: Timestamp) -> Event {
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, format!("Xid {xid}"));
    occurrence.detail.xid.xid = Some(xid);
    occurrence.provenance = Provenance::Injected;
    let witness = Witness {
        source: WitnessName::PrintkConsole,
        count: 1,
        first_time: time,
    };
    let mut event = Event::new(time, witness, occurrence);
    event.host = Some(host.to_owned());
    event
}

/// More about an event.
pub fn amendment(event: &Event, severity: Severity) -> Amendment {
    let mut json = serde_json::json!({ "id": event.id, "revision": 1, "time": event.time, "witnesses": event.witnesses });
    json["severity"] = serde_json::to_value(severity).unwrap();
    serde_json::from_value(json).unwrap()
}

/// An incident of `host`.
pub fn incident(host: &str, class: FailureClass, opened: Timestamp) -> Incident {
    serde_json::from_value(serde_json::json!({
        "id": gtrace_event::IncidentId::new(opened.as_millisecond().unsigned_abs()),
        "time": opened, "opened": opened, "last_time": opened, "state": "open", "severity": "critical",
        "title": "a simulated failure", "class": class, "host": host, "events": [], "event_count": 1,
        "occurrences": 1, "drill": true,
    }))
    .unwrap()
}

/// A generated host's store.
pub struct Host {
    pub name: String,
    pub store: Store,
    pub path: PathBuf,
}

impl Host {
    pub fn new(dir: &Path, name: &str) -> Self {
        let path = dir.join(format!("{name}.db"));
        let store = Store::open(&path, Options::default()).unwrap();
        Self {
            name: name.to_owned(),
            store,
            path,
        }
    }

    pub fn append(&mut self, records: &[Record]) {
        self.store.append(records, &[]).unwrap();
    }

    pub fn events(&mut self, count: u32) {
        let record = |n| Record::Event(Box::new(event(&self.name, n, Timestamp::now())));
        let records: Vec<Record> = (0..count).map(record).collect();
        self.append(&records);
    }
}
