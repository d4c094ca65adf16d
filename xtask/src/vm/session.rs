//! Runs cases in a machine and tells how each one ended.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Result;
use gtrace_vm_tests::protocol::{EXIT_STATUS, FromGuest, ToGuest};

use super::cases::Case;
use super::machine::{Boot, Heard, Machine};

/// A boot takes 2 to 4 seconds on an idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(180);

/// How often a machine that does not come up is started again. Kernels were seen to panic as they boot (a CPU that QEMU
/// emulates ran code that another was patching), which says nothing of what is tested.
const BOOTS_AGAIN: u32 = 2;

/// How long PID 1 may be silent while it cleans up after a case.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(60);

/// How long a machine may take to end.
const END_LIMIT: Duration = Duration::from_secs(30);

/// On the console of a kernel that met the breakpoint by which it patches its own code after it had taken
/// it away: with several CPUs that QEMU emulates, one may still run code that another has replaced.
const EMULATOR: &str = "Oops: int3";

/// What is said of a case that the deadline ended or did not let begin.
pub(super) const OUT_OF_TIME: &str = "out of time";

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Well.
    Passed,
    /// Badly, and why.
    Failed(String),
    /// It could test nothing there, and why.
    Skipped(String),
    /// The emulator broke the machine, and what the console says.
    Emulator(String),
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
    /// Every case is over, and then the machine did not end as it should.
    BadEnd {
        /// What it did instead.
        message: String,
    },
}

/// Takes what is told, and says whether to go on with the next case.
pub(crate) type Tell<'a> = dyn FnMut(Told<'_>) -> ControlFlow<()> + 'a;

/// Boots one machine and runs `cases` in it, in order, until one of them makes it unusable, the
/// deadline passes or `tell` breaks. Returns how many have been told of; there is always one. The
/// others want a fresh machine.
///
/// # Errors
///
/// QEMU cannot be started or spoken to.
pub(crate) fn boot(boot: &Boot<'_>, cases: &[&Case], tell: &mut Tell<'_>) -> Result<usize> {
    let mut machine = match up(boot, cases, tell)? {
        Ok(machine) => machine,
        Err(message) => {
            // None of the others would fare better.
            for case in cases {
                // Whether to go on is no question: these were not run.
                let _ = over(tell, case, 0.0, Verdict::Failed(message.clone()));
            }
            return Ok(cases.len());
        }
    };
    for (index, case) in cases.iter().enumerate() {
        let (seconds, verdict, usable) = run(&mut machine, case, boot.deadline, tell);
        let verdict = with_peer(&mut machine, verdict);
        if !usable {
            let _ = over(tell, case, seconds, verdict);
            return Ok(index + 1);
        }
        if let Err(cause) = until_ready(&mut machine, CLEAN_UP_LIMIT) {
            let message = match verdict {
                Verdict::Failed(message) => format!("{message}\nand then: {cause}"),
                _ => cause.to_string(),
            };
            let _ = over(tell, case, seconds, Verdict::Failed(message));
            return Ok(index + 1);
        }
        if over(tell, case, seconds, verdict).is_break() {
            return Ok(index + 1);
        }
    }
    if let Some(message) = end(&mut machine)? {
        let _ = tell(Told::BadEnd { message });
    }
    Ok(cases.len())
}

/// A machine that takes cases; or why there is none, though it was started again.
fn up(boot: &Boot<'_>, cases: &[&Case], tell: &mut Tell<'_>) -> Result<Result<Machine, String>> {
    let mut again = 0;
    loop {
        let mut machine = Machine::start(boot)?;
        let Err(cause) = until_up(&mut machine) else {
            return Ok(Ok(machine));
        };
        let message = format!("the machine does not come up: {cause}");
        let (Some(case), true) = (cases.first(), again < BOOTS_AGAIN) else {
            return Ok(Err(message));
        };
        if Instant::now() >= boot.deadline {
            return Ok(Err(message));
        }
        again += 1;
        let text = format!("{message}\nit is started again");
        let _ = tell(Told::Note {
            case: &case.name,
            text,
        });
    }
}

fn over(tell: &mut Tell<'_>, case: &Case, seconds: f64, verdict: Verdict) -> ControlFlow<()> {
    tell(Told::Over {
        case: &case.name,
        seconds,
        verdict,
    })
}

/// Why a machine cannot be used.
#[derive(Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Waits until the machine takes the first case, and its peer commands.
fn until_up(machine: &mut Machine) -> Result<(), Cause> {
    until_ready(machine, BOOT_LIMIT)?;
    match &mut machine.peer {
        Some(peer) => until_ready(&mut peer.machine, BOOT_LIMIT)
            .map_err(|cause| Cause(format!("of the second machine: {cause}"))),
        None => Ok(()),
    }
}

/// A failure whose cause may be that the second machine is gone.
fn with_peer(machine: &mut Machine, verdict: Verdict) -> Verdict {
    match (verdict, &mut machine.peer) {
        (Verdict::Failed(message), Some(peer)) => {
            let peer = &mut peer.machine;
            match peer.wait(Duration::ZERO) {
                Ok(None) => Verdict::Failed(message),
                _ => Verdict::Failed(format!("{message}\nof the second machine: {}", ended(peer))),
            }
        }
        (verdict, _) => verdict,
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
fn run(
    machine: &mut Machine,
    case: &Case,
    deadline: Instant,
    tell: &mut Tell<'_>,
) -> (f64, Verdict, bool) {
    machine.say(&ToGuest::Run {
        name: case.name.clone(),
    });
    let begin = Instant::now();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let message = format!("{OUT_OF_TIME}\n{}", machine.console_end());
            let seconds = begin.elapsed().as_secs_f64();
            return (seconds, Verdict::Failed(message), false);
        }
        match machine.hear(case.patience.min(left)) {
            Heard::Message(FromGuest::Start { .. }) => {}
            Heard::Message(FromGuest::Note { text }) => {
                // A note ends nothing.
                let _ = tell(Told::Note {
                    case: &case.name,
                    text,
                });
            }
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
            Heard::Silence if left < case.patience => {}
            Heard::Silence => {
                let seconds = case.patience.as_secs_f64();
                let message = format!(
                    "it said nothing for {seconds} s, and the machine was ended\n{}",
                    machine.console_end()
                );
                return (seconds, Verdict::Failed(message), false);
            }
            Heard::End => {
                let message = ended(machine).0;
                let verdict = match machine.console_has(EMULATOR) {
                    true => Verdict::Emulator(message),
                    false => Verdict::Failed(message),
                };
                return (begin.elapsed().as_secs_f64(), verdict, false);
            }
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

/// Ends the machine in order; what went wrong, a panic for example.
fn end(machine: &mut Machine) -> Result<Option<String>> {
    if let Some(mut peer) = machine.peer.take()
        && let Some(message) = end(&mut peer.machine)?
    {
        return Ok(Some(format!("of the second machine: {message}")));
    }
    machine.say(&ToGuest::Off);
    while !matches!(machine.hear(END_LIMIT), Heard::End | Heard::Silence) {}
    let status = machine.wait(END_LIMIT)?;
    if status.and_then(|status| status.code()) == Some(EXIT_STATUS) {
        return Ok(None);
    }
    let status = status.map_or("it went on".to_owned(), |status| status.to_string());
    Ok(Some(format!(
        "after its last case the machine did not end as it should (QEMU: {status})\n{}",
        machine.console_end()
    )))
}
