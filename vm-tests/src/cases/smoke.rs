//! That machine, kernel and gtrace are what all other cases build upon.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::guest::nvrm::{NV_OK, NvDevice};
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE, kmsg};

cases! {
    Driver "smoke_kernel" => kernel, core;
    Driver "smoke_doctor" => doctor, core;
    Driver "smoke_events" => events, core;
    Driver "smoke_log_is_empty" => log_is_empty, core;
    Driver "smoke_restart" => restart;
    Driver "smoke_stub" => stub, core;
}

/// The card that the stub adopts.
const DEVICE: &str = "/sys/bus/pci/devices/0000:01:00.0";

fn kernel(guest: &mut Guest) -> Result<()> {
    ensure!(Path::new("/sys/kernel/btf/vmlinux").exists(), "no BTF");
    let kprobes = "/sys/kernel/tracing/kprobe_events";
    fs::write(kprobes, "p:smoke do_exit\n").context("no kprobes")?;
    // Opened to be overwritten, it forgets all of them.
    fs::write(kprobes, "").context("the kprobe stays")?;
    for category in ["printk/console", "ras/aer_event", "module/module_load"] {
        let tracepoint = Path::new("/sys/kernel/tracing/events").join(category);
        ensure!(tracepoint.is_dir(), "no tracepoint {category}");
    }
    ensure!(guest.kernel() >= (6, 1), "kernel {:?}", guest.kernel());
    ensure!(guest.mem_available()? > 512 << 20, "little memory");
    guest.modprobe("overlay")?;
    let known = fs::read_to_string("/proc/filesystems")?;
    ensure!(known.contains("\toverlay\n"), "modules cannot be loaded");
    // As `xtask` has QEMU begin it: flags after this instruction are not to be trusted there.
    let cpus = fs::read_to_string("/proc/cpuinfo")?;
    ensure!(
        !cpus.split_whitespace().any(|word| word == "cx16"),
        "the processor has CMPXCHG16B"
    );
    kmsg::write("a line of smoke_kernel")?;
    let dmesg = guest.dmesg()?;
    ensure!(
        dmesg.iter().any(|line| line == "a line of smoke_kernel"),
        "the kernel's log does not have what was written to it: {:?}",
        dmesg.last()
    );
    Ok(())
}

fn doctor(_: &mut Guest) -> Result<()> {
    let (report, output) = crate::guest::doctor(&[])?;
    let sources = report["sources"].as_array().context("no sources")?;
    let state = |witness: &str| {
        let ours = sources.iter().find(|s| s["witness"] == witness);
        ours.map_or(Value::Null, |s| s["state"].clone())
    };
    for witness in ["printk:console", "/dev/kmsg", "ras:aer_event", "module"] {
        let state = state(witness);
        ensure!(state == "active", "{witness} is {state}: {sources:#?}");
    }
    ensure!(
        output.status.success(),
        "doctor ended with {}",
        output.status
    );
    Ok(())
}

fn events(guest: &mut Guest) -> Result<()> {
    let daemon = guest.daemon(&[])?;
    kmsg::write("NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU lost")?;
    let event = daemon.event("an event of Xid 79", |event| {
        event.to_string().contains("0000:01:00")
    })?;
    let code = &event["detail"]["xid"];
    ensure!(code == 79, "the event's Xid is {code}: {event:#}");
    Ok(())
}

/// What earlier cases logged is gone: a daemon reads the log from its beginning.
fn log_is_empty(guest: &mut Guest) -> Result<()> {
    let dmesg = guest.dmesg()?;
    ensure!(!dmesg.is_empty(), "there is no log");
    let foreign = dmesg.iter().find(|line| line.contains("NVRM: Xid"));
    ensure!(foreign.is_none(), "{foreign:?} is of another case");
    Ok(())
}

/// After SIGKILL the next daemon has the events of the first one, those that it may not have stored, and
/// what was logged while there was none, each once.
fn restart(guest: &mut Guest) -> Result<()> {
    const CODES: [u32; 4] = [48, 61, 62, 79];
    const LATER: u32 = 94;
    let log = |code: u32| {
        kmsg::write(&format!(
            "NVRM: Xid (PCI:0000:01:00): {code}, pid=1, name=init, a text"
        ))
    };
    let codes = |events: &[Value]| -> Vec<Value> {
        let xids = events.iter().filter(|e| e["kind"] == "xid");
        let mut codes: Vec<_> = xids.map(|e| e["detail"]["xid"].clone()).collect();
        codes.sort_by_key(Value::as_u64);
        codes
    };
    let daemon = guest.daemon(&[])?;
    log(CODES[0])?;
    daemon.wait_for(PATIENCE, "an event of the first Xid", |events| {
        (codes(events) == CODES[..1]).then_some(())
    })?;
    let dir = daemon.dir().to_owned();
    log(CODES[1])?;
    daemon.kill()?;
    log(CODES[2])?;
    let daemon = guest.daemon_in(&dir, &[])?;
    log(CODES[3])?;
    daemon.wait_for(PATIENCE, "events of all Xids", |events| {
        (codes(events).len() >= CODES.len()).then_some(())
    })?;
    // Once each source has come to this one, none has an earlier line to come.
    log(LATER)?;
    daemon.event("a later Xid by both sources of the log", |e| {
        e["detail"]["xid"] == LATER && e["witnesses"].as_array().map(Vec::len) == Some(2)
    })?;
    let mut events = daemon.events(&["--kind", "xid"])?;
    events.retain(|event| event["detail"]["xid"] != LATER);
    ensure!(codes(&events) == CODES, "not each Xid once: {events:#?}");
    let repeated = events.iter().find(|e| e["repeats"] != 0);
    ensure!(repeated.is_none(), "{repeated:#?}");
    Ok(())
}

fn stub(guest: &mut Guest) -> Result<()> {
    const CMD: u32 = 0x2080_0a01;
    guest.load_stub(Generation::Current, GPUS)?;
    let vendor = fs::read_to_string(Path::new(DEVICE).join("vendor"))?;
    ensure!(vendor.trim() == "0x10de", "vendor {vendor}");
    let device = NvDevice::open("/dev/nvidia0")?;
    for _ in 0..5 {
        let status = device.control(CMD)?;
        ensure!(status == NV_OK, "status {status:#x}");
    }
    let count = guest.stub_count("RM_CONTROL", CMD)?;
    ensure!(count == 5, "the stub counted {count} of 5 calls");
    ensure!(
        guest.rmmod("nvidia").is_err(),
        "the stub was unloaded although its device is open"
    );
    drop(device);
    guest.unload_stub().context("cannot unload the stub")?;
    ensure!(!Path::new("/dev/nvidia0").exists(), "/dev/nvidia0 stays");
    Ok(())
}
