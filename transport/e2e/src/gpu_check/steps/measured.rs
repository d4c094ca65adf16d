//! How long calls take, directly and over each link.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::Done;
use crate::gpu_check::place::Place;
use crate::measure::Found;
use crate::process;
use crate::server::{Server, Via};

/// Rounds in which all ways take turns; the one with the median query counts.
const ROUNDS: usize = 3;

/// `count` queries in each of the rounds.
pub(super) fn measured(place: &Place, count: usize) -> Result<Done> {
    // What the CPU emulator needs to interpret 60,000 launches would be all that is measured.
    let (options, environment): (&[&str], &[_]) = match place.ground.real {
        true => (&[], &[]),
        false => (&[], &[("GTRACE_SOFTGPU_LAUNCH", "skip")]),
    };
    let server = Server::start_with(
        &place.ground.gtrace,
        &place.ground.gpu,
        environment,
        options,
    )?;
    let names = ["directly", "tcp", "unix", "shm"];
    let mut found: [Vec<Found>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let mut direct = place.direct(&place.parts.client);
        direct.envs(environment.iter().copied());
        found[0].push(one(&mut direct, place, count).context("directly")?);
        for (at, via) in Via::ALL.into_iter().enumerate() {
            let mut command = server.exec(via);
            place.ground.clean(&mut command);
            command.arg("--").arg(&place.parts.client);
            found[at + 1].push(one(&mut command, place, count).context(via.name())?);
        }
    }
    let medians = names.iter().zip(found).filter_map(|(name, mut rounds)| {
        rounds.sort_by(|a, b| a.query.total_cmp(&b.query));
        let middle = rounds.get(rounds.len() / 2).cloned()?;
        Some(((*name).to_owned(), middle))
    });
    let mut done = Done::passed("see the table of times");
    done.measured = medians.collect();
    Ok(done)
}

fn one(command: &mut Command, place: &Place, count: usize) -> Result<Found> {
    command.args(["measure", &count.to_string()]);
    let outcome = process::run(command, place.ground.limit)?;
    ensure!(outcome.status.success(), "it ended with {outcome}");
    Found::parse(&outcome.stdout)
}
