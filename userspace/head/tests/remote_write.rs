//! Metrics of the fleet, pushed to Prometheus itself.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "../../http/tests/support/programs.rs"]
mod programs;
mod support;

use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use gtrace_head::db::Place;
use gtrace_head::http::RemoteWrite;
use programs::{Program, free, program, until};
use serde_json::Value;
use support::Host;
use support::fleet::{Agent, Agents, Head, enrolled};

/// The values of an expression, by the label `host`; `None` while nobody answers.
fn query(address: SocketAddr, expression: &str) -> Option<Vec<(String, String)>> {
    let answer = programs::query(address, expression)?;
    let found = answer["data"]["result"].as_array()?;
    let of = |one: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&one["metric"]["host"]), text(&one["value"][1]))
    };
    let mut found: Vec<_> = found.iter().map(of).collect();
    found.sort();
    Some(found)
}

#[test]
fn prometheus_has_what_a_head_pushes_also_after_it_was_away() {
    let Some(program) = program("e2e-prometheus", "prometheus") else {
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
    until("a failed round", || (pushed("failed") > 0).then_some(()));
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
        (found == Some(vec![of("w1", "0"), of("w2", "0")])).then_some(())
    });
    // As a page reads them.
    let records = query(at, "gtrace_head_records_total").unwrap();
    assert_eq!(records, [of("", "10")]);
    let states = query(at, "sum(gtrace_fleet_hosts)").unwrap();
    assert_eq!(states, [of("", "2")]);
    assert!(pushed("taken") > 0);
}
