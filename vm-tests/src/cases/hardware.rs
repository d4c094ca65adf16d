//! Hardware errors of the host, by the kernel's own injection of machine checks (mce-inject).

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::xid::witnesses;
use crate::guest::Guest;

cases! {
    Driver "hardware_machine_check_is_one_event" => machine_check;
}

const INJECT: &str = "/sys/kernel/debug/mce-inject";
/// Valid, enabled, address valid, corrected; a cache error (Intel SDM 3B, 17.9): none of a memory controller.
const CACHE_ERROR: u64 = 0x9400_0000_0000_017a;
const BANK: u64 = 2;

/// Hands the kernel a machine check as if the hardware had. The bank, written last, is what does it.
fn inject(status: u64) -> Result<()> {
    for (file, value) in [
        // Its last character is cut off (arch/x86/kernel/cpu/mce/inject.c).
        ("flags", "sw\n".to_owned()),
        ("cpu", "0".to_owned()),
        ("status", format!("{status:#x}")),
        ("addr", "0x1f2a3000".to_owned()),
        ("bank", BANK.to_string()),
    ] {
        let path = Path::new(INJECT).join(file);
        fs::write(&path, value).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// A machine check that the kernel has is one event, with bank and status from the tracepoint and the text of the kernel log.
fn machine_check(guest: &mut Guest) -> Result<()> {
    guest.modprobe("mce_inject")?;
    let daemon = guest.daemon(&[])?;
    inject(CACHE_ERROR)?;
    let event = daemon.event("a machine check with a text", |event| {
        let text = event["message"].as_str().unwrap_or_default();
        event["kind"] == "machine_check"
            && witnesses(event).contains(&"mce:mce_record")
            && !text.starts_with("(no text)")
    })?;
    let detail = &event["detail"];
    ensure!(detail["mce_bank"] == BANK, "{event:#}");
    ensure!(detail["corrected"] == true, "{event:#}");
    ensure!(
        detail["mce_status"] == format!("{CACHE_ERROR:#x}"),
        "{event:#}"
    );
    ensure!(detail["fault_at"] == "0x1f2a3000", "{event:#}");
    let checks: Vec<Value> = daemon
        .events(&[])?
        .into_iter()
        .filter(|event| event["kind"] == "machine_check")
        .collect();
    ensure!(checks.len() == 1, "more than one event: {checks:#?}");
    Ok(())
}
