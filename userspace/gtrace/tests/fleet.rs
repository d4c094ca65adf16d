//! A fleet of processes: real heads and agents that are killed at any time, with batches that come twice and late.
#![allow(clippy::unwrap_used, clippy::panic, reason = "only tests use it")]

#[path = "support/process.rs"]
mod process;
#[path = "support/relay.rs"]
mod relay;
#[path = "../../head/tests/support/mod.rs"]
mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gtrace_agent::Enrolled;
use gtrace_api::client::Client;
use gtrace_event::{HealthNews, HealthRecord, Record, RecordId, Timestamp};
use gtrace_fleet::{Batch, BatchAnswer, Carried, Position, RECORDS_MAX, encode};
use gtrace_head::HostView;
use gtrace_head::db::{ChainReport, FleetEvent, Place};
use gtrace_store::{Hash, Reader};
use process::Running;
use relay::Relay;
use support::fleet::token;
use support::nats::Servers;
use support::{Host, Postgres, wait_for};

/// How large a fleet is, and what happens to it.
#[derive(Clone, Copy)]
struct Size {
    hosts: usize,
    rounds: usize,
    /// Events of a host in a round, at most.
    events: u32,
}

/// Some seconds; with `cargo xtask test --long` 100 hosts with 10 million records, for which a program of a release build can be given.
fn size() -> Size {
    match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => Size {
            hosts: 100,
            rounds: 500,
            events: 400,
        },
        None => Size {
            hosts: 4,
            rounds: 20,
            events: 60,
        },
    }
}

