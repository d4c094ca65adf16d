//! Prometheus and Alertmanager themselves: what they make of the hosts that they read over TLS.
#![allow(missing_docs, clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/programs.rs"]
mod programs;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use gtrace_devices::{GpuInfo, GpuSample};
use gtrace_event::{Incident, WitnessName};
use gtrace_http::Limits;
use gtrace_tls::Role;
use jiff::{SignedDuration, Timestamp};
use programs::{Program, free, get, program, query, until};
use serde_json::{Value, json};
use support::{DEADLINE, Server};

fn packaging() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    path.canonicalize().unwrap()
}

/// Takes what Alertmanager sends: path and body.
fn receiver() -> (SocketAddr, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (send, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut first, mut length) = (String::new(), 0);
            stream.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let line = line.to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.get_mut().write_all(answer).unwrap();
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            if send
                .send((path, serde_json::from_slice(&body).unwrap()))
                .is_err()
            {
                return;
            }
        }
    });
    (address, received)
}

/// A host whose GPU fell off the bus.
fn incident(drill: bool) -> Incident {
    let now = Timestamp::now();
    let incident = json!({
        "id": gtrace_event::IncidentId::new(u64::try_from(now.as_millisecond()).unwrap()),
        "time": now, "opened": now, "last_time": now, "state": "open", "severity": "critical",
        "title": "a GPU fell off the bus", "class": "pcie", "drill": drill, "events": [],
        "event_count": 1, "occurrences": 1,
    });
    serde_json::from_value(incident).unwrap()
}

/// A GPU at work, with what NVML gives of one.
fn feed(server: &Server) {
    let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
    let sample = json!({
        "time": Timestamp::now(),
        "utilization": { "gpu": 50, "memory": 20 },
        "memory": { "total": 100, "used": 50, "free": 50, "reserved": 0 },
        "temperature": { "gpu": 40, "memory": 50, "slowdown_limit": 90, "shutdown_limit": 95, "memory_limit": 95 },
        "power": { "draw_w": 300.5, "limit_w": 700.0, "energy_j": 1e9 },
        "clocks": { "graphics": 1000, "sm": 1000, "memory": 2000, "max_graphics": 2000, "max_sm": 2000,
            "max_memory": 3000 },
        "violations": { "power": 7, "thermal": 7, "reliability": 7 },
        "pcie_replays": 7, "pcie_tx": 7, "pcie_rx": 7,
    });
    let sample: GpuSample = serde_json::from_value(sample).unwrap();
    gpu.sample = Some(sample);
    gpu.present_in.pci = true;
    let gpus = [gpu];
    server.hub.samples.publish_now(
        WitnessName::Nvml.name(),
        Duration::from_secs(3600),
        gtrace_devices::metrics(&gpus),
    );
    server.hub.set_gpus(gpus.into());
}

/// Every expression of the dashboards, with values for their variables.
fn expressions() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in ["executive.json", "on-call.json", "debug.json"] {
        let text =
            fs::read_to_string(packaging().join("../xtask/src/dashboards").join(name)).unwrap();
        let dashboard: Value = serde_json::from_str(&text).unwrap();
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let expression = target["expr"].as_str().unwrap();
                let expression = expression
                    .replace("$instance", ".*")
                    .replace("$gpu", ".*")
                    .replace("$__rate_interval", "1m");
                found.insert(expression);
            }
        }
    }
    assert!(found.len() > 40);
    found
}

