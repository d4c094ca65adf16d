//! PID 1: makes a system out of a kernel, runs the cases that the host asks for, each in a
//! process of its own, and ends the machine.

mod setup;

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::protocol::{EXIT_PORT, EXIT_VALUE, FromGuest, ToGuest};
use rustix::process::{Pid, WaitOptions, WaitStatus};

use crate::guest::control::Control;
use crate::guest::outcome::{self, Ended};
use crate::guest::{kmsg, modules, real};
use crate::sys;

/// How long what a case left behind may take to be gone.
const CLEAN_UP: Duration = Duration::from_secs(10);

/// How much of the kernel's log goes to the console after a failure.
const LOG_LINES: usize = 60;

/// How often the kernel has warned since it was booted; since 6.2, and in 6.1's stable releases.
const WARN_COUNT: &str = "/sys/kernel/warn_count";

/// Never returns: the kernel would panic.
pub(crate) fn main() -> ! {
    if let Err(error) = serve() {
        eprintln!("gtrace-vm-init: {error:#}");
    }
    exit_machine();
}

fn serve() -> Result<()> {
    setup::system()?;
    let mut control = Control::open()?;
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy().into_owned();
    loop {
        let ready = FromGuest::Ready {
            release: release.clone(),
        };
        match control.ask(&ready)? {
            ToGuest::Run { name } => {
                control.say(&FromGuest::Start { name: name.clone() })?;
                control.say(&run(&name))?;
                if let Err(error) = clean_up() {
                    let why = format!("{error:#}");
                    control.say(&FromGuest::Spoilt { why })?;
                }
            }
            ToGuest::Off => break,
            other => bail!("the host said {other} out of turn"),
        }
    }
    control.say(&FromGuest::Bye)?;
    control.drain()
}

/// Runs one case in a process of its own.
fn run(name: &str) -> FromGuest {
    let name = name.to_owned();
    let start = Instant::now();
    let warned = warn_count();
    let ended = outcome::clear().and_then(|()| run_process(&name));
    let seconds = start.elapsed().as_secs_f64();
    let ended = ended.unwrap_or_else(|error| Ended::Failed(format!("{error:#}")));
    match judged(ended, warned) {
        Ended::Passed => FromGuest::Pass { name, seconds },
        Ended::Skipped(reason) => FromGuest::Skip { name, reason },
        Ended::Failed(message) => {
            eprintln!("--- {name} failed: {message}\n--- the end of the kernel's log:");
            for line in kmsg::last(LOG_LINES) {
                eprintln!("{line}");
            }
            FromGuest::Fail {
                name,
                seconds,
                message,
            }
        }
    }
}

/// What the kernel holds against itself fails a case, whatever the case says.
fn judged(ended: Ended, warned: Option<u64>) -> Ended {
    let faults = match kmsg::faults() {
        Ok(faults) if faults.is_empty() && warn_count() != warned => {
            vec!["(the kernel warned, and its log has lost the lines)".to_owned()]
        }
        Ok(faults) => faults,
        Err(error) => vec![format!("(unknown: {error:#})")],
    };
    if faults.is_empty() {
        return ended;
    }
    let before = match ended {
        Ended::Failed(message) => format!("{message}\n"),
        Ended::Passed | Ended::Skipped(_) => String::new(),
    };
    let faults = faults.join("\n");
    Ended::Failed(format!(
        "{before}the kernel logged faults of its own:\n{faults}"
    ))
}

/// None where the kernel does not report it.
fn warn_count() -> Option<u64> {
    let text = fs::read_to_string(WARN_COUNT).ok()?;
    text.trim().parse().ok()
}

fn run_process(name: &str) -> Result<Ended> {
    let child = Command::new("/proc/self/exe")
        .args(["case", name])
        .spawn()
        .context("cannot start the case's process")?;
    let pid = Pid::from_child(&child);
    let status = loop {
        // Orphans of the case become children of PID 1 and end here as well.
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == pid => break status,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => bail!("lost the case's process: {error}"),
        }
    };
    Ok(outcome::read(how(status)))
}

/// Exit code, or how it ended without one.
fn how(status: WaitStatus) -> Result<i32, String> {
    status.exit_status().ok_or_else(|| {
        status.terminating_signal().map_or_else(
            || format!("it ended with {status:?}"),
            |signal| format!("signal {signal} ended it"),
        )
    })
}

/// Ends what the case left running, takes the driver out of the kernel, sets back what cases change of
/// the system, and takes what the case logged out of the kernel's log: the next one's daemon reads
/// that from its beginning.
fn clean_up() -> Result<()> {
    let deadline = Instant::now() + CLEAN_UP;
    sys::kill_all();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => break,
            Ok(Some(_)) => {}
            _ if Instant::now() > deadline => bail!(
                "a process does not end, {} s after SIGKILL: {}",
                CLEAN_UP.as_secs(),
                setup::processes()
            ),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    for module in ["nvidia_uvm", "nvidia_modeset", "nvidia", "fakegpu"] {
        if modules::is_loaded(module) {
            modules::remove_within(module, CLEAN_UP)?;
        }
    }
    real::remove_nodes()?;
    setup::control_groups(deadline)?;
    setup::settings()?;
    kmsg::push_out()?;
    setup::scratch()
}

/// Ends QEMU by its exit device; where that is missing, by a reboot, which `-no-reboot` makes an
/// end.
fn exit_machine() -> ! {
    let exit = || -> std::io::Result<()> {
        let mut ports = File::options().write(true).open("/dev/port")?;
        ports.seek(SeekFrom::Start(EXIT_PORT.into()))?;
        ports.write_all(&[EXIT_VALUE])
    };
    if let Err(error) = exit() {
        eprintln!("gtrace-vm-init: cannot write to the exit device: {error}");
    }
    if let Err(error) = rustix::system::reboot(rustix::system::RebootCommand::Restart) {
        eprintln!("gtrace-vm-init: cannot reboot: {error}");
    }
    loop {
        std::thread::park();
    }
}
