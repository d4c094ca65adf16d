//! Ports of RDMA devices as `gtrace run` sees them, on SoftRoCE: an interface that is switched off and on again, and a
//! device that is deleted.

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::BUSYBOX;
use serde_json::Value;

use super::rdma::{CARD, DEVICE, card_up, device_gone, device_up, tool};
use super::xid::witnesses;
use crate::guest::daemon::Daemon;
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Rdma "rdma_ports" => ports, patience(120);
}

/// Waits for an event that this rule decided.
fn reported(daemon: &Daemon, rule: &str) -> Result<Value> {
    daemon.event(rule, |event| event["advice"]["rule"] == rule)
}

/// Waits until the line of the host's health in `gtrace status` contains all of these.
fn host(daemon: &Daemon, wanted: &[&str]) -> Result<String> {
    host_line(daemon, &format!("a host with {wanted:?}"), |line| {
        wanted.iter().all(|part| line.contains(part))
    })
}

/// The line of the host in `gtrace status` once it is `wanted`, which is `what`.
fn host_line(daemon: &Daemon, what: &str, wanted: impl Fn(&str) -> bool) -> Result<String> {
    let mut last = String::new();
    let found = within(PATIENCE, what, || {
        let output = daemon.gtrace(&["status"])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.starts_with("host "));
        line.with_context(|| format!("no line of the host in {text}"))?
            .clone_into(&mut last);
        Ok(wanted(&last).then(|| last.clone()))
    });
    found.with_context(|| format!("the last one: {last}"))
}

fn ports(guest: &mut Guest) -> Result<()> {
    device_up()?;
    let daemon = guest.daemon(&["--pci-interval-s", "1"])?;
    within(PATIENCE, "a port that is known to be active", || {
        let metrics = daemon.get_text("/metrics")?;
        let active = ["gtrace_rdma_active_ports 1", "gtrace_rdma_healthy 1"];
        let shown = |line: &str| active.contains(&line.trim_end_matches(".0"));
        Ok((metrics.lines().filter(|line| shown(line)).count() == active.len()).then_some(()))
    })?;

    tool(BUSYBOX, &["ifconfig", CARD, "down"])?;
    // SoftRoCE calls the port of an interface that is off disabled.
    let down = reported(&daemon, "rdma_port:disabled")?;
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
    let line = host(&daemon, &["unhealthy", &format!("{DEVICE} port 1 is DOWN")])?;

    card_up()?;
    let up = reported(&daemon, "rdma_port:up")?;
    ensure!(up["severity"] == "info", "{up}");
    // The clock of the machine is not synchronised, which is a reason of its own.
    host_line(&daemon, "a host without that port", |line| {
        !line.contains(DEVICE)
    })?;

    device_gone()?;
    let lost = reported(&daemon, "rdma_lost")?;
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
