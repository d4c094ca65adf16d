//! NVIDIA's own driver on a GPU that is made of memory and answers: a stand-in for the GPU's system processor (GSP), which
//! executes no work (vm-tests/fakegpu/README.md).

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use gtrace_catalogue::Catalogue;
use gtrace_vm_tests::layout::{REAL_LIBRARIES, REAL_SMI};
use serde_json::Value;

use super::real::{compare, events, find, seen_so_far, sources_are};
use super::real_gsp_process::Program;
use super::xid::{ALL_THREE, of_code, witnesses};
use crate::guest::daemon::Daemon;
use crate::guest::real::{GPU, is_before_545, version};
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Real "real_gsp_opens" => opens, patience(180);
    Real "real_gsp_xids" => xids, patience(300);
    Real "real_gsp_silent" => silent, patience(300), idle;
    Real "real_gsp_nvidia_smi_agrees_with_a_judge" => judged, patience(180);
}

pub(super) const UUID: &str = "GPU-00112233-4455-6677-8899-aabbccddeeff";
pub(super) const NAME: &str = "NVIDIA H100 80GB HBM3";

/// Longer than a sample takes where the processor is emulated, and shared.
pub(super) const SAMPLE: &str = "60";
/// How long the first one may be on its way; after an attempt that failed the next is due in a minute.
pub(super) const FIRST_SAMPLE: Duration = Duration::from_secs(150);

/// A daemon with NVIDIA's own NVML, whose first sample is there. A sample may take `deadline` seconds.
pub(super) fn daemon(guest: &mut Guest, deadline: &str) -> Result<Daemon> {
    daemon_every(guest, "10", deadline)
}

/// The same, with so many seconds from one sample to the next.
pub(super) fn daemon_every(guest: &mut Guest, interval: &str, deadline: &str) -> Result<Daemon> {
    let library = format!("{REAL_LIBRARIES}/libnvidia-ml.so.1");
    let nvml = [
        "--nvml-library",
        &library,
        "--nvml-interval-s",
        interval,
        "--nvml-deadline-s",
        deadline,
    ];
    let daemon = guest.daemon(&[&nvml[..], &["--pci-interval-s", "1"]].concat())?;
    sources_are(&daemon, "active")?;
    guest.note("waiting for NVML's first sample")?;
    within(FIRST_SAMPLE, "NVML shows the GPU", || {
        let gpu = find(&daemon, GPU)?;
        Ok(gpu
            .filter(|gpu| gpu["sample"]["time"].is_string())
            .map(|_| ()))
    })
    .with_context(|| daemon.log_end())?;
    Ok(daemon)
}

pub(super) fn gpu_at(daemon: &Daemon, pci: &str) -> Result<Value> {
    find(daemon, pci)?.with_context(|| format!("the daemon does not show {pci}"))
}

pub(super) fn gpu(daemon: &Daemon) -> Result<Value> {
    gpu_at(daemon, GPU)
}

/// What NVIDIA's `nvidia-smi` prints.
pub(super) fn smi(args: &[&str]) -> Result<String> {
    let output = Command::new(REAL_SMI)
        .args(args)
        .env("LD_LIBRARY_PATH", REAL_LIBRARIES)
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "nvidia-smi {args:?}: {}: {text}",
        output.status
    );
    Ok(text)
}

fn opens(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let listed = smi(&["-L"])?;
    ensure!(
        listed.trim() == format!("GPU 0: {NAME} (UUID: {UUID})"),
        "{listed}"
    );
    let daemon = daemon(guest, SAMPLE)?;
    let gpu = gpu(&daemon)?;
    has!(gpu, { "uuid": UUID, "name": NAME, "driver_bound": "nvidia" });
    for source in ["nvml", "pci", "proc"] {
        ensure!(gpu["present_in"][source] == true, "{source}: {gpu:#}");
    }
    seen_so_far(&daemon)?;
    let faults: Vec<_> = events(&daemon)?
        .into_iter()
        .filter(|event| event["kind"] != "slow_call")
        .collect();
    ensure!(faults.is_empty(), "a GPU that answers has {faults:#?}");
    guest.note(format!("nvidia-smi and gtrace: {NAME}, {UUID}"))
}

/// So many Xids are under way at once: the stand-in keeps 64, and the kernel's log is small.
const BATCH: usize = 16;

/// So many programs have a channel each. The driver names the program whose channel an Xid is of.
const PROGRAMS: usize = 4;

