//! The plugin for IMEX domains, with substitutes for NVIDIA's program and for systemctl.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use gtrace_event::HealthState::{self, Degraded, Healthy, Unknown};
use gtrace_plugins::parse;

/// What the plugin says of a host whose nvidia-imex-ctl does `program` (`None`: it has none), and whose domain has these nodes.
fn checks(program: Option<&str>, nodes: &str, active: bool) -> Vec<(String, HealthState, String)> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let systemctl = if active { "exit 0" } else { "exit 3" };
    let programs = [("sleep", ":"), ("systemctl", systemctl)];
    let imex = program.map(|text| ("nvidia-imex-ctl", text));
    for (name, text) in programs.into_iter().chain(imex) {
        fs::write(at(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(at("nodes"), nodes).unwrap();
    let named = format!(
        "LOG_LEVEL=4\nIMEX_NODE_CONFIG_FILE={}\n",
        at("nodes").display()
    );
    fs::write(at("config.cfg"), named).unwrap();
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/plugins/imex.sh");
    let ended = Command::new("sh")
        .arg(plugin)
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
        .env("IMEX_CONFIGURATION", at("config.cfg"))
        .output()
        .unwrap();
    assert!(
        ended.status.success() && ended.stderr.is_empty(),
        "{ended:?}"
    );
    let output = parse(&ended.stdout);
    assert!(output.faults.is_empty(), "{:?}", output.faults);
    let found = output.checks.into_iter();
    found
        .map(|check| (check.check, check.state, check.reason))
        .collect()
}

/// One test, so that no other thread of this process has a program open for writing while one is started.
#[test]
fn a_domain_is_judged_where_there_is_one() {
    let nodes = "# of this rack\n10.0.0.1\n10.0.0.2\n";
    let domain = |state: &str| {
        format!(
            r#"case "$*" in
*-q) echo READY ;;
*"-N -j") cat <<'JSON'
{{
  "nodes": {{
    "0": {{"status": "READY", "connections": {{"1": {{"status": "CONNECTED"}}}}}},
    "1": {{"status": "UNAVAILABLE", "connections": {{"0": {{"status": "INVALID"}}}}}}
  }},
  "timestamp": "9/4/2026 00:37:39.905",
  "status": "{state}"
}}
JSON
esac"#
        )
    };
    let up = domain("UP");
    let check = |name: &str, state, reason: &str| (name.to_owned(), state, reason.to_owned());
    let ready = || check("daemon", Healthy, "");
    // Hosts without IMEX, without a domain, and with a daemon that runs for the time of a job only.
    assert!(checks(None, nodes, false).is_empty());
    assert!(checks(Some(&up), "# none\n\n", false).is_empty());
    let silent = "echo 'connection failed' >&2; exit 1";
    assert!(checks(Some(silent), nodes, false).is_empty());

    assert_eq!(
        checks(Some(&up), nodes, true),
        [ready(), check("domain", Healthy, "")]
    );
    for state in ["DOWN", "DEGRADED"] {
        let reason = format!("the IMEX domain is {state}");
        let found = checks(Some(&domain(state)), nodes, true);
        assert_eq!(found, [ready(), check("domain", Degraded, &reason)]);
    }
    let found = checks(Some(&domain("NEW")), nodes, true);
    let reason = "nvidia-imex-ctl does not say how the IMEX domain is";
    assert_eq!(found, [ready(), check("domain", Unknown, reason)]);
    let reason = "the IMEX daemon is in state WAITING_FOR_PEERS";
    let found = checks(Some("echo WAITING_FOR_PEERS"), nodes, true);
    assert_eq!(found, [check("daemon", Degraded, reason)]);
    let reason = "nvidia-imex-ctl has no answer: is IMEX_CMD_ENABLED 1?";
    let found = checks(Some(silent), nodes, true);
    assert_eq!(found, [check("daemon", Unknown, reason)]);
    // It is ready a few seconds after it was started.
    let starts = format!("mkdir \"$0.asked\" 2>/dev/null && echo INITIALIZING && exit\n{up}");
    assert_eq!(checks(Some(&starts), nodes, true).len(), 2);
}
