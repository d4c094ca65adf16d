//! Two GPUs that are made of memory, and NVIDIA's own driver: what is one's is not reported of the other.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::calls::source_is;
use super::real::{one, seen_so_far};
use super::real_gsp::{FIRST_SAMPLE, SAMPLE, UUID, daemon, gpu_at, smi};
use super::xid::of_code;
use crate::guest::daemon::Daemon;
use crate::guest::real::{GPU, SECOND_GPU};
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Real "real_gsp_two_gpus" => two, patience(300);
    Real "real_gsp_two_of_which_one_is_silent" => one_is_silent, patience(300), idle;
}

/// One more in the last byte, which began at 0xff.
const SECOND_UUID: &str = "GPU-00112233-4455-6677-8899-aabbccddee00";

/// What is set of each.
const TEMPERATURES: [u32; 2] = [41, 63];

/// Waits until both have a sample.
fn both_sampled(daemon: &Daemon) -> Result<[Value; 2]> {
    within(FIRST_SAMPLE, "both GPUs have a sample", || {
        let gpus = [gpu_at(daemon, GPU)?, gpu_at(daemon, SECOND_GPU)?];
        let sampled = |gpu: &Value| gpu["sample"]["time"].is_string();
        Ok(gpus.iter().all(sampled).then_some(gpus))
    })
    .with_context(|| daemon.log_end())
}

fn two(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_two_answering()?;
    for (nth, celsius) in TEMPERATURES.iter().enumerate() {
        guest.gpu(&format!("gpu {nth} reading temperature {celsius}"))?;
    }
    let fields = "--query-gpu=pci.bus_id,uuid,temperature.gpu";
    let printed = smi(&[fields, "--format=csv,noheader"])?;
    let expected = format!(
        "00000001:01:00.0, {UUID}, {}\n00000001:01:01.0, {SECOND_UUID}, {}\n",
        TEMPERATURES[0], TEMPERATURES[1]
    );
    ensure!(
        printed.to_lowercase() == expected.to_lowercase(),
        "{printed}"
    );
    let daemon = daemon(guest, SAMPLE)?;
    let gpus = both_sampled(&daemon)?;
    for ((gpu, uuid), celsius) in gpus.iter().zip([UUID, SECOND_UUID]).zip(TEMPERATURES) {
        has!(gpu, { "uuid": uuid, "sample/temperature/gpu": celsius });
    }
    guest.gpu("gpu 1 xid 31 Ch 00000010, of the second")?;
    guest.gpu("gpu 0 xid 13 Ch 00000011, of the first")?;
    for (code, pci, uuid) in [(31, SECOND_GPU, SECOND_UUID), (13, GPU, UUID)] {
        let event = one(&daemon, code)?;
        has!(event, { "gpu/pci": pci, "gpu/uuid": uuid });
    }
    guest.note(printed)
}

/// NVML is asked by one process, GPU after GPU: the silent one is left out after it has kept that process waiting once.
fn one_is_silent(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_two_answering()?;
    let daemon = daemon(guest, "10")?;
    both_sampled(&daemon)?;
    guest.gpu("gpu 1 mute 1")?;
    let silent = daemon.wait_for(PATIENCE, "Xid 119", |events| {
        of_code(events, 119).first().map(|event| (*event).clone())
    })?;
    has!(silent, { "gpu/pci": SECOND_GPU, "gpu/uuid": SECOND_UUID });
    guest.gpu("gpu 0 xid 13 Ch 00000011, beside a silent GPU")?;
    daemon.wait_for(PATIENCE, "an Xid of the other GPU", |events| {
        let of_first = |event: &&Value| event["gpu"]["uuid"] == UUID;
        of_code(events, 13).into_iter().find(of_first).cloned()
    })?;
    // NVIDIA's own program reads the other one.
    let printed = smi(&[
        "-i",
        "0",
        "--query-gpu=temperature.gpu",
        "--format=csv,noheader",
    ])?;
    ensure!(printed.trim() == "35", "{printed}");
    guest.gpu("gpu 0 reading temperature 77")?;
    let silent = within(FIRST_SAMPLE, "a sample of the one that answers", || {
        let gpus = [gpu_at(&daemon, GPU)?, gpu_at(&daemon, SECOND_GPU)?];
        let [first, second] = &gpus;
        let seen = first["sample"]["temperature"]["gpu"] == 77 && second["nvml_error"].is_string();
        Ok(seen.then(|| second.clone()))
    })
    .with_context(|| daemon.log_end())?;
    ensure!(silent["sample"].is_null(), "{silent:#}");
    guest.note(format!("{SECOND_GPU}: {}", silent["nvml_error"]))?;
    source_is(&daemon, "nvml", "degraded")?;
    seen_so_far(&daemon)?;
    let events = daemon.events(&[])?;
    let wrong: Vec<_> = events
        .iter()
        .filter(|event| {
            let gpu = &event["gpu"]["pci"];
            event["kind"] == "gpu_lost" && (gpu == GPU || gpu == SECOND_GPU)
        })
        .collect();
    ensure!(wrong.is_empty(), "a silent GPU is not lost: {wrong:#?}");
    guest.gpu("gpu 1 mute 0")?;
    within(FIRST_SAMPLE, "samples of both again", || {
        let gpus = [gpu_at(&daemon, GPU)?, gpu_at(&daemon, SECOND_GPU)?];
        let shown = gpus
            .each_ref()
            .map(|gpu| gpu["sample"]["temperature"]["gpu"].as_u64());
        Ok((shown == [Some(77), Some(35)]).then_some(()))
    })
    .with_context(|| daemon.log_end())
}
