//! PCIe errors and cards that come and go: injected into the kernel's AER code, and by QEMU's monitor
//! into the emulated hardware.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::xid::witnesses;
use crate::guest::daemon::Daemon;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, PATIENCE, stable, within};

cases! {
    PcieInject "pcie_corrected_error" => corrected, core;
    PcieInject "pcie_nonfatal_error" => nonfatal;
    PcieInject "pcie_error_of_the_port_above" => port;
    PcieInject "pcie_storm_is_one_event" => storm, patience(240);
    PcieMonitor "pcie_fatal_error" => fatal, core;
    PcieMonitor "pcie_surprise_down" => surprise_down;
    Hotplug "pcie_card_pulled_and_put_back" => hotplug, core, patience(120);
    Hotplug "pcie_card_vanishes" => vanishes;
    Driver "pcie_narrow_link" => narrow;
}

/// The kernel's thread that reads errors has come to the last one by then.
const A_MOMENT: Duration = Duration::from_millis(500);

/// An injected error that the kernel has not handled by then was not signalled to it.
const QUIET: Duration = Duration::from_secs(5);

pub(super) const GPU: &str = "0000:01:00.0";
/// Correctable error status: bad TLP.
const BAD_TLP: u32 = 1 << 6;
/// Uncorrectable error status: completion timeout, by default not fatal.
pub(super) const COMPLETION_TIMEOUT: u32 = 1 << 14;

/// `struct aer_error_inj` of drivers/pci/pcie/aer_inject.c.
pub(super) fn inject(device: &str, uncorrectable: u32, correctable: u32) -> Result<()> {
    let number = |text: &str| u8::from_str_radix(text, 16);
    let (bus, device, function) = (
        number(&device[5..7])?,
        number(&device[8..10])?,
        number(&device[11..])?,
    );
    let mut record = [0u8; 32];
    record[..3].copy_from_slice(&[bus, device, function]);
    record[4..8].copy_from_slice(&uncorrectable.to_ne_bytes());
    record[8..12].copy_from_slice(&correctable.to_ne_bytes());
    let mut file = File::options().write(true).open("/dev/aer_inject")?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.write_all(&record) {
            Ok(()) => return Ok(()),
            // Busy: the kernel still handles the previous error.
            Err(error)
                if error.kind() == std::io::ErrorKind::ResourceBusy
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(error) => return Err(error).context("the kernel takes no error"),
        }
    }
}

/// A device's register of correctable errors, as the kernel reads it: with what was injected.
struct CorrectableStatus {
    config: File,
    at: u64,
}

impl CorrectableStatus {
    /// Capability and register: PCI Express Base Specification, 7.8.4.
    fn find(device: &str) -> Result<Self> {
        const AER: u32 = 1;
        const STATUS: u64 = 0x10;
        let path = Path::new("/sys/bus/pci/devices")
            .join(device)
            .join("config");
        let config = File::open(&path).with_context(|| format!("{}", path.display()))?;
        let mut at = 0x100;
        loop {
            // Identity in the lower half, the next one's place in the highest 12 bits.
            let header = dword(&config, at)?;
            if header & 0xffff == AER {
                let at = at + STATUS;
                return Ok(Self { config, at });
            }
            at = u64::from(header >> 20);
            ensure!(at >= 0x100, "{device} has no AER");
        }
    }

