//! Xids of the stub of the driver: one event each, whoever saw it.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::guest::daemon::Daemon;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE};

cases! {
    Driver "xid_three_witnesses" => three_witnesses, core;
    Driver "xid_in_pieces" => in_pieces;
    Driver "xid_of_an_older_driver" => older_driver, core;
    Driver "xid_without_probes" => without_probes;
    Driver "xid_that_is_not_logged" => not_logged;
    Driver "xid_by_the_tracepoint" => tracepoint;
    Driver "xid_twice" => twice;
    Driver "xid_of_a_switch" => switch;
}

const GPU: &str = "0000:01:00.0";

/// The events of the Xid `code`.
pub(super) fn of_code(events: &[Value], code: u32) -> Vec<&Value> {
    events
        .iter()
        .filter(|e| e["kind"] == "xid" && e["detail"]["xid"] == code)
        .collect()
}

/// Names of the sources that saw an event, sorted.
pub(super) fn witnesses(event: &Value) -> Vec<&str> {
    let list = event["witnesses"].as_array().map_or(&[][..], Vec::as_slice);
    let mut names: Vec<_> = list.iter().filter_map(|w| w["source"].as_str()).collect();
    names.sort_unstable();
    names
}

/// Waits for one event of the Xid `code` that `seen` have witnessed; that there is no other.
fn one(guest: &Guest, daemon: &Daemon, code: u32, seen: &[&str]) -> Result<Value> {
    let event = witnessed(daemon, code, seen)?;
    // What each of them saw before this one has become an event by then.
    let later = 1000 + code;
    guest.stub(&format!("xid 0 {later} what comes later"))?;
    witnessed(daemon, later, seen)?;
    let events = daemon.events(&[])?;
    let all = of_code(&events, code);
    ensure!(
        all.len() == 1 && witnesses(all[0]) == seen,
        "Xid {code} made {all:#?}"
    );
    Ok(event)
}

/// Waits for one event of the Xid `code` that `seen` have witnessed.
pub(super) fn witnessed(daemon: &Daemon, code: u32, seen: &[&str]) -> Result<Value> {
    let what = format!("one event of Xid {code} seen by {seen:?}");
    daemon.wait_for(PATIENCE, &what, |events| match of_code(events, code)[..] {
        [event] if witnesses(event) == seen => Some(event.clone()),
        _ => None,
    })
}

/// All who see a line of the driver but for a tracepoint, which not each driver has.
pub(super) const ALL_THREE: [&str; 3] = ["/dev/kmsg", "nv_report_error", "printk:console"];

fn three_witnesses(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    guest.stub("xid 0 31 pid=4711 name=python gi=3 ci=1 Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ")?;
    let event = one(guest, &daemon, 31, &ALL_THREE)?;
    has!(event, {
        "gpu/pci": GPU, "gpu/mig_gi": 3, "gpu/mig_ci": 1, "process/pid": 4711, "process/comm": "python",
        "provenance": "kernel", "repeats": 0,
    });
    ensure!(
        event["message"]
            .as_str()
            .is_some_and(|m| m.contains("MMU Fault")),
        "{event:#}"
    );
    Ok(())
}

fn in_pieces(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    guest.stub("xid 0 13 pid=17 name=train pieces Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): Out Of Range Address")?;
    let event = one(guest, &daemon, 13, &ALL_THREE)?;
    ensure!(event["process"]["pid"] == 17, "{event:#}");
    ensure!(
        event["message"]
            .as_str()
            .is_some_and(|m| m.ends_with("Out Of Range Address")),
        "{event:#}"
    );
    Ok(())
}

fn older_driver(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Frontend, GPUS)?;
    let daemon = guest.daemon(&[])?;
    guest.stub("xid 0 79 GPU has fallen off the bus.")?;
    let event = one(guest, &daemon, 79, &ALL_THREE)?;
    has!(event, { "gpu/pci": GPU, "process": null, "severity": "fatal" });
    Ok(())
}

fn without_probes(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[
        "--disabled-sources",
        "nv_report_error,driver:ioctl,printk:console",
    ])?;
    guest.stub("xid 0 61 Internal micro-controller breakpoint")?;
    one(guest, &daemon, 61, &["/dev/kmsg"])?;
    let daemon = {
        drop(daemon);
        guest.daemon(&["--disabled-sources", "nv_report_error,driver:ioctl"])?
    };
    guest.stub("xid 0 48 DBE (double bit error) ECC error")?;
    one(guest, &daemon, 48, &["/dev/kmsg", "printk:console"])?;
    Ok(())
}

/// What the kernel log does not have is reported without its text.
fn not_logged(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--disabled-sources", "/dev/kmsg,printk:console"])?;
    guest.stub("xid 0 63 Row remapping event")?;
    let event = one(guest, &daemon, 63, &["nv_report_error"])?;
    has!(event, { "gpu/pci": GPU, "provenance": "kernel" });
    Ok(())
}

fn tracepoint(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&["--dev-xid-tracepoint", "true"])?;
    guest.stub("xid 0 94 Contained memory error")?;
    let mut seen = ALL_THREE.to_vec();
    seen.push("nvidia:nvidia_dev_xid");
    seen.sort_unstable();
    one(guest, &daemon, 94, &seen)?;
    Ok(())
}

/// The same Xid again is a repeat; one of the same code by another process is another event.
fn twice(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    for _ in 0..5 {
        guest.stub("xid 0 43 pid=5 name=a Ch 00000001, first")?;
    }
    guest.stub("xid 0 43 pid=6 name=b Ch 00000002, second")?;
    let pair = daemon.wait_for(PATIENCE, "two events, complete", |events| {
        let ours = of_code(events, 43);
        let reported = |event: &Value| -> u64 {
            let list = event["witnesses"].as_array().map_or(&[][..], Vec::as_slice);
            list.iter().filter_map(|w| w["count"].as_u64()).sum()
        };
        let all: u64 = ours.iter().map(|e| reported(e)).sum();
        (all >= 18).then(|| ours.into_iter().cloned().collect::<Vec<_>>())
    })?;
    let of = |pid: u64| pair.iter().find(|e| e["process"]["pid"] == pid);
    let (first, second) = (of(5).context("no first")?, of(6).context("no second")?);
    ensure!(pair.len() == 2, "{pair:#?}");
    ensure!(first["repeats"] == 4 && second["repeats"] == 0, "{pair:#?}");
    ensure!(witnesses(first) == ALL_THREE, "{first:#}");
    ensure!(witnesses(second) == ALL_THREE, "{second:#}");
    Ok(())
}

fn switch(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[])?;
    guest.stub("sxid 0000:05:00.0 12028 Non-fatal Link 32 egress non-posted PRIV error (First)")?;
    let event = daemon.event("an event of SXid 12028", |e| {
        e["kind"] == "sxid" && e["detail"]["sxid"] == 12028
    })?;
    ensure!(event["gpu"]["pci"] == "0000:05:00.0", "{event:#}");
    Ok(())
}
