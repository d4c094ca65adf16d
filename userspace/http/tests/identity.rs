//! A follower sees each record exactly once, however often the daemon is killed.
#![allow(missing_docs, clippy::unwrap_used, reason = "only tests use it")]

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use gtrace_api::client::{Client, EventStream};
use gtrace_api::{Published, Status};
use gtrace_catalogue::Catalogue;
use gtrace_engine::hub::Hub;
use gtrace_engine::input::Input;
use gtrace_engine::open_record::EndRecord;
use gtrace_engine::pipeline::{self, CoreOptions};
use gtrace_engine::poll;
use gtrace_event::{EventChange, Kind, Occurrence, Record, RecordId, Severity, WitnessName};
use gtrace_http::ApiConfig;
use gtrace_store::{Options, Reader, Store};
use tokio::sync::watch;

const DIR_ENV: &str = "GTRACE_TEST_DAEMON_DIR";
const LIFE_ENV: &str = "GTRACE_TEST_DAEMON_LIFE";
/// The life in which nothing happens.
const QUIET: &str = "quiet";
const STREAM: &str = "/api/v1/events/stream";

/// Kills; a thousand with GTRACE_TEST_LONG set.
fn kills() -> u64 {
    if std::env::var_os("GTRACE_TEST_LONG").is_some() {
        1000
    } else {
        100
    }
}

/// Any number below `n`.
fn random(n: u64) -> u64 {
    RandomState::new().hash_one(0) % n
}

fn config(dir: &Path) -> ApiConfig {
    ApiConfig {
        socket: Some(dir.join("socket")),
        store: dir.join("store.db"),
        ..ApiConfig::default()
    }
}

/// In a child process: core, store and API of a daemon, fed with one event after another.
#[test]
fn child_daemon() {
    let Some(dir) = std::env::var_os(DIR_ENV).map(PathBuf::from) else {
        return;
    };
    let life = std::env::var(LIFE_ENV).unwrap();
    let config = config(&dir);
    let store = Store::open(&config.store, Options::default()).unwrap();
    let bound = gtrace_http::bind(&config).unwrap();
    let (hub, mut commands) = Hub::new(Status::default());
    let (poll_soon, _scheduler) = poll::channel();
    let core = pipeline::spawn(CoreOptions {
        hub: Arc::clone(&hub),
        catalogue: Catalogue::builtin(),
        store,
        store_path: config.store,
        dedup_window: Duration::from_secs(60),
        host: "h".to_owned(),
        machine_id: None,
        site_rules: pipeline::SiteRules::default(),
        // Some lives of one boot, so that events are taken up again.
        boot_id: format!("boot of {}", life.parse().unwrap_or(0) / 8),
        tree: gtrace_devices::PciTree::default(),
        poll_soon,
        end_record: EndRecord::new().unwrap(),
    })
    .unwrap();
    let inputs = core.inputs.clone();
    std::thread::spawn(move || {
        while let Some(command) = commands.blocking_recv() {
            inputs.send(Input::Command(command)).unwrap();
        }
    });
    let (_stop, stopped) = watch::channel(false);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime
            .block_on(gtrace_http::serve(bound, hub, stopped))
            .unwrap();
    });
    println!("ready");
    std::io::stdout().flush().unwrap();
    let kill = || std::io::stdin().read_line(&mut String::new());
    if life == QUIET {
        kill().unwrap();
        return;
    }
    for n in 0_u64.. {
        // Every third is a repeat, which leads to amendments.
        let which = n - n % 3;
        let text = format!("NVRM: Xid (PCI:0000:3b:00): 31, life {life}, number {which}");
        let occurrence = Occurrence::new(Kind::Xid, Severity::Warning, text);
        core.inputs
            .send(Input::once(WitnessName::Kmsg, occurrence))
            .unwrap();
        std::thread::sleep(Duration::from_micros(random(600)));
    }
}

/// A child that answers.
fn daemon(dir: &Path, life: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_daemon", "--nocapture"])
        .env(DIR_ENV, dir)
        .env(LIFE_ENV, life)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.any(|line| line.is_ok_and(|line| line.ends_with("ready")));
    assert!(ready, "the child did not start");
    child
}

#[derive(Default)]
struct Follower {
    last_id: Option<String>,
    seen: Vec<(RecordId, Record)>,
}

impl Follower {
    fn resume(&mut self, client: &Client) -> Option<EventStream> {
        // The whole store, to begin with.
        let last_id = self.last_id.get_or_insert_with(|| "0".to_owned());
        client.stream(STREAM, Some(last_id)).ok()
    }

    /// Reads until the stream ends, or the record `until` has come.
    fn read(mut self, stream: Option<EventStream>, until: Option<u64>) -> Self {
        let Some(mut stream) = stream else {
            return self;
        };
        let end = |seen: &[(RecordId, Record)]| {
            let last = seen.last().map_or(0, |(id, _)| id.seq);
            until.is_some_and(|until| last >= until)
        };
        while !end(&self.seen)
            && let Ok(Some(message)) = stream.next_message()
        {
            assert_ne!(message.event, "gap", "{}", message.data);
            if ["", "provisional"].contains(&message.event.as_str()) {
                continue;
            }
            let published: Published = serde_json::from_str(&message.data).unwrap();
            let record = match published.change {
                None => Record::Event(Box::new(published.event)),
                Some(EventChange::Amendment(amendment)) => Record::Amendment(amendment),
                Some(EventChange::Ack(ack)) => Record::Ack(ack),
            };
            self.seen.push((published.id.unwrap(), record));
        }
        self.last_id = stream.last_id().map(str::to_owned).or(self.last_id);
        self
    }
}

#[test]
fn a_follower_that_resumes_after_each_of_many_kills_has_seen_every_record_exactly_once() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::unix(dir.path().join("socket"));
    let mut follower = Follower::default();
    for life in 0..kills() {
        let mut daemon = daemon(dir.path(), &life.to_string());
        let stream = follower.resume(&client);
        let reader = std::thread::spawn(move || follower.read(stream, None));
        std::thread::sleep(Duration::from_micros(random(6_000)));
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        follower = reader.join().unwrap();
    }
    let reader = Reader::open(&dir.path().join("store.db")).unwrap();
    let epochs = reader.epochs().unwrap();
    let stored: Vec<_> = reader
        .records_after(0, usize::MAX)
        .unwrap()
        .into_iter()
        .map(|(seq, record)| (epochs.id_of(seq).unwrap(), record))
        .collect();
    assert!(stored.len() as u64 > kills(), "{} records", stored.len());

    let mut daemon = daemon(dir.path(), QUIET);
    let stream = follower.resume(&client);
    let follower = follower.read(stream, Some(stored.len() as u64));
    drop(daemon.stdin.take());
    daemon.wait().unwrap();
    for (seen, stored) in follower.seen.iter().zip(&stored) {
        assert_eq!(seen, stored);
    }
    assert_eq!(follower.seen.len(), stored.len());
}
