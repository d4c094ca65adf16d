//! Metrics of the fleet, pushed to Prometheus itself.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_head::db::Place;
use gtrace_head::http::RemoteWrite;
use serde_json::Value;
use support::Host;
use support::fleet::{Agent, Agents, Head, enrolled};

const DEADLINE: Duration = Duration::from_secs(60);

/// Ends with this.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn prometheus() -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let program = target.join("e2e-prometheus/usr/bin/prometheus");
    if !program.is_file() {
        println!("SKIPPED: no prometheus: cargo xtask test fetches the package of Debian");
        return None;
    }
    Some(program)
}

fn free() -> SocketAddr {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap()
}

/// The values of an expression, by the label `host`; `None` while nobody answers.
fn query(address: SocketAddr, expression: &str) -> Option<Vec<(String, String)>> {
    let encoded: String = expression.bytes().map(|b| format!("%{b:02x}")).collect();
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!("GET /api/v1/query?query={encoded} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let answer: Value = serde_json::from_str(body).ok()?;
    let found = answer["data"]["result"].as_array()?;
    let of = |one: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&one["metric"]["host"]), text(&one["value"][1]))
    };
    let mut found: Vec<_> = found.iter().map(of).collect();
    found.sort();
    Some(found)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < DEADLINE, "{what} does not come");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn prometheus_has_what_a_head_pushes_also_after_it_was_away() {
    let Some(program) = prometheus() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let at = free();
    let token = dir.path().join("token");
    fs::write(&token, "secret\n").unwrap();
    let to = RemoteWrite {
        url: format!("http://{at}/api/v1/write"),
        user: None,
        token_file: Some(token),
        ca_file: None,
        every: Duration::from_millis(500),
    };
    let place = Place::File(dir.path().join("fleet.db"));
    let head = Head::pushing(dir.path(), &place, to);
    let join = head.token(None, 2);
    let mut hosts = ["w1", "w2"].map(|name| Host::new(dir.path(), name));
    hosts.iter_mut().for_each(|host| host.events(5));
    let agents: Vec<Agent> = hosts
        .iter()
        .map(|host| Agent::new(host, enrolled(&head, &host.name, &join), "r1"))
        .collect();
    let agents = Agents::start(agents);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let pushed = |outcome: &str| -> u64 {
        let text = head.client.get_text("/metrics").unwrap();
        let name = format!("gtrace_head_remote_write_samples_total{{outcome=\"{outcome}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap().parse().unwrap()
    };
    until("a failed round", || pushed("failed") > 0);
    assert_eq!(pushed("taken"), 0);
    let config = dir.path().join("prometheus.yml");
    fs::write(&config, "").unwrap();
    let started = Command::new(program)
        .arg("--web.enable-remote-write-receiver")
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--web.listen-address={at}"))
        .arg(format!(
            "--storage.tsdb.path={}",
            dir.path().join("tsdb").display()
        ))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(dir.path().join("prometheus.log")).unwrap())
        .spawn()
        .unwrap();
    let _prometheus = Program(started);
    let of = |host: &str, value: &str| (host.to_owned(), value.to_owned());
    until("what the hosts lack", || {
        let found = query(at, "gtrace_fleet_host_behind_records");
        found == Some(vec![of("w1", "0"), of("w2", "0")])
    });
    // As a page reads them.
    let records = query(at, "gtrace_head_records_total").unwrap();
    assert_eq!(records, [of("", "10")]);
    let states = query(at, "sum(gtrace_fleet_hosts)").unwrap();
    assert_eq!(states, [of("", "2")]);
    assert!(pushed("taken") > 0);
}