fn xids(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let daemon = daemon(guest, SAMPLE)?;
    let programs = (0..PROGRAMS)
        .map(|nth| Program::start(&format!("train-{nth}"), 0))
        .collect::<Result<Vec<_>>>()?;
    let numbers: BTreeSet<_> = programs.iter().map(|program| program.channel).collect();
    ensure!(
        numbers.len() == PROGRAMS,
        "channels share a number: {numbers:?}"
    );
    let catalogue = Catalogue::builtin();
    let all: Vec<_> = catalogue
        .xids()
        .map(|entry| (entry.code, entry.name))
        .collect();
    ensure!(all.len() >= 40, "the catalogue has {} Xids", all.len());
    // Two of three are of a program's channel; the others have neither channel nor process.
    let of = |code: u32| (!code.is_multiple_of(3)).then(|| &programs[code as usize % PROGRAMS]);
    let text = |code: u32, name: &str| match of(code) {
        Some(program) => format!("Ch {:08x}, {name}", program.channel),
        None => name.to_owned(),
    };
    for batch in all.chunks(BATCH) {
        for (code, name) in batch {
            let channel = match of(*code) {
                Some(program) => format!("channel {} ", program.channel),
                None => String::new(),
            };
            guest.gpu(&format!("xid {code} {channel}{}", text(*code, name)))?;
        }
        let (last, _) = batch[batch.len() - 1];
        daemon.wait_for(PATIENCE, &format!("Xid {last}"), |events| {
            (!of_code(events, last).is_empty()).then_some(())
        })?;
    }
    seen_so_far(&daemon)?;
    let events = daemon.events(&[])?;
    let mut wrong = BTreeMap::new();
    let names_programs = is_before_545(&version()?)?;
    for (code, name) in &all {
        let checked = check_xid(
            &events,
            *code,
            &text(*code, name),
            of(*code),
            names_programs,
        );
        if let Err(error) = checked {
            wrong.insert(*code, format!("{error:#}"));
        }
    }
    let others: Vec<_> = events
        .iter()
        .filter(|e| e["kind"] != "xid" && e["kind"] != "slow_call" && e["gpu"]["pci"] == GPU)
        .map(|e| format!("{}: {}", e["kind"], e["message"]))
        .collect();
    let with_process = all.iter().filter(|(code, _)| of(*code).is_some()).count();
    guest.note(format!(
        "Xids: {}, of a channel: {with_process}, found right: {}, beside them: {others:?}",
        all.len(),
        all.len() - wrong.len()
    ))?;
    ensure!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

/// One event has the Xid with all that its line says, and names `program` where it is of that one's channel, which some
/// drivers do not always.
fn check_xid(
    events: &[Value],
    code: u32,
    text: &str,
    program: Option<&Program>,
    names_programs: bool,
) -> Result<()> {
    let [event] = of_code(events, code)[..] else {
        bail!("{} events", of_code(events, code).len());
    };
    ensure!(
        event["gpu"]["pci"] == GPU && event["gpu"]["uuid"] == UUID,
        "{}",
        event["gpu"]
    );
    let message = event["message"].as_str().unwrap_or_default();
    ensure!(message.ends_with(text), "{message}");
    ensure!(
        witnesses(event) == ALL_THREE,
        "seen by {:?}",
        witnesses(event)
    );
    let channel = program.map(|program| format!("{:#x}", program.channel));
    // Such a driver names in that one who logs it: it means a call of its own.
    let of_logger = code == 119 && !names_programs;
    let unnamed = event["process"].is_null();
    match program {
        Some(program) => ensure!(
            process(event) == (u64::from(program.pid()), program.name.clone())
                || !names_programs && unnamed
                || of_logger,
            "{} is named, and {} {} has the channel",
            event["process"],
            program.pid(),
            program.name
        ),
        None => ensure!(unnamed, "{}", event["process"]),
    }
    ensure!(
        event["detail"]["channel"].as_str() == channel.as_deref(),
        "channel {} of {message}",
        event["detail"]["channel"]
    );
    Ok(())
}

/// The process that the event names.
fn process(event: &Value) -> (u64, String) {
    let comm = event["process"]["comm"].as_str().unwrap_or_default();
    (
        event["process"]["pid"].as_u64().unwrap_or_default(),
        comm.to_owned(),
    )
}

fn silent(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let daemon = daemon(guest, "10")?;
    guest.gpu("mute 1")?;
    let mut smi = Command::new(REAL_SMI)
        .env("LD_LIBRARY_PATH", REAL_LIBRARIES)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let waiting = format!("Xid 119 of a process that asks: nvidia-smi is {}", smi.id());
    let event = daemon.wait_for(PATIENCE, &waiting, |events| {
        of_code(events, 119)
            .into_iter()
            .find(|event| witnesses(event) == ALL_THREE)
            .cloned()
    })?;
    ensure!(event["gpu"]["pci"] == GPU, "{event:#}");
    let (pid, comm) = process(&event);
    guest.note(format!("Xid 119 names {pid} {comm}"))?;
    // Silence for longer than the daemon waits for its NVML.
    thread::sleep(Duration::from_secs(30));
    let events = daemon.events(&[])?;
    let named: Vec<_> = of_code(&events, 119).into_iter().map(process).collect();
    guest.note(format!("Xids 119 in half a minute: {named:?}"))?;
    let mut kinds = BTreeMap::<_, u32>::new();
    for event in &events {
        let of = (event["kind"].as_str().unwrap_or_default(), process(event).1);
        *kinds.entry(of).or_default() += 1;
    }
    guest.note(format!("events by kind and program: {kinds:?}"))?;
    // Before anything is judged: nobody who waits for the GPU ends while it is silent.
    guest.gpu("mute 0")?;
    let _ = smi.wait()?;
    // The daemon itself has read the driver's file on the GPU before, and asks for nothing else.
    let known = |comm: &str| comm == "nvidia-smi" || comm == "gtrace-nvml";
    ensure!(
        named.iter().all(|(pid, comm)| *pid != 0 && known(comm)),
        "others than nvidia-smi and gtrace's NVML wait for the GPU: {named:?}"
    );
    ensure!(named.len() <= 6, "a storm: {named:?}");
    within(Duration::from_secs(120), "NVML gives samples again", || {
        let component = daemon.get("/api/v1/status")?;
        Ok(nvml_is_healthy(&component).then_some(()))
    })?;
    Ok(())
}

fn nvml_is_healthy(status: &Value) -> bool {
    let components = status["components"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let nvml = components
        .iter()
        .find(|component| component["name"] == "nvml");
    nvml.is_some_and(|nvml| nvml["health"]["state"] == "healthy")
}

fn judged(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    compare(guest, &[REAL_SMI])?;
    compare(guest, &[REAL_SMI, "-q"])
}
