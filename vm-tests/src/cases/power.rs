//! The host loses its power while an incident is recorded: what was readable before is there after it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::Value;

use crate::guest::daemon::Daemon;
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Power "power_loss_in_a_recording" => recording, patience(180);
}

const DISK: &str = "/disk";

/// Rounds without and with `--long`.
const ROUNDS: [usize; 2] = [4, 100];

/// A recording lasts so long here, so that the power goes before, in and after it.
const AFTER_S: u64 = 3;

/// The power goes this much later in each round than in the one before, beginning anew after some seconds.
const STEP: Duration = Duration::from_millis(1_300);

/// What the store has committed is on the disk within half a second, as docs/store.md has it, or when an emulated disk has
/// taken it.
const SETTLED: Duration = Duration::from_millis(1_500);

/// How many of the last rounds are judged again; a report is made of the last alone, as it takes a while here.
const JUDGED: usize = 3;

/// What must be on the disk whatever happens: a line a round, with what was readable in it.
const KNOWN: &str = "/disk/known";

/// One line of [`KNOWN`].
struct Round {
    incident: String,
    /// Whether its evidence was readable too.
    whole: bool,
}

fn known() -> Result<Vec<Round>> {
    let text = fs::read_to_string(KNOWN).unwrap_or_default();
    let lines = text.lines().map(|line| {
        let (incident, whole) = line.split_once(' ').context("half a line")?;
        Ok(Round {
            incident: incident.to_owned(),
            whole: whole == "true",
        })
    });
    lines.collect()
}

/// Each run of it is a round: it judges what the rounds before have left, and ends without power.
fn recording(guest: &mut Guest) -> Result<()> {
    if !Path::new(DISK).is_dir() {
        fs::create_dir(DISK)?;
    }
    mount("/dev/vda", DISK, "ext4", MountFlags::empty(), None).context("the disk")?;
    let after = AFTER_S.to_string();
    let daemon = guest.daemon_in(
        &Path::new(DISK).join("daemon"),
        &["--recording-after-s", &after],
    )?;
    let known = known()?;
    judge(&daemon, &known)?;
    let rounds = ROUNDS[usize::from(guest.long())];
    if known.len() < rounds {
        return round(guest, &daemon, known.len());
    }
    let interrupted = known.iter().filter(|round| !round.whole).count();
    guest.note(format!(
        "{rounds} losses of power, {interrupted} of them before the evidence was readable"
    ))?;
    drop(daemon);
    unmount(DISK, UnmountFlags::empty()).context("the disk stays in use")
}

/// Everything that was readable is there, whole or marked as interrupted, and the store's chain holds.
fn judge(daemon: &Daemon, known: &[Round]) -> Result<()> {
    for (age, round) in known.iter().rev().take(JUDGED).enumerate() {
        let id = &round.incident;
        let incident = within(PATIENCE, "the incident is finished", || {
            let incident = daemon.get(&format!("/api/v1/incidents/{id}"))?;
            let finished = !list(&incident, "evidence").is_empty() || interrupted(&incident);
            Ok(finished.then_some(incident))
        })
        .with_context(|| daemon.log_end())?;
        ensure!(
            !round.whole || !list(&incident, "evidence").is_empty(),
            "its evidence was readable and is not any more: {incident:#}"
        );
        if age > 0 {
            continue;
        }
        let report = daemon.dir().join("report.html");
        let report = report.to_string_lossy();
        for args in [
            &["report", "--incident", id, "--out", &report][..],
            &["report", "verify", &report],
        ] {
            succeeds(daemon, args)?;
        }
        fs::remove_file(&*report)?;
    }
    succeeds(daemon, &["events", "--verify"])
}

fn succeeds(daemon: &Daemon, args: &[&str]) -> Result<()> {
    let output = daemon.gtrace(args)?;
    if !output.status.success() {
        bail!(
            "{args:?} ended with {}: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

fn list<'a>(incident: &'a Value, name: &str) -> &'a [Value] {
    incident[name].as_array().map_or(&[], Vec::as_slice)
}

fn interrupted(incident: &Value) -> bool {
    let why = |missing: &Value| missing["why"].to_string().contains("interrupted");
    list(incident, "missing").iter().any(why)
}

/// A fault, and the power goes.
fn round(guest: &mut Guest, daemon: &Daemon, nth: usize) -> Result<()> {
    let gpu = format!("0000:{:02x}:00.0", nth % 200 + 1);
    succeeds(daemon, &["inject", "xid", "79", "--gpu", &gpu])?;
    let of_gpu = |incident: &Value| {
        let gpus = &incident["affected"]["gpus"];
        gpus[0]["pci"] == *gpu && incident["state"] == "open"
    };
    let incident = within(PATIENCE, "the incident", || {
        let all = daemon.get("/api/v1/incidents")?;
        Ok(all
            .as_array()
            .context("no list")?
            .iter()
            .find(|i| of_gpu(i))
            .cloned())
    })
    .with_context(|| daemon.log_end())?;
    let id = incident["id"].as_str().context("no id")?;
    std::thread::sleep(SETTLED + STEP * (nth % 5) as u32);
    let now = daemon.get(&format!("/api/v1/incidents/{id}"))?;
    let whole = !list(&now, "evidence").is_empty();
    let mut file = File::options().create(true).append(true).open(KNOWN)?;
    file.write_all(format!("{id} {whole}\n").as_bytes())?;
    file.sync_all()?;
    // The name of a new file is the directory's.
    File::open(DISK)?.sync_all()?;
    guest.note(format!("round {}: {id}, whole: {whole}", nth + 1))?;
    guest.power_cycle()
}