#[test]
fn hosts_are_read_over_tls_and_people_are_woken_once_and_only_for_faults() {
    let Some(prometheus) = program("e2e-prometheus", "prometheus") else {
        return;
    };
    let alertmanager = program("e2e-prometheus-alertmanager", "prometheus-alertmanager");
    let Some(alertmanager) = alertmanager else {
        return;
    };
    let first = Server::start(Limits::default());
    let token = first.token("prometheus", Role::Read, None, 0);
    // The drill is one, and somebody works on the last one.
    let [second, drill, maintained] = [first.sibling(), first.sibling(), first.sibling()];
    for server in [&first, &second, &maintained] {
        server.hub.set_incident(incident(false));
    }
    drill.hub.set_incident(incident(true));
    let now = Timestamp::now();
    let until_then = now.checked_add(SignedDuration::from_hours(1)).unwrap();
    let health = json!({
        "time": now, "state": "healthy", "action": "none", "subjects": [],
        "maintenance": { "from": now, "until": until_then, "by": "alice", "note": "" },
    });
    maintained
        .hub
        .set_health_report(serde_json::from_value(health).unwrap(), 0);
    feed(&first);

    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let (webhook, received) = receiver();
    let of_alertmanager = free();
    let example = fs::read_to_string(packaging().join("alertmanager.yml")).unwrap();
    // As the example, but for a test that does not wait so long.
    let config = example
        .replace("127.0.0.1:9094", &webhook.to_string())
        .replace("group_wait: 10s", "group_wait: 4s")
        .replace("group_wait: 30s", "group_wait: 4s");
    assert_ne!(config, example);
    fs::write(path("alertmanager.yml"), config).unwrap();
    // Debian's reads a template from /usr/share, where nothing was installed.
    let share = alertmanager.ancestors().nth(2).unwrap().join("share");
    let script = "mount --bind \"$0\" /usr/share && exec \"$@\"";
    let _alertmanager = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script])
        .arg(share)
        .arg(&alertmanager)
        .arg(format!(
            "--config.file={}",
            path("alertmanager.yml").display()
        ))
        .arg(format!("--storage.path={}", path("alerts").display()))
        .arg(format!("--web.listen-address={of_alertmanager}"))
        .arg("--cluster.listen-address=")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(Program)
        .unwrap();
    let status = || get(of_alertmanager, "/api/v2/status");
    until("Alertmanager", status);

    fs::write(path("token"), &token).unwrap();
    let hosts = [
        ("first", &first),
        ("second", &second),
        ("drill", &drill),
        ("maintained", &maintained),
    ];
    let targets = hosts.map(|(name, server)| {
        json!({ "targets": [server.https.to_string()], "labels": { "instance": name } })
    });
    let rules = ["recording.rules.yml", "alerts.rules.yml"].map(|name| {
        let text = fs::read_to_string(packaging().join("prometheus").join(name)).unwrap();
        let text = ["30s", "1m"].iter().fold(text, |text, interval| {
            text.replace(
                &format!("\n    interval: {interval}\n"),
                "\n    interval: 1s\n",
            )
        });
        fs::write(path(name), text).unwrap();
        path(name)
    });
    // Each YAML reader takes JSON.
    let config = json!({
        "global": { "scrape_interval": "1s", "evaluation_interval": "1s" },
        "rule_files": rules,
        "alerting": { "alertmanagers": [
            { "static_configs": [{ "targets": [of_alertmanager.to_string()] }] },
        ] },
        "scrape_configs": [{
            "job_name": "gtrace", "scheme": "https",
            "tls_config": { "ca_file": first.ca.ca(), "server_name": "localhost" },
            "authorization": { "credentials_file": path("token") },
            "static_configs": targets,
        }],
    });
    fs::write(path("prometheus.yml"), config.to_string()).unwrap();
    let of_prometheus = free();
    let _prometheus = Command::new(prometheus)
        .arg(format!(
            "--config.file={}",
            path("prometheus.yml").display()
        ))
        .arg(format!("--storage.tsdb.path={}", path("data").display()))
        .arg(format!("--web.listen-address={of_prometheus}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(Program)
        .unwrap();
    let count = |expression: &str| {
        let answer = query(of_prometheus, expression)?;
        answer["data"]["result"][0]["value"][1]
            .as_str()?
            .parse()
            .ok()
    };
    until("the metrics of four hosts", || {
        (count("sum(up)") == Some(4)).then_some(())
    });

    let page = loop {
        let (path, body) = received.recv_timeout(DEADLINE).unwrap();
        if path == "/page" {
            break body;
        }
    };
    let woken: Vec<_> = page["alerts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|alert| {
            let label = |name: &str| alert["labels"][name].as_str().unwrap().to_owned();
            (label("instance"), label("alertname"))
        })
        .collect();
    let fault = |host: &str| (host.to_owned(), "GpuPcieFault".to_owned());
    assert_eq!(woken, [fault("first"), fault("second")], "{page:#}");
    // Prometheus knows the fault of the host in maintenance, and Alertmanager keeps it back. The drill is none to either.
    let firing = |host: &str| {
        let matchers =
            format!("ALERTS{{alertstate=\"firing\",severity=\"page\",instance=\"{host}\"}}");
        count(&format!("count({matchers}) or vector(0)"))
    };
    assert_eq!(firing("maintained"), Some(1));
    assert_eq!(firing("drill"), Some(0));
    let alerts = get(of_alertmanager, "/api/v2/alerts").unwrap();
    let kept_back = alerts.as_array().unwrap().iter().find(|alert| {
        alert["labels"]["instance"] == "maintained" && alert["labels"]["severity"] == "page"
    });
    let status = &kept_back.unwrap()["status"];
    assert_eq!(status["state"], "suppressed", "{status}");
    assert_ne!(status["inhibitedBy"], json!([]));
    let again = received.try_iter().find(|(path, _)| path == "/page");
    assert_eq!(again, None);

    // Nothing of this happens on these hosts: no CUDA or driver calls, remote clients, failures or pressure.
    let explained = [
        "gtrace_cuda_",
        "gtrace_driver_call",
        "gtrace_kernel_wait",
        "gtrace_remote_",
        "gtrace_gpu_process_exits",
        "gtrace_job_burn_rate",
        "gtrace_incident",
        "gtrace_xid",
        "gtrace_events",
        "gtrace_pressure",
        "gtrace_probe_core",
        "gtrace_component_health",
        "_errors",
        "gtrace_pci_aer",
        "> 0",
        "== 1",
    ];
    for expression in expressions() {
        let answers = || {
            let answer = query(of_prometheus, &expression)?;
            assert_eq!(answer["status"], "success", "{expression}: {answer}");
            let is_empty = answer["data"]["result"] == json!([]);
            (!is_empty || explained.iter().any(|part| expression.contains(part))).then_some(())
        };
        // What is recorded of what is recorded needs some rounds.
        until(&expression, answers);
    }
}
