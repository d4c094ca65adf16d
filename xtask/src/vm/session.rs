//! Runs cases in a machine and reports how each one ended.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Result;
use gtrace_vm_tests::protocol::{EXIT_STATUS, FromGuest, ToGuest};

use super::cases::Case;
use super::fault;
use super::machine::{Boot, Machine, Received};

/// A boot takes 2 to 4 seconds on an idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(180);

/// How long PID 1 may be silent while it cleans up after a case.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(60);

/// How long a machine may take to end.
const END_LIMIT: Duration = Duration::from_secs(30);

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
    /// The emulator or the guest's kernel failed by itself ([`fault`]).
    Died {
        /// What the machine died of.
        cause: String,
        /// The same with the end of the console.
        message: String,
    },
}

/// What happens while a machine runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Progress<'a> {
    /// A case has a remark.
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
    BadEnd(Verdict),
}

/// Takes what happens, and decides whether to go on with the next case.
pub(crate) type Observer<'a> = dyn FnMut(Progress<'_>) -> ControlFlow<()> + 'a;

/// Boots one machine and runs `cases` in it, in order, until one of them makes it unusable, the
/// deadline passes or `observer` breaks. The others want a fresh machine. Why it did not come up, if so: then no case
/// was run.
pub(crate) fn boot(
    boot: &Boot<'_>,
    cases: &[&Case],
    observer: &mut Observer<'_>,
) -> Result<Result<(), String>> {
    let mut machine = Machine::start(boot)?;
    if let Err(cause) = until_up(&mut machine) {
        return Ok(Err(format!("the machine does not come up: {cause}")));
    }
    for case in cases {
        let (seconds, verdict, usable) = run(&mut machine, case, boot.deadline, observer);
        let verdict = with_peer(&mut machine, verdict);
        let cleaned = match usable {
            true => until_ready(&mut machine, CLEAN_UP_LIMIT).err(),
            false => None,
        };
        let stop = !usable || cleaned.is_some();
        let verdict = match (verdict, cleaned) {
            (verdict, None) => verdict,
            (Verdict::Failed(message), Some(cause)) => {
                Verdict::Failed(format!("{message}\nand then: {cause}"))
            }
            (_, Some(cause)) => cause.verdict(),
        };
        let over = Progress::Over {
            case: &case.name,
            seconds,
            verdict,
        };
        if observer(over).is_break() || stop {
            return Ok(Ok(()));
        }
    }
    if let Some(cause) = end(&mut machine)? {
        let _ = observer(Progress::BadEnd(cause.verdict()));
    }
    Ok(Ok(()))
}

/// Why a machine cannot be used.
#[derive(Debug)]
struct Cause {
    message: String,
    /// What it died of, if it died by itself.
    death: Option<String>,
}

impl Cause {
    fn of_guest(message: String) -> Self {
        Self {
            message,
            death: None,
        }
    }

    fn verdict(self) -> Verdict {
        match self.death {
            Some(cause) => Verdict::Died {
                cause,
                message: self.message,
            },
            None => Verdict::Failed(self.message),
        }
    }

