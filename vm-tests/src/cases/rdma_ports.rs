//! Ports of RDMA devices as `gtrace run` sees them, on SoftRoCE: an interface that is switched off and on again, and a
//! device that is deleted.

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::BUSYBOX;
use gtrace_vm_tests::scenario::Scenario;
use serde_json::Value;

use super::Case;
use super::rdma::{CARD, DEVICE, card_up, device_gone, device_up, tool};
use super::xid::witnesses;
use crate::guest::daemon::Daemon;
use crate::guest::{Guest, PATIENCE, within};

pub(super) const CASES: &[Case] = &[Case::new("rdma_ports", Scenario::Rdma, ports).patience(120)];

/// Waits for an event that this rule decided.
fn told(daemon: &Daemon, rule: &str) -> Result<Value> {
    daemon.wait_for(PATIENCE, rule, |events| {
        let found = events.iter().find(|event| event["advice"]["rule"] == rule);
        found.cloned()
    })
}

fn status(daemon: &Daemon) -> Result<String> {
    let output = daemon.gtrace(&["status"])?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ports(guest: &mut Guest) -> Result<()> {
    device_up()?;
    let daemon = guest.daemon(&["--pci-interval-s", "1"])?;
    within(PATIENCE, "a port that is known to be active", || {
        let health = &daemon.get("/api/v1/status")?["rdma"];
        let active = health["active_ports"] == 1 && health["state"] == "healthy";
        Ok(active.then_some(()))
    })?;

    tool(BUSYBOX, &["ifconfig", CARD, "down"])?;
    // SoftRoCE calls the port of an interface that is off disabled.
    let down = told(&daemon, "rdma_port:disabled")?;
    let detail = &down["detail"];
    ensure!(
        detail["rdma_device"] == DEVICE
            && detail["rdma_port"] == 1
            && detail["port_change"] == "down"
            && detail["port_state"] == "DOWN"
            && detail["network_interface"] == CARD,
        "{down}"
    );
    ensure!(witnesses(&down) == ["sysfs:rdma"], "{down}");
    let text = status(&daemon)?;
    let line = text.lines().find(|line| line.starts_with("RDMA"));
    let line = line.with_context(|| format!("no line of RDMA in {text}"))?;
    ensure!(
        line.contains("UNHEALTHY") && line.contains(&format!("{DEVICE} port 1 is DOWN")),
        "{line}"
    );

    card_up()?;
    let up = told(&daemon, "rdma_port:up")?;
    ensure!(up["severity"] == "info", "{up}");
    ensure!(
        status(&daemon)?.contains("healthy, 1 ports active of 1"),
        "{}",
        status(&daemon)?
    );

    device_gone()?;
    let lost = told(&daemon, "rdma_lost")?;
    ensure!(lost["severity"] == "critical", "{lost}");
    ensure!(lost["detail"]["rdma_device"] == DEVICE, "{lost}");
    let metrics = daemon.get_text("/metrics")?;
    let healthy = metrics
        .lines()
        .find(|l| l.starts_with("gtrace_rdma_healthy "));
    ensure!(
        healthy.is_some_and(|line| line.ends_with(" 0") || line.ends_with(" 0.0")),
        "{healthy:?}"
    );
    guest.note(line)
}
