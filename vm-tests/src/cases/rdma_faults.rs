//! What fails while RDMA is used: programs go on by TCP and compute the same, or learn that the server
//! is gone.
//!
//! The address of the card is on the loopback interface as well, so that TCP goes on when the card is
//! taken down, and with it the port of its RDMA device.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{BUSYBOX, RDMA};
use rustix::process::{Pid, Signal, kill_process};

use super::rdma::{
    ADDRESS, CARD, DEVICE, Server, TRUSTING, card_up, device_up, direct, same, status_of, tool,
};
use super::rdma_load::{Lanes, Load, failed_back, shows_rdma_again, shows_tcp, times};
use crate::guest::{Guest, PATIENCE, stable, within};

cases! {
    Rdma "rdma_port_down" => port_down, core, patience(600);
    Rdma "rdma_device_deleted" => device_deleted, patience(600);
    Rdma "rdma_then_tcp_lost" => then_tcp_lost, patience(400);
    Rdma "rdma_server_killed" => server_killed, patience(300);
    Rdma "rdma_server_frozen" => server_frozen, patience(300);
}

fn card_down() -> Result<()> {
    tool(BUSYBOX, &["ifconfig", CARD, "down"])
}

/// The card and its RDMA device are up, and TCP does not need the card.
fn prepared() -> Result<()> {
    tool(BUSYBOX, &["ifconfig", "lo", "up"])?;
    let address = format!("{ADDRESS}/32");
    // There already, where another case has added it.
    let _ = tool(BUSYBOX, &["ip", "addr", "add", &address, "dev", "lo"]);
    device_up()?;
    // As rdma_cm's file does on hosts that have it, this keeps the folder when the last device goes: the sandbox of a worker
    // knows the folder, and would not know the next one.
    fs::write("/dev/infiniband/kept", "")?;
    Ok(())
}

fn port_down(guest: &mut Guest) -> Result<()> {
    fails_over(guest, "with the port down", Lanes::All, card_down)
}

/// Programs that have it open do not keep it from being deleted.
fn device_deleted(guest: &mut Guest) -> Result<()> {
    fails_over(guest, "without the device", Lanes::Busy, || {
        let mut deleting = Command::new(format!("{RDMA}/rdma"))
            .args(["link", "delete", DEVICE])
            .stdin(Stdio::null())
            .spawn()?;
        let ended = within(PATIENCE, "the device is deleted", || {
            Ok(deleting.try_wait()?)
        })?;
        ensure!(ended.success(), "rdma link delete: {ended}");
        Ok(())
    })
}

/// The fault has programs go on by TCP, and its end by RDMA again.
fn fails_over(
    guest: &mut Guest,
    what: &str,
    which: Lanes,
    fault: fn() -> Result<()>,
) -> Result<()> {
    prepared()?;
    let server = Server::start(guest, &TRUSTING)?;
    for time in 1..=times(guest) {
        let mut load = Load::start(guest, ADDRESS)?;
        load.goes_on("before")?;
        fault()?;
        let fell = load.goes_on(what);
        fell.with_context(|| Server::log(guest))?;
        // Calls that were under way may still have gone by the device.
        shows_tcp(|| status_of(&server.status))?;
        device_up()?;
        shows_rdma_again(which, || status_of(&server.status))?;
        load.goes_on("by RDMA again")?;
        let reported = failed_back(&load.finish()?, which)?;
        guest.note(format!("{time}: {reported}"))?;
    }
    let log = Server::log(guest);
    ensure!(log.contains("goes on by tcp"), "{log}");
    ensure!(!log.contains("in the middle of a call"), "{log}");
    Ok(())
}

fn loopback(state: &str) -> Result<()> {
    tool(BUSYBOX, &["ifconfig", "lo", state])
}

/// RDMA is lost, and then the connection by which programs go on: for a while, which they outlive, and for good.
fn then_tcp_lost(guest: &mut Guest) -> Result<()> {
    prepared()?;
    let server = Server::start(guest, &TRUSTING)?;
    for time in 1..=times(guest) {
        let mut load = Load::start(guest, ADDRESS)?;
        load.goes_on("before")?;
        card_down()?;
        load.goes_on("with the port down")?;
        shows_tcp(|| status_of(&server.status))?;
        loopback("down")?;
        let stands = stable("no more rounds", Duration::from_secs(2), || {
            Ok(load.rounds())
        })?;
        loopback("up")?;
        let healed = Instant::now();
        let went_on = load.goes_on("with the network healed");
        went_on.with_context(|| Server::log(guest))?;
        guest.note(format!(
            "{time}: stood at rounds {stands:?}, went on {:?} after it healed",
            healed.elapsed()
        ))?;
        loopback("down")?;
        let cut = Instant::now();
        load.fails()?;
        guest.note(format!(
            "{time}: cut for good, ended after {:?}",
            cut.elapsed()
        ))?;
        loopback("up")?;
        device_up()?;
        within(PATIENCE, "the server gives the clients up", || {
            let sessions = &status_of(&server.status)?["sessions"];
            Ok(sessions.as_array().is_some_and(Vec::is_empty).then_some(()))
        })?;
    }
    // What follows finds all as it was.
    same(guest, "steadfast", ADDRESS, &[], &direct("steadfast")?)
}

/// Workers of the server: the processes that it started.
fn workers(server: &Server) -> Result<Vec<Pid>> {
    let path = format!("/proc/{0}/task/{0}/children", server.child.id());
    let text = fs::read_to_string(path)?;
    let pids = text.split_whitespace().filter_map(|pid| pid.parse().ok());
    Ok(pids.filter_map(Pid::from_raw).collect())
}

fn signal(pids: &[Pid], signal: Signal) -> Result<()> {
    for pid in pids {
        kill_process(*pid, signal)?;
    }
    Ok(())
}

fn server_killed(guest: &mut Guest) -> Result<()> {
    prepared()?;
    let server = Server::start(guest, &TRUSTING)?;
    for time in 1..=times(guest) {
        let mut load = Load::start(guest, ADDRESS)?;
        load.goes_on("before")?;
        let workers = workers(&server)?;
        ensure!(workers.len() == 2, "the server has workers {workers:?}");
        signal(&workers, Signal::KILL)?;
        let began = Instant::now();
        load.fails()?;
        guest.note(format!(
            "{time}: ended {:?} after the server",
            began.elapsed()
        ))?;
    }
    card_up()
}

fn server_frozen(guest: &mut Guest) -> Result<()> {
    prepared()?;
    let server = Server::start(guest, &TRUSTING)?;
    let mut load = Load::start(guest, ADDRESS)?;
    for _ in 0..times(guest) {
        load.goes_on("before")?;
        let workers = workers(&server)?;
        signal(&workers, Signal::STOP)?;
        let at = stable("no more rounds", Duration::from_secs(3), || {
            Ok(load.rounds())
        })?;
        guest.note(format!("stands at rounds {at:?}"))?;
        signal(&workers, Signal::CONT)?;
        load.goes_on("thawed")?;
    }
    for stats in load.finish()? {
        ensure!(
            stats["link"] == "rdma" && stats["failovers"] == 0,
            "{stats}"
        );
    }
    Ok(())
}
