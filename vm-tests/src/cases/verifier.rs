//! Every program passes the verifier of this kernel and attaches. What the verifier says of one that
//! does not is the case's message.

use anyhow::{Context as _, Result, ensure};

use super::calls::source_is;
use crate::guest::stub::Generation;
use crate::guest::{Guest, LOGGED, doctor};

cases! {
    Driver "verifier_takes_every_program" => production, core;
    Driver "verifier_takes_the_logging_programs" => logging;
}

/// Sources fed by programs that need no driver.
const KERNEL: [&str; 8] = [
    "printk:console",
    "ras:aer_event",
    "ras:mc_event",
    "mce:mce_record",
    "ras:firmware",
    "oom:mark_victim",
    "sched:sched_process_exit",
    "module",
];
const DRIVER: [&str; 2] = ["driver:ioctl", "nv_report_error"];

/// What `gtrace doctor` says of the sources, each having been tried; that `wanted` work.
fn tried(wanted: &[&str]) -> Result<()> {
    let (report, output) = doctor(&LOGGED)?;
    let sources = report["sources"].as_array().context("no sources")?;
    for name in wanted {
        let source = sources.iter().find(|s| s["name"] == *name);
        let source = source.with_context(|| format!("no {name}: {report:#}"))?;
        ensure!(
            source["state"] == "active",
            "{name} is {}: {}\n{}",
            source["state"],
            source["reason"].as_str().unwrap_or("no reason given"),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let failed: Vec<_> = sources.iter().filter(|s| s["state"] == "failed").collect();
    ensure!(failed.is_empty(), "failed: {failed:#?}");
    Ok(())
}

fn production(guest: &mut Guest) -> Result<()> {
    tried(&[&KERNEL[..], &["syscalls:ioctl"]].concat())?;
    for generation in [Generation::Current, Generation::Frontend] {
        guest.load_stub(generation, "")?;
        tried(&[&KERNEL[..], &DRIVER[..]].concat())?;
        guest.unload_stub().context("doctor holds the driver")?;
    }
    Ok(())
}

fn logging(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, "")?;
    let daemon = guest.daemon(&["--probe-log", "--dev-xid-tracepoint", "true"])?;
    for name in KERNEL.iter().chain(&DRIVER) {
        source_is(&daemon, name, "active")?;
    }
    source_is(&daemon, "nvidia:nvidia_dev_xid", "active")
}
