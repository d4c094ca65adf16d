//! Runs cases in a machine and tells how each one ended.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use gtrace_vm_tests::protocol::{EXIT_STATUS, FromGuest, ToGuest};

use super::cases::Case;
use super::machine::{Boot, Heard, Machine};

/// A boot takes 2 to 4 seconds on an idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(180);

/// How long PID 1 may be silent while it cleans up after a case.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(60);

/// How long a machine may take to end.
const END_LIMIT: Duration = Duration::from_secs(30);

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Well.
    Passed,
    /// Badly, and why.
    Failed(String),
    /// It could test nothing there, and why.
    Skipped(String),
}

/// What is told while a machine runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told<'a> {
    /// A case said something.
    Note {
        /// Its name.
        case: &'a str,
        /// What.
        text: String,
    },
    /// A case is over.
    Over {
        /// Its name.
        case: &'a str,
        /// How long it took, in seconds of the guest.
        seconds: f64,
        /// How it ended.
        verdict: Verdict,
    },
}

/// Boots one machine and runs `cases` in it, in order, until one of them makes it unusable.
/// Returns how many have been told of; there is always one. The others want a fresh machine.
///
/// # Errors
///
/// QEMU cannot be started or spoken to.
pub(crate) fn boot(
    boot: &Boot<'_>,
    cases: &[&Case],
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<usize> {
    let mut machine = Machine::start(boot)?;
    if let Err(cause) = until_ready(&mut machine, BOOT_LIMIT) {
        // None of the others would fare better.
        let message = format!("the machine does not come up: {cause}");
        for case in cases {
            over(tell, case, 0.0, Verdict::Failed(message.clone()));
        }
        return Ok(cases.len());
    }
    for (index, case) in cases.iter().enumerate() {
        let (seconds, verdict, usable) = run(&mut machine, case, tell);
        if !usable {
            over(tell, case, seconds, verdict);
            return Ok(index + 1);
        }
        if let Err(cause) = until_ready(&mut machine, CLEAN_UP_LIMIT) {
            let message = match verdict {
                Verdict::Failed(message) => format!("{message}\nand then: {cause}"),
                _ => cause.to_string(),
            };
            over(tell, case, seconds, Verdict::Failed(message));
            return Ok(index + 1);
        }
        over(tell, case, seconds, verdict);
    }
    end(&mut machine)?;
    Ok(cases.len())
}

fn over(tell: &mut dyn FnMut(Told<'_>), case: &Case, seconds: f64, verdict: Verdict) {
    tell(Told::Over {
        case: &case.name,
        seconds,
        verdict,
    });
}

/// Why a machine cannot be used.
#[derive(Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Waits until PID 1 takes the next request.
fn until_ready(machine: &mut Machine, limit: Duration) -> Result<(), Cause> {
    match machine.hear(limit) {
        Heard::Message(FromGuest::Ready { .. }) => Ok(()),
        Heard::Message(FromGuest::Spoilt { why }) => Err(Cause(format!(
            "it left the machine in a state that cannot be cleaned up: {why}\n{}",
            machine.console_end()
        ))),
        Heard::Message(other) => Err(Cause(format!("PID 1 said `{other}` out of turn"))),
        Heard::Silence => Err(Cause(format!(
            "PID 1 said nothing for {} s\n{}",
            limit.as_secs(),
            machine.console_end()
        ))),
        Heard::End => Err(ended(machine)),
    }
}

/// Runs one case. The last value says whether the machine still answers.
fn run(machine: &mut Machine, case: &Case, tell: &mut dyn FnMut(Told<'_>)) -> (f64, Verdict, bool) {
    machine.say(&ToGuest::Run {
        name: case.name.clone(),
    });
    loop {
        match machine.hear(case.patience) {
            Heard::Message(FromGuest::Start { .. }) => {}
            Heard::Message(FromGuest::Note { text }) => tell(Told::Note {
                case: &case.name,
                text,
            }),
            Heard::Message(FromGuest::Monitor { command }) => {
                let answer = machine.monitor(&command);
                machine.say(&answer);
            }
            Heard::Message(FromGuest::Pass { seconds, .. }) => {
                return (seconds, Verdict::Passed, true);
            }
            Heard::Message(FromGuest::Skip { reason, .. }) => {
                return (0.0, Verdict::Skipped(reason), true);
            }
            Heard::Message(FromGuest::Fail {
                seconds, message, ..
            }) => return (seconds, Verdict::Failed(message), true),
            Heard::Message(other) => {
                let message = format!("the guest said `{other}` out of turn");
                return (0.0, Verdict::Failed(message), false);
            }
            Heard::Silence => {
                let seconds = case.patience.as_secs_f64();
                let message = format!(
                    "it said nothing for {seconds} s, and the machine was ended\n{}",
                    machine.console_end()
                );
                return (seconds, Verdict::Failed(message), false);
            }
            Heard::End => return (0.0, Verdict::Failed(ended(machine).0), false),
        }
    }
}

/// The machine ended although nobody wanted it to.
fn ended(machine: &mut Machine) -> Cause {
    let status = match machine.wait(END_LIMIT) {
        Ok(Some(status)) => status.to_string(),
        Ok(None) => "it closed its control channel".to_owned(),
        Err(error) => format!("{error:#}"),
    };
    Cause(format!(
        "the machine ended (QEMU: {status}), by a panic of the kernel or of PID 1\n{}",
        machine.console_end()
    ))
}

/// Ends the machine in order. All cases have been told of by then: what goes wrong here is said.
fn end(machine: &mut Machine) -> Result<()> {
    machine.say(&ToGuest::Off);
    while !matches!(machine.hear(END_LIMIT), Heard::End | Heard::Silence) {}
    let status = machine.wait(END_LIMIT)?;
    if status.and_then(|status| status.code()) != Some(EXIT_STATUS) {
        let status = status.map_or("it was ended".to_owned(), |status| status.to_string());
        eprintln!(
            "gtrace: the machine did not end as it should ({status})\n{}",
            machine.console_end()
        );
    }
    Ok(())
}
