//! CUDA calls of running processes by `gtrace profile`, in the way that this kernel has: single uprobes on
//! 6.1, uprobe.multi on 6.12. A program in C counts by itself what it calls.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use gtrace_vm_tests::layout::{CUDA_CALLER, CUDA_LIBRARY, GTRACE};
use serde_json::Value;

use crate::guest::process::Killed;
use crate::guest::{Guest, LOGGED, PATIENCE, within};

cases! {
    Driver "uprobes_count_exactly" => exact, core, patience(300);
    Driver "uprobes_go_while_calls_run" => detach, patience(300);
    Driver "uprobes_doctor" => doctor;
}

/// How gtrace attaches on this kernel.
fn way(guest: &Guest) -> &'static str {
    match guest.kernel() {
        (major, minor) if (major, minor) >= (6, 13) => "uprobe.session",
        (major, minor) if (major, minor) >= (6, 6) => "uprobe.multi",
        _ => "single uprobes",
    }
}

/// The program, waiting for a line before each step; killed when dropped.
struct Caller {
    child: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Caller {
    /// It has opened the library, and waits.
    fn start(arguments: &[&str]) -> Result<Self> {
        let mut child = Command::new(CUDA_CALLER)
            .arg(CUDA_LIBRARY)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context(CUDA_CALLER)?;
        let input = child.stdin.take().context("a pipe was asked for")?;
        let output = child.stdout.take().context("a pipe was asked for")?;
        let output = BufReader::new(output);
        let mut caller = Self {
            child: Killed(child),
            input,
            output,
        };
        caller.until("open")?;
        Ok(caller)
    }

    fn pid(&self) -> u64 {
        self.child.id().into()
    }

    fn go_on(&mut self) -> Result<()> {
        Ok(self.input.write_all(b"\n")?)
    }

    fn until(&mut self, last: &str) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the program ended before {last:?}, after {lines:?}");
            }
            match line.trim_end() {
                line if line == last => return Ok(lines),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Numbers by the name of a function: calls, errors, bytes; and those of the ledger.
    fn deeds(&mut self) -> Result<BTreeMap<String, Vec<u64>>> {
        let lines = self.until("end")?;
        let parse = |line: &String| {
            let (name, numbers) = line.split_once(' ').context("no numbers")?;
            let numbers: Result<Vec<u64>, _> = numbers.split(' ').map(str::parse).collect();
            Ok((name.to_owned(), numbers?))
        };
        lines.iter().map(parse).collect()
    }
}

/// `gtrace profile`, attached.
struct Profile {
    child: Killed,
    log: PathBuf,
    out: PathBuf,
}

impl Profile {
    fn start(guest: &Guest, arguments: &[&str]) -> Result<Self> {
        let log = guest.scratch().join("profile.log");
        let out = guest.scratch().join("profile.json");
        let child = Command::new(GTRACE)
            .args(["profile", "--json", "--budget", "0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out)?)
            .stderr(fs::File::create(&log)?)
            .spawn()?;
        let mut profile = Self {
            child: Killed(child),
            log,
            out,
        };
        within(PATIENCE, "probes are attached", || {
            if let Some(status) = profile.child.try_wait()? {
                bail!("gtrace profile: {status}: {}", profile.log_text());
            }
            Ok(profile.log_text().contains("functions of").then_some(()))
        })?;
        Ok(profile)
    }

    fn log_text(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Ends it; what it has counted.
    fn end(mut self) -> Result<Value> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "{status}: {}", self.log_text());
        serde_json::from_slice(&fs::read(&self.out)?).context("no JSON")
    }
}

fn number(value: &Value, name: &str) -> Result<u64> {
    value[name]
        .as_u64()
        .with_context(|| format!("no {name} in {value}"))
}

/// What was counted of a process: calls, errors and bytes by function.
fn counted(profile: &Value, pid: u64) -> Result<BTreeMap<String, Vec<u64>>> {
    let mut found = BTreeMap::new();
    for row in profile["calls"].as_array().context("no calls")? {
        if row["pid"] != pid {
            continue;
        }
        let numbers = ["calls", "errors", "bytes"].map(|name| number(row, name));
        let numbers: Result<Vec<u64>> = numbers.into_iter().collect();
        let numbers = numbers?;
        let name = row["function"].as_str().context("no name")?;
        found.insert(name.to_owned(), numbers);
    }
    Ok(found)
}

/// Each failure is under a CUresult. Holds where nothing is called while counts are read.
fn results_add_up(profile: &Value) -> Result<()> {
    for row in profile["calls"].as_array().context("no calls")? {
        let results = row["results"].as_object().context("no results")?;
        let sum: u64 = results.values().filter_map(Value::as_u64).sum();
        ensure!(
            sum == number(row, "errors")?,
            "CUresults do not add up: {row}"
        );
    }
    Ok(())
}

/// The function whose allocations single uprobes do not see.
const PITCH: &str = "cuMemAllocPitch_v2";
const FREE: &str = "cuMemFree_v2";

fn exact(guest: &mut Guest) -> Result<()> {
    let way = way(guest);
    for who in ["one process", "all processes"] {
        let mut caller = Caller::start(&["many", "400", "4"])?;
        let pid = caller.pid().to_string();
        let arguments = match who {
            "one process" => vec!["--pid", pid.as_str()],
            _ => vec!["--all"],
        };
        let profile = Profile::start(guest, &arguments)?;
        caller.go_on()?;
        let mut deeds = caller.deeds()?;
        let report = profile.end()?;
        ensure!(report["way"] == way, "{} instead of {way}", report["way"]);
        ensure!(
            report["lost"]
                .as_object()
                .is_some_and(serde_json::Map::is_empty),
            "lost: {}",
            report["lost"]
        );
        results_add_up(&report)?;
        let seen = counted(&report, caller.pid())?;
        let mut ledger = deeds.remove("ledger").context("no ledger")?;
        // Of what single uprobes leave out, nothing is known.
        let pitch = match way {
            "single uprobes" => deeds.get(PITCH).cloned().context("no pitch")?,
            _ => vec![0; 3],
        };
        if way == "single uprobes" {
            deeds.retain(|name, _| seen.contains_key(name));
            for name in [
                "cuMemAlloc_v2",
                FREE,
                "cuCtxSynchronize",
                "cuStreamSynchronize",
            ] {
                ensure!(deeds.contains_key(name), "{name} was not seen: {seen:?}");
            }
            if let Some(free) = deeds.get_mut(FREE) {
                free[2] -= pitch[2];
            }
        }
        ensure!(seen == deeds, "{who}: seen {seen:?}\ninstead of {deeds:?}");

        let [allocated, freed, allocations, frees, _, _, unknown] = &mut ledger[..] else {
            bail!("{ledger:?} is no ledger");
        };
        *allocated -= pitch[2];
        *freed -= pitch[2];
        *allocations -= pitch[0];
        *frees -= pitch[0];
        *unknown += pitch[0];
        let memory = report["memory"].as_array().context("no ledgers")?;
        let memory = memory.iter().find(|memory| memory["pid"] == caller.pid());
        let memory = memory.with_context(|| format!("no ledger: {report}"))?;
        let names = [
            "allocated_bytes",
            "freed_bytes",
            "allocations",
            "frees",
            "failed_allocations",
            "failed_frees",
            "unknown_frees",
        ];
        let seen: Result<Vec<u64>> = names.into_iter().map(|name| number(memory, name)).collect();
        let seen = seen?;
        ensure!(seen == ledger, "ledger {seen:?} instead of {ledger:?}");
        guest.note(format!("{way}, {who}: {} calls", total(&deeds)))?;
    }
    Ok(())
}

fn total(deeds: &BTreeMap<String, Vec<u64>>) -> u64 {
    deeds.values().filter_map(|numbers| numbers.first()).sum()
}

/// Threads that call.
const THREADS: u64 = 3;

fn detach(guest: &mut Guest) -> Result<()> {
    let mut caller = Caller::start(&["until-signalled", "0", &THREADS.to_string()])?;
    caller.go_on()?;
    caller.until("spinning")?;
    let pid = caller.pid().to_string();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let profile = Profile::start(guest, &["--pid", &pid])?;
        // Until calls are seen; each has one error.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let report = profile.end()?;
        let counted = counted(&report, caller.pid())?;
        let Some([calls, errors, _]) = counted.get("cuStreamSynchronize").map(|row| &row[..])
        else {
            bail!("no calls were seen: {report}");
        };
        // Each call is an error. Those that end while the counts are read may be in one of them.
        let between = calls.abs_diff(*errors);
        ensure!(
            *errors > 0 && between <= THREADS,
            "{calls} calls, {errors} errors"
        );
        seen.push(*calls);
    }
    caller.go_on()?;
    let deeds = caller.deeds()?;
    let made = deeds["cuStreamSynchronize"][0];
    let sum: u64 = seen.iter().sum();
    ensure!(sum < made, "{sum} seen of {made} made");
    ensure!(
        deeds["cuStreamSynchronize"][1] == made,
        "a call went wrong: {deeds:?}"
    );
    guest.note(format!(
        "{seen:?} of {made} calls were seen, and all of them went well"
    ))
}

fn doctor(guest: &mut Guest) -> Result<()> {
    let (report, output) = crate::guest::doctor(&LOGGED)?;
    let facts = report["host"].as_array().context("no facts")?;
    let fact = facts.iter().find(|fact| fact["name"] == "uprobes");
    let fact = fact.with_context(|| format!("no uprobes in {report:#}"))?;
    let text = fact["value"].as_str().unwrap_or_default();
    let way = way(guest);
    ensure!(
        text.starts_with(way),
        "{text} instead of {way}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    guest.note(text)
}
