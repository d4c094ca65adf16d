//! Programs that print the same directly and remotely, and how often one waits.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{Done, Planned};
use crate::case::{Case, WAYS};
use crate::gpu_check::place::Place;
use crate::gpu_check::portable::{PROGRAMS, Portable, Program};
use crate::process;
use crate::server::{Server, Via};

/// Round trips of a program that adds two vectors once, all in all.
const ROUND_TRIPS: u64 = 8;
/// Rounds of the program that adds vectors again and again.
const ROUNDS: u64 = 20;

/// A step for each program of the table.
pub(super) fn planned() -> impl Iterator<Item = Planned> {
    let portable = PROGRAMS
        .iter()
        .filter(|program| !matches!(program.portable, Portable::No(_)));
    portable.map(|program| {
        let variables = program.environment.iter().map(|(k, v)| format!("{k}={v}"));
        let words = variables.chain([program.name.to_owned()]).chain(
            program
                .arguments
                .iter()
                .map(|&argument| argument.to_owned()),
        );
        let name = format!("program {}", words.collect::<Vec<_>>().join(" "));
        Planned::new(name, 300, |place| same(place, program))
    })
}

fn case(place: &Place, program: &Program) -> Result<Case> {
    let path = place.parts.programs.join(program.name);
    ensure!(path.is_file(), "{} is missing", path.display());
    let case = Case::new(path).arguments(program.arguments);
    let with = program.environment.iter();
    Ok(with.fold(case, |case, (name, value)| case.client(name, value)))
}

fn same(place: &Place, program: &Program) -> Result<Done> {
    let output = case(place, program)?.same_everywhere(&place.ground)?;
    Ok(Done::passed(format!(
        "{} lines are the same directly, over tcp, unix and shm, and with --strict",
        output.lines().count()
    )))
}

fn statistics(place: &Place, server: &Server, via: Via, rounds: u64) -> Result<Value> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("stats.json");
    let option = file.to_str().context("a path that is no text")?;
    let case = Case::new(place.parts.programs.join("vector_add")).arguments(&[&rounds.to_string()]);
    case.remote(&place.ground, server, via, &["--stats-file", option])?;
    Ok(serde_json::from_str(&fs::read_to_string(&file)?)?)
}

fn waited(statistics: &Value) -> Result<u64> {
    statistics["totals"]["waiting"]
        .as_u64()
        .context("the client's statistics have no count of calls that waited")
}

/// Counted by the client's statistics.
pub(super) fn round_trips(place: &Place) -> Result<Done> {
    let server = Server::start_with(&place.ground.gtrace, &place.ground.gpu, &[], &[])?;
    let mut notes = Vec::new();
    for via in Via::ALL {
        let one = statistics(place, &server, via, 1)?;
        ensure!(
            one["link"] == via.name(),
            "the link is {}, not {}",
            one["link"],
            via.name()
        );
        let all = waited(&one)?;
        ensure!(
            all <= ROUND_TRIPS,
            "{all} round trips over {} instead of at most {ROUND_TRIPS}: {one:#}",
            via.name()
        );
        let many = statistics(place, &server, via, 1 + ROUNDS)?;
        let further = waited(&many)?.saturating_sub(all);
        ensure!(
            further <= ROUNDS,
            "{further} round trips for {ROUNDS} further rounds over {}: {many:#}",
            via.name()
        );
        notes.push(format!(
            "{} {all}, then {} a round",
            via.name(),
            further as f64 / ROUNDS as f64
        ));
    }
    Ok(Done::passed(format!(
        "vector_add waits: {}",
        notes.join("; ")
    )))
}

/// Random work that knows what must come of it, directly and over each link.
pub(super) fn random(place: &Place, seconds: u64) -> Result<Done> {
    let seconds = seconds.to_string();
    let arguments = ["random", "7", "4", &seconds];
    let mut notes = Vec::new();
    let mut note = |how: &str, outcome: process::Outcome| {
        ensure!(outcome.status.success(), "{how}: {outcome}");
        notes.push(format!("{how} {}", outcome.stdout.trim()));
        Ok(())
    };
    let run = |command: &mut Command| process::run(command, place.ground.limit);
    note(
        "directly",
        run(place.direct(&place.parts.client).args(arguments))?,
    )?;
    let server = Server::start_with(&place.ground.gtrace, &place.ground.gpu, &[], &[])?;
    for (via, options) in WAYS {
        let mut command = server.exec(via);
        place.ground.clean(&mut command);
        command.args(options).arg("--").arg(&place.parts.client);
        let how = [&[via.name()], options].concat().join(" ");
        note(&how, run(command.args(arguments))?)?;
    }
    Ok(Done::passed(notes.join("; ")))
}