    fn of_second_machine(self) -> Self {
        Self {
            message: format!("of the second machine: {}", self.message),
            ..self
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Waits until the machine takes the first case, and its peer commands.
fn until_up(machine: &mut Machine) -> Result<(), Cause> {
    until_ready(machine, BOOT_LIMIT)?;
    match &mut machine.peer {
        Some(peer) => until_ready(&mut peer.machine, BOOT_LIMIT).map_err(Cause::of_second_machine),
        None => Ok(()),
    }
}

/// A failure whose cause may be that the second machine is gone.
fn with_peer(machine: &mut Machine, verdict: Verdict) -> Verdict {
    let (Verdict::Failed(message), Some(peer)) = (&verdict, &mut machine.peer) else {
        return verdict;
    };
    if let Ok(None) = peer.machine.wait(Duration::ZERO) {
        return verdict;
    }
    let cause = ended(&mut peer.machine).of_second_machine();
    Cause {
        message: format!("{message}\n{cause}"),
        ..cause
    }
    .verdict()
}

/// Waits until PID 1 takes the next request.
fn until_ready(machine: &mut Machine, limit: Duration) -> Result<(), Cause> {
    match machine.receive(limit) {
        Received::Message(FromGuest::Ready { .. }) => Ok(()),
        Received::Message(FromGuest::Spoilt { why }) => Err(Cause::of_guest(format!(
            "it left the machine in a state that cannot be cleaned up: {why}\n{}",
            machine.console_end()
        ))),
        Received::Message(other) => {
            Err(Cause::of_guest(format!("PID 1 sent `{other}` out of turn")))
        }
        Received::Silence => {
            let why = format!("PID 1 was silent for {} s", limit.as_secs());
            Err(silent(machine, &why))
        }
        Received::End => Err(ended(machine)),
    }
}

/// Runs one case. The last value says whether the machine still answers.
fn run(
    machine: &mut Machine,
    case: &Case,
    deadline: Instant,
    observer: &mut Observer<'_>,
) -> (f64, Verdict, bool) {
    machine.send(&ToGuest::Run {
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
        match machine.receive(case.patience.min(left)) {
            Received::Message(FromGuest::Start { .. }) => {}
            Received::Message(FromGuest::Note { text }) => {
                // A note ends nothing.
                let _ = observer(Progress::Note {
                    case: &case.name,
                    text,
                });
            }
            Received::Message(FromGuest::Monitor { command }) => {
                let answer = machine.monitor(&command);
                machine.send(&answer);
            }
            Received::Message(FromGuest::PowerCycle) => {
                if let Err(cause) = power_cycle(machine) {
                    return (begin.elapsed().as_secs_f64(), cause.verdict(), false);
                }
                machine.send(&ToGuest::Run {
                    name: case.name.clone(),
                });
            }
            Received::Message(FromGuest::Pass { seconds, .. }) => {
                return (seconds, Verdict::Passed, true);
            }
            Received::Message(FromGuest::Skip { reason, .. }) => {
                return (0.0, Verdict::Skipped(reason), true);
            }
            Received::Message(FromGuest::Fail {
                seconds, message, ..
            }) => return (seconds, Verdict::Failed(message), true),
            Received::Message(other) => {
                let message = format!("the guest sent `{other}` out of turn");
                return (0.0, Verdict::Failed(message), false);
            }
            Received::Silence if left < case.patience => {}
            Received::Silence => {
                let seconds = case.patience.as_secs_f64();
                let why = format!("it was silent for {seconds} s, and the machine was ended");
                return (seconds, silent(machine, &why).verdict(), false);
            }
            Received::End => {
                let seconds = begin.elapsed().as_secs_f64();
                return (seconds, ended(machine).verdict(), false);
            }
        }
    }
}

/// Takes the power from a machine that its devices outlive, and waits until it is up again.
fn power_cycle(machine: &mut Machine) -> Result<(), Cause> {
    if let ToGuest::Error { text } = machine.monitor("system_reset") {
        return Err(Cause::of_guest(format!("it was not reset: {text}")));
    }
    until_up(machine)
}

/// The machine does not answer.
fn silent(machine: &Machine, why: &str) -> Cause {
    Cause {
        message: format!("{why}\n{}", machine.console_end()),
        death: fault::by_itself(None, &machine.console()),
    }
}

/// The machine ended although nobody wanted it to.
fn ended(machine: &mut Machine) -> Cause {
    let status = machine.wait(END_LIMIT).ok().flatten();
    let how = status.map_or("it closed its control channel".to_owned(), |status| {
        status.to_string()
    });
    let message = format!("the machine ended (QEMU: {how})\n{}", machine.console_end());
    Cause {
        message,
        death: fault::by_itself(status, &machine.console()),
    }
}

/// Ends the machine in order; what went wrong, a panic for example.
fn end(machine: &mut Machine) -> Result<Option<Cause>> {
    if let Some(mut peer) = machine.peer.take()
        && let Some(cause) = end(&mut peer.machine)?
    {
        return Ok(Some(cause.of_second_machine()));
    }
    machine.send(&ToGuest::Off);
    while !matches!(
        machine.receive(END_LIMIT),
        Received::End | Received::Silence
    ) {}
    let status = machine.wait(END_LIMIT)?;
    if status.and_then(|status| status.code()) == Some(EXIT_STATUS) {
        return Ok(None);
    }
    let how = status.map_or("it went on".to_owned(), |status| status.to_string());
    let message = format!(
        "after its last case the machine did not end as it should (QEMU: {how})\n{}",
        machine.console_end()
    );
    Ok(Some(Cause {
        message,
        death: fault::by_itself(status, &machine.console()),
    }))
}
