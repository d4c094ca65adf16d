//! `gtrace health`: whether this host and its parts are fit for work.

use std::path::Path;
use std::process::ExitCode;

use gtrace_event::{HealthReport, HealthState, SubjectHealth, SubjectKind, Timestamp};

use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure, Instance};
use crate::render::{self, ColorChoice, Style};

/// Say whether this host is fit for work: the state of the host and of each GPU, NVSwitch, port and component, why, and
/// what to do.
///
/// Exit status: 0 healthy, 1 degraded or unhealthy, 2 wrong usage, 3 unknown or not possible. Where no daemon answers and the
/// store's last record is older than 5 minutes, what it has as healthy is unknown.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only this GPU or part: PCI address, UUID or the beginning of one, or the name of a port or component.
    #[arg(value_name = "GPU")]
    part: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// One line, and the exit status of a node-problem-detector plugin: 0 healthy, 1 not, 2 unknown.
    #[arg(long, conflicts_with = "json")]
    npd: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    place: ReadPlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let instance = args.place.resolve()?;
    let found = read(&instance).and_then(|report| {
        let part = args.part.as_deref();
        let known = part.map(|part| find(&report, part).cloned()).transpose()?;
        Ok((report, known))
    });
    match found {
        Ok((report, None)) => show(&args, &report),
        Ok((report, Some(known))) => show_part(&args, &report, &known),
        // What standard output says becomes the condition's message.
        Err(Failure(_, why)) if args.npd => {
            shared::print(&format!("unknown: {why}\n"))?;
            Ok(npd(HealthState::Unknown))
        }
        Err(failure) => Err(failure.into()),
    }
}

fn show(args: &Args, report: &HealthReport) -> anyhow::Result<ExitCode> {
    if args.npd {
        // node-problem-detector takes the first line, and no more than 80 characters by default.
        shared::print(&format!("{}\n", render::health_line(report)))?;
        return Ok(npd(report.state));
    }
    shared::show(args.json, report, || {
        render::health(report, &Style::of_stdout(args.color), Timestamp::now())
    })?;
    Ok(exit(report.state).into())
}

fn show_part(
    args: &Args,
    report: &HealthReport,
    known: &SubjectHealth,
) -> anyhow::Result<ExitCode> {
    if args.npd {
        let only = HealthReport {
            state: known.state,
            subjects: vec![known.clone()],
            ..report.clone()
        };
        return show(args, &only);
    }
    shared::show(args.json, known, || {
        render::subject_health(known, &Style::of_stdout(args.color), Timestamp::now())
    })?;
    Ok(exit(known.state).into())
}

pub(super) fn exit(state: HealthState) -> Exit {
    match state {
        HealthState::Healthy => Exit::Success,
        HealthState::Degraded | HealthState::Unhealthy => Exit::Problem,
        HealthState::Unknown => Exit::NotPossible,
    }
}

/// Exit codes of a node-problem-detector plugin: OK, NonOK, Unknown.
fn npd(state: HealthState) -> ExitCode {
    ExitCode::from(match state {
        HealthState::Healthy => 0,
        HealthState::Degraded | HealthState::Unhealthy => 1,
        HealthState::Unknown => 2,
    })
}

/// Asks the daemon; where none answers, reads the store.
pub(super) fn read(instance: &Instance) -> Result<HealthReport, Failure> {
    instance.ask("/api/v1/health", |store| from_store(instance, store))
}

fn from_store(instance: &Instance, path: &Path) -> Result<HealthReport, Failure> {
    let archive = instance.open_store(path).map_err(Failure::not_possible)?;
    let report = archive.health().map_err(Failure::not_possible)?;
    instance.say_store(path);
    report.ok_or_else(|| {
        Failure::not_possible(
            "no daemon answers, and its store has no record of health: start `gtrace run`, or look once with \
             `gtrace scan`",
        )
    })
}

/// The part that `text` names: a GPU by address, UUID or the beginning of one, another part by its name.
fn find<'a>(report: &'a HealthReport, text: &str) -> Result<&'a SubjectHealth, Failure> {
    let address = gtrace_event::PciAddress::parse(text).map(|pci| pci.to_string());
    let is = |known: &&SubjectHealth| {
        let subject = &known.subject;
        let name = match subject.part {
            SubjectKind::Host => "host",
            _ => subject.name.as_str(),
        };
        let by_uuid = known
            .uuid
            .as_ref()
            .is_some_and(|uuid| uuid.starts_with(text));
        name == text || address.as_deref() == Some(name) || by_uuid && text.len() > 4
    };
    let found: Vec<&SubjectHealth> = report.subjects.iter().filter(is).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::not_possible(format!(
            "nothing is known of `{}`; `gtrace health` lists what is",
            render::clean(text)
        ))),
        many => Err(Failure::usage(format!(
            "`{}` fits {} parts: give more of it",
            render::clean(text),
            many.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_a_healthy_host_ends_with_0() {
        let states = [
            (HealthState::Healthy, Exit::Success, 0),
            (HealthState::Degraded, Exit::Problem, 1),
            (HealthState::Unhealthy, Exit::Problem, 1),
            (HealthState::Unknown, Exit::NotPossible, 2),
        ];
        for (state, code, of_npd) in states {
            assert_eq!(exit(state), code, "{state:?}");
            assert_eq!(npd(state), ExitCode::from(of_npd), "{state:?}");
        }
    }
}
