//! Programs with channels on a GPU that is made of memory: the driver itself lists them, and names them in Xids of their channels.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::Helper as HelperFn;
use super::real::one;
use super::real_gsp::{FIRST_SAMPLE, SAMPLE, UUID, daemon_every, gpu, smi};
use crate::guest::channel::Channel;
use crate::guest::process::Helper;
use crate::guest::real::{is_before_545, version};
use crate::guest::{Guest, within};

cases! {
    Real "real_gsp_processes" => processes, patience(240);
}

pub(super) const HELPERS: &[HelperFn] = &[("channel", hold)];

/// A process of its own that has a channel.
pub(super) struct Program {
    helper: Helper,
    /// The name of its thread, which the driver notes when it asks for the channel.
    pub(super) name: String,
    /// The number of its channel.
    pub(super) channel: u32,
}

impl Program {
    /// Starts one; it also has so many MiB of video memory.
    pub(super) fn start(name: &str, mib: u32) -> Result<Self> {
        let mut helper = Helper::start("channel", &[name, &mib.to_string()])?;
        let line = helper
            .line()
            .context("the driver makes no channel; the kernel's log says why")?;
        Ok(Self {
            helper,
            name: name.to_owned(),
            channel: line
                .parse()
                .with_context(|| format!("{line:?} is no channel"))?,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.helper.pid()
    }
}

/// The helper: makes a channel, says its number and keeps it.
fn hold(args: &[String]) -> Result<()> {
    let [name, mib] = args else {
        bail!("`channel` wants a name and MiB");
    };
    fs::write("/proc/self/comm", name)?;
    let channel = Channel::make(mib.parse::<u32>()? << 20)?;
    println!("{}", channel.number);
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Processes of the GPU as the daemon's newest sample has them: pid and bytes.
fn sampled(gpu: &Value) -> Vec<(u64, u64)> {
    let list = gpu["sample"]["processes"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut found: Vec<_> = list
        .iter()
        .map(|process| {
            (
                process["pid"].as_u64().unwrap_or_default(),
                process["used_memory"].as_u64().unwrap_or_default(),
            )
        })
        .collect();
    found.sort_unstable();
    found
}

/// What `nvidia-smi` lists: pid and MiB.
fn listed() -> Result<Vec<(u64, u64)>> {
    let text = smi(&[
        "--query-compute-apps=pid,used_gpu_memory",
        "--format=csv,noheader,nounits",
    ])?;
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (pid, mib) = line
            .split_once(", ")
            .with_context(|| format!("nvidia-smi printed {line:?}"))?;
        found.push((pid.trim().parse()?, mib.trim().parse()?));
    }
    found.sort_unstable();
    Ok(found)
}

fn processes(guest: &mut Guest) -> Result<()> {
    const MIB: [u32; 2] = [256, 1000];
    let _open = guest.load_answering()?;
    let daemon = daemon_every(guest, "2", SAMPLE)?;
    ensure!(
        sampled(&gpu(&daemon)?).is_empty(),
        "nobody has a channel yet: {:#}",
        gpu(&daemon)?
    );
    let mut programs = Vec::new();
    for (nth, mib) in MIB.into_iter().enumerate() {
        programs.push(Program::start(&format!("train-{nth}"), mib)?);
    }
    let mut expected: Vec<_> = programs
        .iter()
        .zip(MIB)
        .map(|(program, mib)| (u64::from(program.pid()), u64::from(mib)))
        .collect();
    expected.sort_unstable();
    let printed = listed()?;
    ensure!(
        printed == expected,
        "programs with their MiB: {expected:?}, nvidia-smi: {printed:?}"
    );
    let in_bytes: Vec<_> = expected
        .iter()
        .map(|(pid, mib)| (*pid, mib << 20))
        .collect();
    within(FIRST_SAMPLE, "a sample has both programs", || {
        Ok((sampled(&gpu(&daemon)?) == in_bytes).then_some(()))
    })
    .with_context(|| format!("{expected:?}: {:#}", gpu(&daemon).unwrap_or_default()))?;
    guest.note(format!("nvidia-smi and gtrace: pid and MiB {printed:?}"))?;
    // A fault of the first one's channel names that one, and not the other.
    let [first, _] = &programs[..] else {
        bail!("two programs were started");
    };
    guest.gpu(&format!(
        "xid 31 channel {0} Ch {0:08x}, intr 00000000. MMU Fault",
        first.channel
    ))?;
    let event = one(&daemon, 31)?;
    let named =
        event["process"]["pid"] == first.pid() && event["process"]["comm"] == first.name.as_str();
    let need_not = !is_before_545(&version()?)? && event["process"].is_null();
    ensure!(
        (named || need_not)
            && event["gpu"]["uuid"] == UUID
            && event["detail"]["channel"] == format!("{:#x}", first.channel),
        "{event:#}"
    );
    guest.note(format!("Xid 31: {}", event["message"]))?;
    // Who ends is listed no more.
    drop(programs);
    within(FIRST_SAMPLE, "a sample without programs", || {
        Ok(sampled(&gpu(&daemon)?).is_empty().then_some(()))
    })
}
