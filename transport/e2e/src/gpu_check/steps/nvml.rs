//! NVML function by function, and the tool that everybody knows.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::Done;
use crate::gpu_check::place::Place;
use crate::nvml::compare::{Answers, Comparison, answers, compare, nvidia_smi as read};
use crate::process;
use crate::server::{Server, Via};

fn output(place: &Place, command: &mut Command) -> Result<String> {
    let outcome = process::run(command, place.ground.limit)?;
    ensure!(outcome.status.success(), "it ended with {outcome}");
    Ok(outcome.stdout)
}

fn exec(place: &Place, server: &Server, via: Via) -> Command {
    let mut command = server.exec(via);
    place.ground.clean(&mut command);
    command.arg("--");
    command
}

/// The comparison of all links, and how many answers there are.
fn compared(
    place: &Place,
    reads: fn(&str) -> Answers,
    direct: impl Fn() -> Command,
    remote: impl Fn(&Server, Via) -> Command,
) -> Result<(usize, Comparison)> {
    let server = Server::start_with(&place.ground.gtrace, &place.ground.gpu, &[], &[])?;
    let mut before = reads(&output(place, &mut direct()).context("directly")?);
    let mut all = Comparison::default();
    for via in Via::ALL {
        let text = output(place, &mut remote(&server, via));
        let remote = reads(&text.with_context(|| format!("over {}", via.name()))?);
        let after = reads(&output(place, &mut direct()).context("directly")?);
        let found = compare(&before, &remote, &after);
        all.same += found.same;
        all.changing.extend(found.changing);
        let reported = found.different.iter();
        all.different
            .extend(reported.map(|line| format!("{}: {line}", via.name())));
        before = after;
    }
    ensure!(!before.is_empty(), "nothing was answered");
    ensure!(
        all.different.is_empty(),
        "{} answers differ:\n{}",
        all.different.len(),
        all.different.join("\n")
    );
    Ok((before.len(), all))
}

fn passed(answers: usize, found: Comparison, what: &str) -> Done {
    let mut done = Done::passed(format!(
        "{answers} answers over each of 3 links, {} the same value by value, {} {what} by presence and status",
        found.same,
        found.changing.len()
    ));
    done.changing = found.changing;
    done
}

/// Every function of NVML that is described.
pub(super) fn functions(place: &Place) -> Result<Done> {
    let direct = || {
        let mut command = place.direct(&place.parts.client);
        command.arg("nvml");
        command
    };
    let remote = |server: &Server, via| {
        let mut command = exec(place, server, via);
        command.arg(&place.parts.client).arg("nvml");
        command
    };
    let (count, found) = compared(place, of_any_user, direct, remote)?;
    Ok(passed(count, found, "functions"))
}

/// Less what NVML answers to root alone, whom workers of the server are not.
fn of_any_user(text: &str) -> Answers {
    const OF_ROOT: &str = "nvmlSystemGetNvlinkBwMode";
    let mut answers = answers(text);
    answers.retain(|key, _| !key.starts_with(OF_ROOT));
    answers
}

/// Where the tool is: on the path, or beside the driver's libraries, as container tools put it.
fn tool(place: &Place) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let beside = place.libraries.libcuda.parent().and_then(Path::parent);
    let folders = env::split_paths(&path).chain(beside.map(|folder| folder.join("bin")));
    folders
        .map(|folder| folder.join("nvidia-smi"))
        .find(|file| file.is_file())
}

/// `nvidia-smi -L` to the letter, and `nvidia-smi -q` value by value.
pub(super) fn nvidia_smi(place: &Place) -> Result<Done> {
    if !place.ground.real {
        return Ok(Done::skipped(
            "NVIDIA's tool is for NVIDIA's driver; the stand-in is not",
        ));
    }
    let Some(tool) = tool(place) else {
        return Ok(Done::skipped("there is no nvidia-smi on this machine"));
    };
    let direct = |argument: &'static str| {
        let mut command = place.direct(&tool);
        command.arg(argument);
        command
    };
    let list = output(place, &mut direct("-L"))?;
    let server = Server::start_with(&place.ground.gtrace, &place.ground.gpu, &[], &[])?;
    for via in Via::ALL {
        let mut command = exec(place, &server, via);
        let remote = output(place, command.arg(&tool).arg("-L"))?;
        ensure!(
            remote == list,
            "nvidia-smi -L over {}:\n{remote}directly:\n{list}",
            via.name()
        );
    }
    let remote = |server: &Server, via| {
        let mut command = exec(place, server, via);
        command.arg(&tool).arg("-q");
        command
    };
    let (count, found) = compared(place, steady, || direct("-q"), remote)?;
    let mut done = passed(count, found, "values");
    // Hundreds of lines, most of them of one kind: their last names will do.
    let names = done.changing.iter();
    let names: BTreeSet<String> = names
        .map(|key| format!("nvidia-smi {}", key.rsplit(" / ").next().unwrap_or(key)))
        .collect();
    done.changing = names;
    Ok(done)
}

/// What `nvidia-smi -q` prints, less what is of the moment or of processes, and less what it reads through functions that
/// are not published: they are not the same through another process, and NVML's answers of them are compared by their status.
fn steady(text: &str) -> Answers {
    const MOMENT: [&str; 15] = [
        "Timestamp",
        "Process",
        "Utilization",
        "Memory Usage",
        "Power Readings",
        "Clocks /",
        "Temperature /",
        "Fan Speed",
        "Performance State",
        "Event Reasons",
        "Throttle Reasons",
        "Throughput",
        "Stats",
        "Replay",
        "Link Info",
    ];
    // Of functions that are not published, and so not forwarded.
    const PRIVATE: [&str; 3] = [
        "GPU Part Number",
        "FRU Part Number",
        "Sparse Operation Mode",
    ];
    let mut answers = read(text);
    for (key, answer) in &mut answers {
        if MOMENT.iter().any(|part| key.contains(part)) {
            answer.value.clear();
        }
    }
    answers.retain(|key, _| !PRIVATE.iter().any(|name| key.ends_with(name)));
    // A process that comes or goes brings or takes whole lines.
    answers.retain(|key, _| !key.contains("Process"));
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_of_the_moment_only_the_presence_counts() {
        let text = "GPU 0\n    Name : A\n    GPU Part Number : 1\n    Power Readings\n        Draw : 7 W\n    Processes\n        Process ID : 4\n";
        let answers = steady(text);
        assert_eq!(answers["GPU 0 / Name"].value, "A");
        assert_eq!(answers["GPU 0 / Power Readings / Draw"].value, "");
        let left_out = |key: &String| key.contains("Process") || key.contains("Part Number");
        assert!(!answers.keys().any(left_out));
    }
}
