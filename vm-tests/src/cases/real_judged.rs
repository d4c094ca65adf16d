//! What gtrace says of the calls of NVIDIA's own driver, beside what somebody else wrote down of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{
    BUSYBOX, GTRACE, REAL_CALLER, REAL_JUDGE, REAL_LIBRARIES, REAL_SMI, REAL_UVM,
};
use serde_json::Value;

use crate::guest::Guest;

cases! {
    Real "real_calls_agree_with_a_judge" => judged;
    Real "real_nvidia_smi_agrees_with_a_judge" => judged_smi;
    Real "real_cuinit_agrees_with_a_judge" => judged_cuda, patience(300);
    Real "real_uvm_calls_agree_with_the_drivers_headers" => judged_uvm;
}

/// A call as judge and gtrace both describe it: device, request, code, status, what was returned, and the request's name,
/// which not every judge knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    device: String,
    request: String,
    code: String,
    status: String,
    returned: i64,
    name: Option<String>,
}

/// The calls of each thread in their order, each with its duration in nanoseconds.
type Calls = BTreeMap<u64, Vec<(Call, u64)>>;

/// What the judge wrote down.
fn of_judge(text: &str) -> Result<Calls> {
    let mut calls = Calls::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [
            thread,
            device,
            request,
            code,
            status,
            returned,
            micros,
            ref name @ ..,
        ] = words[..]
        else {
            anyhow::bail!("the judge wrote {line:?}");
        };
        let call = Call {
            device: device.to_owned(),
            request: request.to_owned(),
            code: code.to_owned(),
            status: status.to_owned(),
            returned: returned.parse()?,
            name: name.first().map(|name| (*name).to_owned()),
        };
        let nanos = (micros.parse::<u64>()? + 1) * 1000;
        calls
            .entry(thread.parse()?)
            .or_default()
            .push((call, nanos));
    }
    Ok(calls)
}

/// What `gtrace trace --driver --json` printed: the ioctls of it.
fn of_gtrace(text: &str) -> Result<Calls> {
    let mut calls = Calls::new();
    for line in text.lines() {
        let value: Value =
            serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))?;
        let text = |field: &str| value[field].as_str().unwrap_or("-").to_owned();
        if ["OPEN", "CLOSE", "MMAP"].contains(&text("op").as_str()) {
            continue;
        }
        let call = Call {
            device: text("device"),
            request: text("ioctl"),
            code: text("code"),
            status: text("status"),
            returned: value["ret"].as_i64().context("no ret")?,
            name: Some(text("op")),
        };
        let thread = value["tid"].as_u64().context("no tid")?;
        let nanos = value["latency_ns"].as_u64().context("no latency")?;
        calls.entry(thread).or_default().push((call, nanos));
    }
    Ok(calls)
}

/// Runs a program under `gtrace trace` and with the judge in it, and compares what both saw, call by call.
pub(super) fn compare(guest: &mut Guest, program: &[&str]) -> Result<()> {
    let path = guest.scratch().join("judge");
    // The judge appends; a case may compare twice.
    let _ = fs::remove_file(&path);
    // It waits until it is traced.
    let mut shell = Command::new(BUSYBOX)
        .args([
            "sh",
            "-c",
            "read go; export LD_PRELOAD=$JUDGE; exec \"$@\"",
            "sh",
        ])
        .args(program)
        .env("JUDGE", REAL_JUDGE)
        .env("JUDGE_OUT", &path)
        .env("LD_LIBRARY_PATH", REAL_LIBRARIES)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut trace = Command::new(GTRACE)
        .args([
            "trace",
            "--driver",
            "--json",
            "--pid",
            &shell.id().to_string(),
        ])
        .stdin(Stdio::null())
        .stdout(File::create(guest.scratch().join("trace"))?)
        .stderr(Stdio::piped())
        .spawn()?;
    let mut errors = BufReader::new(trace.stderr.take().context("no stderr")?);
    let mut first_line = String::new();
    errors.read_line(&mut first_line)?;
    ensure!(first_line.contains("probes on the driver"), "{first_line}");
    shell.stdin.take().context("no stdin")?.write_all(b"go\n")?;
    let ended = shell.wait()?;
    // What was called last may be on its way.
    thread::sleep(Duration::from_secs(1));
    if trace.try_wait()?.is_none() {
        let pid = rustix::process::Pid::from_child(&trace);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    }
    let _ = trace.wait()?;
    let judged = of_judge(&fs::read_to_string(&path).context("the judge wrote nothing")?)?;
    let traced = of_gtrace(&fs::read_to_string(guest.scratch().join("trace"))?)?;
    ensure!(
        judged.keys().eq(traced.keys()),
        "threads {:?} by the judge, {:?} by gtrace",
        judged.keys(),
        traced.keys()
    );
    let mut all = 0;
    for (thread, judged) in &judged {
        let traced = &traced[thread];
        for (nth, (ours, judges)) in traced.iter().zip(judged).enumerate() {
            let mut seen = ours.0.clone();
            seen.name = seen.name.filter(|_| judges.0.name.is_some());
            ensure!(
                seen == judges.0,
                "call {nth} of thread {thread}: gtrace {:?}, judge {:?}",
                ours.0,
                judges.0
            );
            ensure!(
                ours.1 <= judges.1,
                "call {nth} took {} ns by gtrace, and {} ns around it",
                ours.1,
                judges.1
            );
        }
        ensure!(
            traced.len() == judged.len(),
            "{} calls by gtrace, {} by the judge",
            traced.len(),
            judged.len()
        );
        all += judged.len();
    }
    guest.note(format!(
        "{}: calls that agree: {all}, {ended}",
        program.join(" ")
    ))
}

fn judged(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    compare(guest, &[REAL_CALLER, "calls"])
}

fn judged_smi(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    compare(guest, &[REAL_SMI])
}

fn judged_cuda(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    compare(guest, &[REAL_CALLER, "cuda"])
}

fn judged_uvm(guest: &mut Guest) -> Result<()> {
    guest.load_real()?;
    compare(guest, &[REAL_UVM])
}
