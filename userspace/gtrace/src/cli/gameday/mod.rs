//! `gtrace gameday`: the drills one after another, and what became of each.

mod alerts;
mod drills;
mod round;
mod show;
mod verdict;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use gtrace_api::Status;
use gtrace_event::Timestamp;

use self::drills::{DRILLS, Drill};
use self::round::Round;
use self::verdict::Summary;
use super::shared::{self, Exit, Failure, Place};
use super::{ack, inject, signals};

/// From the announcement to the first drill.
const COUNTDOWN_S: u64 = 5;

/// Run drills one after another and report what became of each.
///
/// Each drill is a line in the kernel log that is marked as injected: it pages nobody and touches no device. For each the report
/// says whether it was detected, how long that took, which witnesses saw it, whether it has the expected severity and class of
/// failure, and which of the documented alerts would have fired had it been a fault. Incidents that it opened are resolved.
///
/// Exit status: 0 all drills came through, 1 something was missed or the game day was aborted, 2 wrong usage, 3 no daemon, or
/// not possible here.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only these drills, by name, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// List the drills and inject nothing.
    #[arg(long)]
    list: bool,
    /// Begin at once, without the countdown.
    #[arg(long)]
    yes: bool,
    /// Print JSON: one object.
    #[arg(long)]
    json: bool,
    /// Which daemon.
    #[command(flatten)]
    place: Place,
}

fn names() -> PossibleValuesParser {
    DRILLS
        .iter()
        .map(|drill| drill.name)
        .collect::<Vec<_>>()
        .into()
}

impl Args {
    fn drills(&self) -> Vec<&'static Drill> {
        let wanted: BTreeSet<&str> = self.only.iter().map(String::as_str).collect();
        let is_wanted = |drill: &&Drill| wanted.is_empty() || wanted.contains(drill.name);
        DRILLS.iter().filter(is_wanted).collect()
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside, and a configuration that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let drills = args.drills();
    if args.list {
        shared::show(args.json, &drills, || show::list(&drills))?;
        return Ok(Exit::Success.into());
    }
    let instance = args.place.resolve()?;
    let client = instance.client();
    let status: Status = client.get("/api/v1/status").map_err(Failure::from)?;
    instance.say_daemon(&client);
    inject::check()?;
    let abort = signals::asked_to_end()?;
    shared::print_error(&show::announcement(&status.host, &drills));
    if !args.yes {
        count_down(&abort);
    }
    let round = Round::new(
        client,
        &status.sources,
        ack::user_name(),
        Arc::clone(&abort),
    );
    let mut summary = Summary::new(status.host, Timestamp::now());
    if !args.json {
        shared::print(&show::head())?;
    }
    for drill in drills {
        if abort.load(Ordering::Relaxed) {
            break;
        }
        let ended = |Failure(exit, why): Failure| {
            let why = format!("{}: {why}; the game day ends here", drill.name);
            Failure(exit, why)
        };
        let outcome = round.play(drill).map_err(ended)?;
        // Who closed standard output wants no more of it.
        if !args.json && !shared::print(&show::row(&outcome))? {
            abort.store(true, Ordering::Relaxed);
        }
        summary.drills.push(outcome);
    }
    summary.conclude(abort.load(Ordering::Relaxed));
    shared::show(args.json, &summary, || show::end(&summary))?;
    Ok(exit_of(&summary).into())
}

fn exit_of(summary: &Summary) -> Exit {
    match summary.ok {
        true => Exit::Success,
        false => Exit::Problem,
    }
}

/// Waits, second by second, unless it is aborted.
fn count_down(abort: &AtomicBool) {
    for left in (1..=COUNTDOWN_S).rev() {
        shared::print_error(&format!("\rbegins in {left} s, Ctrl-C aborts "));
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until && !abort.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    shared::print_error("\n");
}

#[cfg(test)]
mod tests;
