//! GPU-over-IP by RDMA between two machines: programs run in the first, and the second serves.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{RDMA, RDMA_PROGRAMS};
use serde_json::Value;

use super::rdma::{CARD, DEVICE, SHARING, TRUSTING, device_up, direct, same};
use super::rdma_load::{Lanes, Load, failed_back, shows_rdma, shows_rdma_again, shows_tcp, times};
use crate::agent::{Remote, remote};
use crate::guest::{Guest, PATIENCE, stable, within};

cases! {
    RdmaTwo "rdma_two_programs_1" => programs::<0>, patience(300);
    RdmaTwo "rdma_two_programs_2" => programs::<1>, patience(300);
    RdmaTwo "rdma_two_programs_3" => programs::<2>, patience(300);
    RdmaTwo "rdma_two_device_deleted" => device_deleted, patience(600);
    RdmaTwo "rdma_two_partition" => partition, patience(600);
}

/// Address of the second machine's card.
const SERVER: &str = "10.0.2.16";
/// Where the server answers about itself, and what it says.
const STATUS: &str = "/run/serve.status";
const LOG: &str = "/run/serve.log";
/// A machine that does not answer is given up by the other after 10 s, which it finds out at its next check.
const GIVEN_UP: Duration = Duration::from_secs(30);

/// `gtrace serve` in the second machine, ended when dropped.
struct Far(#[expect(dead_code, reason = "kept open, as it is killed with the connection")] Remote);

impl Far {
    fn start() -> Result<Self> {
        Self::with("")
    }

    /// With further options.
    fn with(further: &str) -> Result<Self> {
        device_up()?;
        far_device_up()?;
        // As rdma_cm's file does on hosts that have it, this keeps the folder, which is all that a worker's sandbox knows.
        remote(": >/dev/infiniband/kept")?;
        let options = TRUSTING.join(" ");
        // One that an earlier case left may still be ending.
        let serve = Remote::start(&format!(
            "while netstat -ltn | grep -q {SERVER}:7471; do sleep 0.1; done; rm -f {STATUS}; \
             exec gtrace serve --softgpu --insecure --listen {SERVER} --status-socket {STATUS} {options} {further} 2>{LOG}"
        ))?;
        within(PATIENCE, "a server in the second machine", || {
            let answer = std::net::TcpStream::connect((SERVER, 7471));
            Ok(answer.is_ok().then_some(()))
        })?;
        Ok(Self(serve))
    }

    fn status() -> Result<Value> {
        let text = remote(&format!(
            "GTRACE_SERVE_STATUS={STATUS} gtrace status --remote --json"
        ))?;
        Ok(serde_json::from_str(&text)?)
    }

    fn log() -> String {
        remote(&format!("cat {LOG}")).unwrap_or_else(|error| format!("{error:#}"))
    }
}

fn far_device_up() -> Result<()> {
    let state = format!("/sys/class/infiniband/{DEVICE}/ports/1/state");
    remote(&format!(
        "ifconfig {CARD} {SERVER} netmask 255.255.255.0 up
         [ -e {state} ] || {RDMA}/rdma link add {DEVICE} type rxe netdev {CARD} || exit
         for i in $(seq 300); do grep -q ACTIVE {state} && exit; sleep 0.1; done
         exit 1"
    ))?;
    Ok(())
}

/// That the kernel of the second machine has found nothing wrong with itself.
fn far_is_well() -> Result<()> {
    remote("! dmesg | grep -E 'WARNING: CPU|BUG:|refcount_t:|blocked for more than'").map(|_| ())
}

fn programs<const PART: usize>(guest: &mut Guest) -> Result<()> {
    let mut far = Far::start()?;
    for name in RDMA_PROGRAMS.into_iter().skip(PART).step_by(3) {
        if name == SHARING {
            drop(far);
            far = Far::with("--sandbox off")?;
        }
        let ran = same(guest, name, SERVER, &[], &direct(name)?);
        ran.with_context(Far::log)?;
        guest.note(format!("{name} is the same over RDMA"))?;
        if name == SHARING {
            drop(far);
            far = Far::start()?;
        }
    }
    let load = Load::start(guest, SERVER)?;
    shows_rdma(Far::status)?;
    load.finish()?;
    drop(far);
    far_is_well()
}

/// The server's device alone: the client learns of it from the server.
fn device_deleted(guest: &mut Guest) -> Result<()> {
    let _far = Far::start()?;
    for time in 1..=times(guest) {
        let mut load = Load::start(guest, SERVER)?;
        load.goes_on("before")?;
        remote(&format!("{RDMA}/rdma link delete {DEVICE}"))?;
        load.goes_on("without the device")?;
        shows_tcp(Far::status)?;
        far_device_up()?;
        shows_rdma_again(Lanes::Busy, Far::status)?;
        load.goes_on("by RDMA again")?;
        let reported = failed_back(&load.finish()?, Lanes::Busy)?;
        guest.note(format!("{time}: {reported}"))?;
    }
    far_is_well()
}

/// Shorter than a machine that does not answer is given up, programs go on; longer, they end.
fn partition(guest: &mut Guest) -> Result<()> {
    let _far = Far::start()?;
    for time in 1..=times(guest) {
        let mut load = Load::start(guest, SERVER)?;
        load.goes_on("before")?;
        guest.monitor("set_link n0 off")?;
        let stands = stable("no more rounds", Duration::from_secs(2), || {
            Ok(load.rounds())
        })?;
        guest.monitor("set_link n0 on")?;
        let healed = Instant::now();
        let went_on = load.goes_on("healed");
        went_on.with_context(Far::log)?;
        guest.note(format!(
            "{time}: stood at rounds {stands:?}, went on {:?} after it healed",
            healed.elapsed()
        ))?;
        shows_rdma_again(Lanes::Busy, Far::status)?;

        guest.monitor("set_link n0 off")?;
        let cut = Instant::now();
        let ended = load.fails();
        ended.with_context(Far::log)?;
        let took = cut.elapsed();
        ensure!(took < GIVEN_UP, "the programs ended after {took:?}");
        within(PATIENCE, "the server gives the clients up", || {
            let sessions = &Far::status()?["sessions"];
            Ok(sessions.as_array().is_some_and(Vec::is_empty).then_some(()))
        })?;
        guest.monitor("set_link n0 on")?;
        guest.note(format!(
            "{time}: cut for good, programs ended after {took:?}"
        ))?;
    }
    // What follows finds all as it was.
    same(guest, "steadfast", SERVER, &[], &direct("steadfast")?)?;
    far_is_well()
}