fn gtrace(dir: &Path) -> Command {
    let program = std::env::var_os("GTRACE_TEST_PROGRAM");
    let mut command = Command::new(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_gtrace").into()));
    command
        .env_clear()
        .env("HOME", dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

struct Fleet {
    dir: tempfile::TempDir,
    database: String,
    /// Before the head.
    relay: Relay,
    head: Option<Running>,
    agents: Vec<Option<Running>>,
    keys: Vec<Enrolled>,
    hosts: Vec<Host>,
    /// How many events each host has.
    events: Vec<u64>,
    backends: Backends,
}

/// Where records go, and how.
#[derive(Default)]
struct Backends {
    /// The database; a file of its own if there is none.
    postgres: Option<Postgres>,
    /// Between agents and head, if there is one.
    nats: Option<Servers>,
}

impl Fleet {
    fn new(hosts: usize, backends: Backends) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = match backends.postgres.as_ref().map(Postgres::place) {
            Some(Place::Postgres(url)) => url,
            _ => dir.path().join("fleet.db").display().to_string(),
        };
        let mut fleet = Self {
            database,
            relay: Relay::start(),
            head: None,
            agents: Vec::new(),
            keys: Vec::new(),
            hosts: Vec::new(),
            events: vec![0; hosts],
            backends,
            dir,
        };
        fleet.start_head();
        let token = token(&fleet.client(), None, hosts as u32);
        for n in 0..hosts {
            // In the order of their names, in which a head gives them.
            let name = format!("h{n:03}");
            fleet.hosts.push(Host::new(fleet.dir.path(), &name));
            let file = fleet.credential(n);
            fleet.enroll(&name, &token, &file);
            fleet.keys.push(Enrolled::read(&file).unwrap());
            fleet.agents.push(None);
            fleet.start_agent(n);
        }
        fleet
    }

    fn enroll(&self, name: &str, token: &str, file: &Path) {
        let url = format!("http://{}", self.relay.address);
        let done = gtrace(self.dir.path())
            .args(["agent", "enroll", "--head", &url, "--host", name])
            .arg("--credential")
            .arg(file)
            .env("GTRACE_JOIN_TOKEN", token)
            .status();
        assert!(done.unwrap().success());
    }

    fn credential(&self, n: usize) -> PathBuf {
        self.dir.path().join(format!("h{n}.json"))
    }

    fn client(&self) -> Client {
        // Chains of millions of records take long.
        Client::unix(self.dir.path().join("head.sock")).with_deadline(Duration::from_secs(600))
    }

    fn start_head(&mut self) {
        let mut command = gtrace(self.dir.path());
        command
            .args(["head", "--listen", "127.0.0.1:0", "--socket"])
            .arg(self.dir.path().join("head.sock"));
        if let Some(nats) = &self.backends.nats {
            command.args(["--nats", &nats.url(), "--nats-ack-wait", "1s"]);
        }
        command
            .env("GTRACE_HEAD_DATABASE", &self.database)
            .env("GTRACE_LOG", "info");
        let (head, address) = process::start(&mut command, "head at http://");
        self.relay.set(&address);
        self.head = Some(head);
    }

    fn start_agent(&mut self, n: usize) {
        let mut command = gtrace(self.dir.path());
        command.args(["agent", "run", "--credential"]);
        command.arg(self.credential(n));
        if let Some(nats) = &self.backends.nats {
            command.args(["--head", &nats.url(), "--site", "lab"]);
        }
        let child = command
            .arg("--store")
            .arg(&self.hosts[n].path)
            .stderr(Stdio::null())
            .spawn();
        self.agents[n] = Some(Running(child.unwrap()));
    }

    /// Sends records of a host with its credential, from anywhere to anywhere: again, too early, in another order.
    fn replay(&self, n: usize) {
        let reader = Reader::open(&self.hosts[n].path).unwrap();
        let (last, epochs) = (reader.last_seq().unwrap(), reader.epochs().unwrap());
        let from = fastrand::u64(0..=last);
        let many = fastrand::usize(1..200);
        let after = (from > 0).then(|| {
            let RecordId { epoch, seq } = epochs.id_of(from).unwrap();
            Position::new(
                epoch,
                seq,
                reader.hash_at(seq).unwrap().unwrap_or(Hash::GENESIS),
            )
        });
        let stored = reader
            .chain_after(from, many.min(RECORDS_MAX), 1 << 20)
            .unwrap();
        let records = stored.into_iter().map(|record| {
            let id = epochs.id_of(record.seq).unwrap();
            Carried::new(id.epoch, id.seq, record.before, record.body)
        });
        let batch = Batch {
            after,
            tip: last,
            records: records.collect(),
        };
        if batch.records.is_empty() {
            return;
        }
        let body = encode(&batch).unwrap();
        let key = &self.keys[n].credential;
        let head = format!(
            "POST /fleet/v1/batch HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
            self.relay.address,
            body.len()
        );
        // A head that is away, or goes away, takes nothing.
        let Ok(mut stream) = TcpStream::connect(self.relay.address) else {
            return;
        };
        let _ = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(&body));
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        if let Some((head, body)) = answer.split_once("\r\n\r\n") {
            let taken = head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 409");
            assert!(taken, "{answer}");
            let _: BatchAnswer = serde_json::from_str(body).unwrap();
        }
    }

    fn any(&self) -> usize {
        fastrand::usize(0..self.hosts.len())
    }

    /// Every host writes some events, at most `events`, and after them how it is, as a daemon does: agents read no more than what
    /// came since.
    fn write(&mut self, events: u32) {
        for (host, written) in self.hosts.iter_mut().zip(&mut self.events) {
            let events = fastrand::u32(1..events);
            host.events(events);
            host.append(&[snapshot()]);
            *written += u64::from(events);
        }
    }

    fn round(&mut self, events: u32) {
        self.write(events);
        match fastrand::u32(0..6) {
            0 if fastrand::bool()
                && let Some(servers) = &mut self.backends.nats =>
            {
                servers.kill(0);
                servers.run(0);
            }
            0 if fastrand::bool()
                && let Some(server) = &mut self.backends.postgres =>
            {
                server.kill();
                server.run();
            }
            0 => {
                self.head.as_mut().unwrap().kill();
                if fastrand::bool() {
                    self.replay(self.any());
                }
                self.start_head();
            }
            1 => {
                let n = self.any();
                self.agents[n].as_mut().unwrap().kill();
                self.start_agent(n);
            }
            2 => {
                // Both, so that an answer may be lost with who waited for it.
                let n = self.any();
                self.agents[n].as_mut().unwrap().kill();
                self.head.as_mut().unwrap().kill();
                self.start_head();
                self.start_agent(n);
            }
            3 => {
                self.relay.cut(true);
                self.write(events);
                std::thread::sleep(Duration::from_millis(fastrand::u64(0..300)));
                if fastrand::bool() {
                    self.relay.reset();
                }
                self.relay.cut(false);
            }
            _ => {}
        }
        for _ in 0..3 {
            self.replay(self.any());
        }
    }

    /// Every record is there once, in the order of its host.
    fn check(&self) {
        let tips: Vec<u64> = self
            .hosts
            .iter()
            .map(|host| host.store.last_seq())
            .collect();
        // 1,000 records a second are little.
        let patience = 120 + tips.iter().sum::<u64>() / 1000;
        wait_for("the last records", patience, || {
            let views: Vec<HostView> = self.client().get("/fleet/v1/hosts").ok()?;
            let there: Vec<u64> = views.iter().map(|view| view.records).collect();
            (there == tips).then_some(())
        });
        let reports: Vec<ChainReport> = self.client().get("/fleet/v1/verify").unwrap();
        for (report, host) in reports.iter().zip(&self.hosts) {
            // The hash of each record covers all before it: the newest being the host's own says that order and contents are.
            assert!(report.is_whole(), "{report:?}");
            assert_eq!(report.records, host.store.last_seq(), "{}", host.name);
        }
        for (host, written) in self.hosts.iter().zip(&self.events) {
            let path = format!("/fleet/v1/events?limit=10000&host={}", host.name);
            let events: Vec<FleetEvent> = self.client().get(&path).unwrap();
            let mut ids: Vec<String> = events.iter().map(|e| e.event.id.to_string()).collect();
            assert_eq!(ids.len() as u64, *written.min(&10_000), "{}", host.name);
            ids.sort();
            ids.dedup();
            assert_eq!(
                ids.len(),
                events.len(),
                "an event of {} is there twice",
                host.name
            );
        }
        let views: Vec<HostView> = self.client().get("/fleet/v1/hosts").unwrap();
        assert!(
            views
                .iter()
                .all(|v| v.forks == 0 && v.chain_faults.is_empty()),
            "{views:?}"
        );
    }
}

/// How a host is of which nothing is known.
fn snapshot() -> Record {
    let news = HealthNews::Snapshot {
        snapshot: Box::default(),
    };
    Record::Health(Box::new(HealthRecord::new(Timestamp::now(), news)))
}

fn violence(backends: Backends) {
    let seed = fastrand::u64(..);
    fastrand::seed(seed);
    println!("seed {seed}");
    let size = size();
    let mut fleet = Fleet::new(size.hosts, backends);
    for _ in 0..size.rounds {
        fleet.round(size.events);
    }
    fleet.check();
    let records = fleet.hosts.iter().map(|host| host.store.last_seq());
    println!(
        "{} hosts, {} rounds, {} records: each there once, in order",
        size.hosts,
        size.rounds,
        records.sum::<u64>()
    );
}

#[test]
fn killed_heads_and_agents_take_each_record_once() {
    violence(Backends::default());
}

#[test]
fn killed_heads_agents_and_postgresql_take_each_record_once() {
    if let Some(server) = Postgres::start() {
        violence(Backends {
            postgres: Some(server),
            ..Backends::default()
        });
    }
}

#[test]
fn killed_heads_agents_and_servers_of_nats_take_each_record_once() {
    if let Some(servers) = Servers::start(1, "") {
        violence(Backends {
            nats: Some(servers),
            ..Backends::default()
        });
    }
}

#[test]
fn a_host_that_is_enrolled_anew_ships_on_without_a_restart() {
    let mut fleet = Fleet::new(1, Backends::default());
    let name = fleet.hosts[0].name.clone();
    let token = token(&fleet.client(), Some(&name), 1);
    // Its agent runs with what is no credential any more.
    fleet.enroll(&name, &token, &fleet.credential(0));
    fleet.write(60);
    fleet.check();
}

#[test]
fn an_agent_says_that_the_head_is_away_and_that_it_is_back() {
    let mut fleet = Fleet::new(1, Backends::default());
    fleet.agents[0].as_mut().unwrap().kill();
    fleet.head.as_mut().unwrap().kill();
    let mut command = gtrace(fleet.dir.path());
    command
        .args(["agent", "run", "--credential"])
        .arg(fleet.credential(0))
        .arg("--store")
        .arg(&fleet.hosts[0].path)
        .env("GTRACE_LOG", "info")
        .stderr(Stdio::piped());
    let mut agent = Running(command.spawn().unwrap());
    let printed = BufReader::new(agent.0.stderr.take().unwrap()).lines();
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || printed.for_each(|line| drop(sender.send(line.unwrap()))));
    let printed = |what: &str| {
        wait_for(what, 60, || {
            lines.try_iter().find(|line| line.contains(what))
        });
    };
    printed("records wait in the store");
    fleet.write(60);
    fleet.start_head();
    fleet.check();
    printed("the head takes again");
}