    /// The kernel clears an error when it is done with it. False if it has not before `deadline`.
    fn is_clear_by(&self, deadline: Instant) -> Result<bool> {
        while dword(&self.config, self.at)? != 0 {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        Ok(true)
    }
}

fn dword(config: &File, at: u64) -> Result<u32> {
    let mut bytes = [0; 4];
    config
        .read_exact_at(&mut bytes, at)
        .context("the extended configuration space cannot be read")?;
    Ok(u32::from_le_bytes(bytes))
}

/// What the kernel counts of the ports' interrupts, on each processor.
fn interrupts() -> String {
    let all = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let ports = all.lines().filter(|line| line.contains("aerdrv"));
    let words = ports.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words.collect::<Vec<_>>().join("; ")
}

/// The root port above the card.
fn port_above() -> Result<String> {
    let path = fs::canonicalize(Path::new("/sys/bus/pci/devices").join(GPU))?;
    let port = path.parent().and_then(Path::file_name);
    Ok(port
        .context("no port above")?
        .to_string_lossy()
        .into_owned())
}

/// A daemon on a machine whose card plays a GPU. It polls PCI every two seconds.
fn watched(guest: &mut Guest) -> Result<Daemon> {
    watched_with(guest, &[])
}

/// The same with further arguments.
pub(super) fn watched_with(guest: &mut Guest, args: &[&str]) -> Result<Daemon> {
    guest.load_stub(Generation::Current, GPUS)?;
    let daemon = guest.daemon(&[&["--pci-interval-s", "2"], args].concat())?;
    within(PATIENCE, "the card is a GPU", || {
        let gpus = daemon.get("/api/v1/gpus")?;
        Ok(gpus.to_string().contains(GPU).then_some(()))
    })?;
    Ok(daemon)
}

/// What older kernels call the severities, and what newer ones do.
const CORRECTED: [&str; 2] = ["Corrected", "Correctable"];
const NON_FATAL: [&str; 2] = ["Uncorrected (Non-Fatal)", "Uncorrectable (Non-Fatal)"];
const FATAL: [&str; 2] = ["Uncorrected (Fatal)", "Uncorrectable (Fatal)"];

/// Waits for an AER event of a severity that `seen` have witnessed.
fn aer(daemon: &Daemon, severity: [&str; 2], seen: &[&str]) -> Result<Value> {
    let what = format!("an AER event, {}, seen by {seen:?}", severity[0]);
    daemon.event(&what, |e| {
        let reported = e["detail"]["severity"].as_str().unwrap_or_default();
        let saw = witnesses(e);
        e["kind"] == "aer" && severity.contains(&reported) && seen.iter().all(|s| saw.contains(s))
    })
}

const LOG_AND_TRACEPOINT: [&str; 3] = ["/dev/kmsg", "printk:console", "ras:aer_event"];
const ALL: [&str; 4] = ["/dev/kmsg", "printk:console", "ras:aer_event", "sysfs:aer"];

/// The sum of a counter in an `aer_dev_*` file: `BadTLP 3`.
fn sysfs_count(device: &str, file: &str, error: &str) -> Result<u64> {
    let path = Path::new("/sys/bus/pci/devices").join(device).join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let line = text
        .lines()
        .find_map(|l| l.strip_prefix(error)?.strip_prefix(' '));
    Ok(line
        .with_context(|| format!("{error} is not in {text}"))?
        .trim()
        .parse()?)
}

fn corrected(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    let before = sysfs_count(GPU, "aer_dev_correctable", "BadTLP")?;
    inject(GPU, 0, BAD_TLP)?;
    let event = aer(&daemon, CORRECTED, &ALL)?;
    has!(event, { "gpu/pci": GPU, "detail/errors": ["BadTLP"], "repeats": 0 });
    let after = sysfs_count(GPU, "aer_dev_correctable", "BadTLP")?;
    ensure!(after == before + 1, "sysfs counts {before}, then {after}");
    let line = format!(
        "gtrace_pci_aer_errors_total{{device=\"{GPU}\",severity=\"correctable\",error=\"BadTLP\"}} {after}"
    );
    within(PATIENCE, "the metric agrees with sysfs", || {
        Ok(daemon.get_text("/metrics")?.contains(&line).then_some(()))
    })
    .with_context(|| line.clone())?;
    only(&daemon, 1)
}

/// That there are so many AER events and no more.
fn only(daemon: &Daemon, count: usize) -> Result<()> {
    // The next poll of sysfs would make a second event.
    std::thread::sleep(Duration::from_secs(3));
    let events = daemon.events(&["--kind", "aer"])?;
    ensure!(events.len() == count, "{count} events wanted: {events:#?}");
    Ok(())
}

fn nonfatal(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    inject(GPU, COMPLETION_TIMEOUT, 0)?;
    let event = aer(&daemon, NON_FATAL, &LOG_AND_TRACEPOINT)?;
    ensure!(event["gpu"]["pci"] == GPU, "{event:#}");
    ensure!(
        event["detail"]["errors"].to_string().contains("CmpltTO"),
        "{event:#}"
    );
    Ok(())
}

/// An error of the port is reported with the GPU below it.
fn port(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    let port = port_above()?;
    inject(&port, 0, BAD_TLP)?;
    let event = aer(&daemon, CORRECTED, &LOG_AND_TRACEPOINT)?;
    has!(event, { "detail/pci_device": port.as_str(), "gpu/pci": GPU });
    let found = daemon.events(&["--kind", "aer", "--gpu", GPU])?;
    ensure!(found.len() == 1, "--gpu finds {found:#?}");
    only(&daemon, 1)
}

fn storm(guest: &mut Guest) -> Result<()> {
    let wanted: u64 = if guest.long() { 10_000 } else { 2_000 };
    let daemon = watched(guest)?;
    let before = sysfs_count(GPU, "aer_dev_correctable", "BadTLP")?;
    let last_seq = |daemon: &Daemon| -> Result<u64> {
        let status = daemon.get("/api/v1/status")?;
        status["last_seq"].as_u64().context("no last_seq")
    };
    let first_seq = last_seq(&daemon)?;
    let status = CorrectableStatus::find(GPU)?;
    let (mut injected, mut counted) = (0, 0);
    let (mut unreported, mut noted) = (0, 0);
    while counted < wanted {
        ensure!(
            injected < 2 * wanted,
            "of {injected} errors sysfs counts {counted}"
        );
        for _ in 0..100 {
            // An error that comes before the kernel is done with the one before becomes one with it.
            while !status.is_clear_by(Instant::now() + QUIET)? {
                // Its interrupt reached nobody: with the next one it is found.
                unreported += 1;
                ensure!(
                    unreported <= 10,
                    "the kernel clears no error: {}",
                    interrupts()
                );
                guest.note(format!("an error lies there: {}", interrupts()))?;
                inject(GPU, 0, BAD_TLP)?;
                injected += 1;
            }
            inject(GPU, 0, BAD_TLP)?;
        }
        injected += 100;
        counted = sysfs_count(GPU, "aer_dev_correctable", "BadTLP")? - before;
        if counted >= noted + 1000 {
            noted = counted;
            guest.note(format!("{injected} errors, {counted} counted by sysfs"))?;
        }
    }
    let counted = stable("sysfs has counted every error", A_MOMENT, || {
        Ok(sysfs_count(GPU, "aer_dev_correctable", "BadTLP")? - before)
    })?;
    let by_tracepoint = |event: &Value| -> u64 {
        let list = event["witnesses"].as_array().map_or(&[][..], Vec::as_slice);
        let ours = list.iter().find(|w| w["source"] == "ras:aer_event");
        ours.and_then(|w| w["count"].as_u64()).unwrap_or(0)
    };
    // On a busy host the daemon, emulated, is minutes behind: as long as it goes on, it is waited for.
    let (mut last, mut since) = (0, Instant::now());
    let event = loop {
        let events = daemon.get_events()?;
        let all: Vec<_> = events.iter().filter(|e| e["kind"] == "aer").collect();
        let [event] = all[..] else {
            anyhow::bail!("one event wanted: {all:#?}\n{}", daemon.counts());
        };
        let reported = by_tracepoint(event);
        if reported == counted {
            break event.clone();
        }
        if reported != last {
            (last, since) = (reported, Instant::now());
        }
        ensure!(
            since.elapsed() < PATIENCE,
            "of {counted} errors ras:aer_event reports {reported} and no more:\n{}\n{event:#}",
            daemon.counts()
        );
        std::thread::sleep(Duration::from_millis(250));
    };
    // Of two errors that the kernel took for one it may have logged both.
    let reported = event["repeats"].as_u64().context("no repeats")? + 1;
    ensure!(
        (counted..=injected).contains(&reported),
        "{injected} injected, sysfs counts {counted}, reported {reported}, by {}: {event:#}",
        event["witnesses"]
    );
    only(&daemon, 1)?;
    let records = last_seq(&daemon)? - first_seq;
    guest.note(format!("{counted} errors, {records} records in the store"))?;
    ensure!(records < wanted / 10, "{records} records for one event");
    Ok(())
}

/// The machine's own error messages: the card cannot be read any more when the kernel reads it.
fn fatal(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    guest.monitor("pcie_aer_inject_error gpu0 DLP")?;
    let event = aer(&daemon, FATAL, &["ras:aer_event"])?;
    ensure!(event["gpu"]["pci"] == GPU, "{event:#}");
    ensure!(
        event["severity"] == "critical" || event["severity"] == "fatal",
        "{event:#}"
    );
    Ok(())
}

/// The port lost its link, as when a GPU falls off the bus.
fn surprise_down(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    let port = port_above()?;
    guest.monitor("pcie_aer_inject_error rp0 SDN")?;
    let event = daemon.event("Surprise Down of the port", |e| {
        e["kind"] == "aer" && e["detail"]["pci_device"] == port.as_str()
    })?;
    ensure!(event["gpu"]["pci"] == GPU, "{event:#}");
    ensure!(
        event["detail"]["errors"].to_string().contains("SDES"),
        "{event:#}"
    );
    Ok(())
}

fn hotplug(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    guest.monitor("device_del gpu0")?;
    let gone = daemon.wait_for(PATIENCE, "the slot and the lost GPU", |events| {
        let slot = |e: &&Value| e["kind"] == "pcie_hotplug" && e["gpu"]["pci"] == GPU;
        let lost = |e: &&Value| e["kind"] == "gpu_lost" && e["gpu"]["pci"] == GPU;
        let found = (events.iter().find(slot), events.iter().find(lost));
        Some((found.0?.clone(), found.1?.clone()))
    })?;
    ensure!(gone.0["detail"]["slot"].is_string(), "{:#}", gone.0);
    let lost_at = gone.1["boottime_ns"].as_u64();
    ensure!(lost_at.is_some(), "{:#}", gone.1);
    // QEMU lets the name go a moment after the guest let the device go.
    within(PATIENCE, "the card is put back", || {
        let added = guest.monitor("device_add e1000e,bus=rp0,netdev=n0,id=gpu0");
        Ok(added.ok())
    })?;
    daemon.event("a card in the slot", |e| {
        e["kind"] == "pcie_hotplug"
            && ["card_present", "link_up", "button_pressed"]
                .contains(&e["detail"]["hotplug"].as_str().unwrap_or(""))
            && e["boottime_ns"].as_u64() > lost_at
    })?;
    Ok(())
}

/// Removed from the tree without a word, as drivers do with a card that answers no more.
fn vanishes(guest: &mut Guest) -> Result<()> {
    let daemon = watched(guest)?;
    let device = Path::new("/sys/bus/pci/devices").join(GPU);
    fs::write(device.join("remove"), "1")?;
    let event = daemon.event("the lost GPU", |e| {
        e["kind"] == "gpu_lost" && e["gpu"]["pci"] == GPU
    })?;
    ensure!(witnesses(&event).contains(&"sysfs:pci"), "{event:#}");
    fs::write("/sys/bus/pci/rescan", "1")?;
    within(PATIENCE, "the card is found again", || {
        Ok(device.exists().then_some(()))
    })
}

/// A link that could be wider. No card that QEMU has could do more than one lane; its root port can,
/// so that one plays the GPU.
fn narrow(guest: &mut Guest) -> Result<()> {
    let port = port_above()?;
    let device = Path::new("/sys/bus/pci/devices").join(&port);
    let read = |name: &str| fs::read_to_string(device.join(name)).unwrap_or_default();
    let (now, most) = (read("current_link_width"), read("max_link_width"));
    guest.note(format!("width {} of {}", now.trim(), most.trim()))?;
    ensure!(now != most, "the link is not narrow: {now} of {most}");
    guest.load_stub(Generation::Current, &format!("gpus={port}"))?;
    let daemon = guest.daemon(&["--pci-interval-s", "2"])?;
    let event = daemon.event("an event of the narrow link", |e| {
        e["kind"] == "pcie_link" && e["gpu"]["pci"] == port.as_str()
    })?;
    for (field, lanes) in [("width", &now), ("max_width", &most)] {
        let lanes: u64 = lanes.trim().parse()?;
        ensure!(
            event["detail"][field] == lanes,
            "{field} is not {lanes}: {event:#}"
        );
    }
    ensure!(witnesses(&event) == ["sysfs:pci"], "{event:#}");
    Ok(())
}
