//! As many readings as of 24 hours, without the time between them: gtrace's process that asks NVIDIA's NVML keeps nothing.
//! On a host where a reading takes long, as many of them as there is time for; the case says how many.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{GTRACE, REAL_LIBRARIES};
use serde_json::Value;

use super::reload::held;
use crate::guest::Guest;
use crate::skip;

cases! {
    Real "real_gsp_readings_of_a_day" => day, patience(180);
}

/// Of 24 hours at the interval that gtrace has by default, 10 s.
const READINGS: u64 = 24 * 3600 / 10;

/// After so many, libraries have loaded and allocated what they need.
const WARM_UP: u64 = 200;

/// Longer than this they do not take.
const LIMIT: Duration = Duration::from_secs(80 * 60);

/// What the process may have more after all of them, in bytes: what allocators keep, and of each reading less than any
/// object that is forgotten.
fn slack(readings: u64) -> u64 {
    (128 << 10) + 16 * readings
}

/// A few, as each is asked for five figures.
const LINKS: usize = 2;

/// How often the case says that it goes on.
const SIGN: Duration = Duration::from_secs(60);

fn day(guest: &mut Guest) -> Result<()> {
    if !guest.long() {
        skip!("{READINGS} readings take many minutes: `--long` has it");
    }
    let _open = guest.load_answering_with(&format!("nvlinks={LINKS}"))?;
    // Where no bytes move, NVML measures each direction of PCIe eleven times, 20 ms each.
    for direction in ["pcie_sent", "pcie_received"] {
        guest.gpu(&format!("reading {direction} 1000"))?;
    }
    let mut child = Command::new(GTRACE)
        .args(["nvml-child", "--library"])
        .arg(format!("{REAL_LIBRARIES}/libnvidia-ml.so.1"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let pid = child.id();
    let mut ask = child.stdin.take().context("a pipe was asked for")?;
    let mut answers = BufReader::new(child.stdout.take().context("a pipe was asked for")?);
    let begin = Instant::now();
    let mut noted = begin;
    let mut first = None;
    let mut done = 0;
    let mut line = String::new();
    for id in 1..=WARM_UP + READINGS {
        // The figures change, so that none is one that was kept.
        let celsius = 30 + id % 50;
        guest.gpu(&format!("reading temperature {celsius}"))?;
        writeln!(ask, r#"{{"id":{id},"op":"sample"}}"#)?;
        // Lines about the GPU come before the one that ends the answer.
        let mut gpu = Value::Null;
        loop {
            line.clear();
            ensure!(
                answers.read_line(&mut line)? != 0,
                "the process ended: {:?}",
                child.wait()?
            );
            let mut answer: Value = serde_json::from_str(&line)?;
            ensure!(
                answer["id"] == id && answer["error"].is_null(),
                "{answer:#}"
            );
            if answer["gpu"].is_object() {
                gpu = answer["gpu"].take();
            } else if answer["ok"].is_object() {
                break;
            }
        }
        ensure!(
            gpu["sample"]["temperature"]["gpu"] == celsius
                && gpu["sample"]["nvlinks"].as_array().map(Vec::len) == Some(LINKS),
            "reading {id}: {gpu:#}"
        );
        if id == WARM_UP {
            first = Some(held(pid)?);
        }
        done = id;
        if id > WARM_UP && begin.elapsed() > LIMIT {
            break;
        }
        if noted.elapsed() > SIGN {
            noted = Instant::now();
            let (files, bytes) = held(pid)?;
            guest.note(format!(
                "{id} readings in {:.0?}: open files {files:?}, RssAnon {} KiB",
                begin.elapsed(),
                bytes >> 10
            ))?;
        }
    }
    let (first, last) = (first.context("a first measurement")?, held(pid)?);
    let threads = fs::read_dir(format!("/proc/{pid}/task"))?.count();
    let readings = done.saturating_sub(WARM_UP);
    guest.note(format!(
        "{readings} readings of {READINGS}, {:.0?} in all: RssAnon {} KiB before, {} KiB after, open files {:?} and {:?}, threads {threads}",
        begin.elapsed(),
        first.1 >> 10,
        last.1 >> 10,
        first.0,
        last.0
    ))?;
    drop(ask);
    ensure!(child.wait()?.success(), "the process ended badly");
    ensure!(
        last.0 == first.0 && last.1 <= first.1 + slack(readings),
        "open files and bytes: {first:?} before, {last:?} after"
    );
    Ok(())
}