#[test]
fn who_may_see_some_hosts_sees_their_incidents_without_outbreaks() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("head.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    // A head, as it answers a credential that is for some hosts.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut request, mut line) = (String::new(), String::new());
            stream.read_line(&mut request).unwrap();
            while line != "\r\n" {
                line.clear();
                stream.read_line(&mut line).unwrap();
            }
            let of_fleet = ["/fleet/v1/outbreaks", "/fleet/v1/remediation"];
            let (status, body) = match of_fleet.iter().any(|path| request.contains(path)) {
                true => ("403 Forbidden", r#"{"error":"a","cause":"b","remedy":"c"}"#),
                false => ("200 OK", "[]"),
            };
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    for (question, status) in [
        (&["incidents"][..], 0),
        (&["outbreaks"][..], 3),
        (&["remediation", "list"][..], 3),
    ] {
        let mut command = gtrace(dir.path());
        let output = command.arg("fleet").args(question).arg("--head");
        let output = output.arg(&socket);
        let output = output.output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    }
}

#[test]
fn a_head_ends_while_what_pushes_its_metrics_hangs() {
    use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
    use rustix::process::{Pid, Signal, kill_process};
    let dir = tempfile::tempdir().unwrap();
    let (token, fifo) = (dir.path().join("token"), dir.path().join("fifo"));
    std::fs::write(&token, "secret\n").unwrap();
    mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
    let mut command = gtrace(dir.path());
    command
        .args(["head", "--listen", "127.0.0.1:0", "--socket"])
        .arg(dir.path().join("head.sock"))
        .args(["--remote-write", "http://127.0.0.1:9/"])
        .args(["--remote-write-every", "200ms", "--remote-write-token-file"])
        .arg(&token)
        .env("GTRACE_HEAD_DATABASE", dir.path().join("fleet.db"))
        .env("GTRACE_LOG", "info");
    let (mut head, _) = process::start(&mut command, "head at http://");
    // Each round reads the file; the next one waits for as long as nothing is written.
    std::fs::rename(&fifo, &token).unwrap();
    let held = wait_for("the next round", 60, || {
        open(&token, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).ok()
    });
    kill_process(Pid::from_child(&head.0), Signal::TERM).unwrap();
    let status = wait_for("the end of the head", 60, || head.0.try_wait().unwrap());
    assert!(status.success(), "{status}");
    drop(held);
}

#[test]
fn a_session_in_which_no_host_takes_part_says_so_when_it_is_started() {
    // Its agent permits none.
    let fleet = Fleet::new(1, Backends::default());
    let mut command = gtrace(fleet.dir.path());
    command.args(["session", "start", "s", "--head"]);
    let output = command.arg(fleet.dir.path().join("head.sock")).output();
    let output = output.unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    assert!(
        message.contains("`gtrace session show s` says why"),
        "{message}"
    );
}

#[test]
fn simulated_hosts_have_a_session_in_each_format_and_gpu_hours() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("head.sock");
    let mut command = gtrace(dir.path());
    command
        .args(["head", "--demo", "--listen", "127.0.0.1:0", "--socket"])
        .arg(&socket)
        .env("GTRACE_LOG", "info");
    let _head = process::start(&mut command, "simulated hosts ship");
    let ask = |of: &str, args: &[&str]| {
        let mut command = gtrace(dir.path());
        command.arg(of).args(args).arg("--head").arg(&socket);
        command.stdout(Stdio::piped()).output().unwrap()
    };
    let succeeds = |of: &str, args: &[&str]| {
        let output = ask(of, args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        output.stdout
    };
    let session = |args: &[&str]| succeeds("session", args);
    session(&["start", "s", "--interval", "100ms", "--metrics", "power"]);
    wait_for("frames of each host", 60, || {
        let shown: serde_json::Value =
            serde_json::from_slice(&session(&["show", "s", "--json"])).unwrap();
        let hosts = shown["hosts"].as_array().unwrap();
        let each = hosts.len() == 10 && hosts.iter().all(|h| h["frames"].as_u64() > Some(2));
        each.then_some(())
    });
    session(&["stop", "s"]);
    let export = |format: &str| session(&["export", "s", "--format", format]);
    let json: serde_json::Value = serde_json::from_slice(&export("json")).unwrap();
    let of = |name: &str| json[name].as_array().unwrap();
    let gpus = |frame: &serde_json::Value| frame["gpus"].as_array().map_or(0, Vec::len);
    let rows = of("frames").iter().map(gpus).sum::<usize>() + of("gaps").len();
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').count();
    assert_eq!(lines(&export("csv")), 1 + rows);
    assert_eq!(
        lines(&export("jsonl")),
        1 + of("frames").len() + of("gaps").len()
    );
    // Its contents are a matter of gtrace-timeline's tests. A file is written as standard output is.
    let table = export("parquet");
    assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
    let file = dir.path().join("s.parquet");
    session(&[
        "export",
        "s",
        "--format",
        "parquet",
        "--output",
        file.to_str().unwrap(),
    ]);
    assert!(std::fs::read(file).unwrap() == table);
    // By now every host has said who has its GPUs, and how long its calls took: its first state does.
    let lines = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let printed = succeeds("fleet", &[arguments, &["--json"]].concat());
        serde_json::Deserializer::from_slice(&printed)
            .into_iter()
            .map(Result::unwrap)
            .collect()
    };
    let slowest = &lines(&[
        "latency",
        "--call",
        "RM_CONTROL",
        "--by",
        "host",
        "--sort",
        "p99",
    ])[0];
    assert_eq!(
        (&slowest["name"], &slowest["hosts"]),
        (&"simulated-09".into(), &1.into())
    );
    assert_eq!(lines(&["latency", "--layer", "api"]).len(), 2);
    let owners = lines(&["usage"]);
    let of = |line: &serde_json::Value| (line["name"].clone(), line["hosts"].clone());
    let shown: Vec<_> = owners.iter().map(of).collect();
    assert_eq!(shown.len(), 2, "{owners:?}");
    assert!(shown.contains(&("user/ada".into(), 10.into())));
    assert!(shown.contains(&("user/bob".into(), 4.into())));
    // A name that is no host's is a mistake, and no host without events.
    let fails = |arguments: &[&str]| {
        let output = ask("fleet", arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    };
    for question in [
        &["events"][..],
        &["events", "--follow"],
        &["usage"],
        &["latency"],
    ] {
        let (status, message) = fails(&[question, &["--host", "simulated"]].concat());
        assert_eq!(status, Some(1), "{question:?}: {message}");
        assert!(
            message.contains("no host `simulated`"),
            "{question:?}: {message}"
        );
    }
    // Where 1 says that something was found, a mistake is another status.
    for question in [
        &["lemons", "--by", "rakc"][..],
        &["compare", "--by", "rakc"],
        &["verify", "--host", "h"],
    ] {
        let (status, message) = fails(question);
        assert_eq!(status, Some(3), "{question:?}: {message}");
        assert!(message.contains("no host"), "{question:?}: {message}");
    }
    // What a list has no room for is not left out in silence.
    wait_for("incidents of two hosts", 60, || {
        (lines(&["incidents"]).len() > 1).then_some(())
    });
    for of in ["incidents", "events"] {
        assert_eq!(lines(&[of, "--limit", "1"]).len(), 1);
        let (status, message) = fails(&[of, "--limit", "1"]);
        assert_eq!(status, Some(0));
        assert!(message.contains("may be more"), "{of}: {message}");
    }
    let (status, message) = fails(&["events", "--since", "1d", "--until", "2d"]);
    assert_eq!(status, Some(2), "{message}");
    // The head refuses a parameter that a path does not have: no option is one.
    let window = "--since 2d --until 1h --host simulated-09";
    for question in [
        format!("events {window} --kind xid --severity fatal").as_str(),
        "events --follow --host simulated --kind xid --severity fatal",
        "incidents --open --since 1d",
        "outbreaks --open --since 1d",
        "lemons --by host --limit 1",
        format!("usage {window} --by job --owner user/ada --job 1").as_str(),
        format!("latency {window} --call RM_CONTROL --by host --layer driver").as_str(),
        "compare --by kernel",
        "compare --by kernel 1 2 --margin 2",
        "remediation list --all",
        "verify --host simulated-09",
    ] {
        let (status, message) = fails(&question.split(' ').collect::<Vec<_>>());
        assert_ne!(status, Some(2), "{question}: {message}");
        assert!(!message.contains("unknown field"), "{question}: {message}");
    }
}
