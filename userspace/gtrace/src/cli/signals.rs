//! SIGINT, SIGTERM and SIGHUP, and a standard output that nobody reads.

use std::io;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal as Number, pidfd_open, pidfd_send_signal};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ends the process with status 0 on SIGINT, SIGTERM and SIGHUP, and once the pipe that is its standard output has no reader, between
/// two writes to that: `gtrace events --follow | head -1` does not wait for a second event.
///
/// # Errors
///
/// The system's error where the signals or a thread cannot be had.
pub(super) fn end_cleanly_on_signals() -> io::Result<()> {
    on_signals(end)?;
    let wait = || {
        if loses_reader() {
            end();
        }
    };
    std::thread::Builder::new()
        .name("reader".into())
        .spawn(wait)
        .map(drop)
}

fn end() {
    let _whole_line = io::stdout().lock();
    std::process::exit(0);
}

/// Waits until the pipe that is standard output has no reader; false where it is no pipe.
fn loses_reader() -> bool {
    let out = io::stdout();
    let found = rustix::fs::fstat(&out);
    if !found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo) {
        return false;
    }
    // Errors are reported unasked, and nothing else is asked for.
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    loop {
        match poll(&mut polled, None) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Does `action`, once, when SIGINT, SIGTERM or SIGHUP comes, in a thread of its own.
///
/// # Errors
///
/// The system's error where the signals cannot be had.
pub(super) fn on_signals(action: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = signals_runtime()?;
    let mut signals = Signals::of_terminal_in(&runtime)?;
    let wait = move || {
        runtime.block_on(signals.come());
        action();
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(wait)
        .map(drop)
}

/// Becomes true when one of these signals comes.
///
/// # Errors
///
/// The system's error where the signals cannot be had.
pub(super) fn asked_to_end() -> io::Result<Arc<AtomicBool>> {
    let end = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&end);
    on_signals(move || asked.store(true, Ordering::Relaxed))?;
    Ok(end)
}

/// SIGTERM and SIGINT, which end nothing by themselves from now on; of what ends with its terminal SIGHUP too.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Option<Signal>,
}

fn signals_runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
}

/// Whether SIGHUP is ignored, as nohup(1) has it: then it stays so.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Its number is 1, whose bit is the lowest.
    mask.is_some_and(|mask| mask & 1 == 1)
}

impl Signals {
    /// Takes those of a daemon. Any runtime may wait for them later, also for what comes before it is there.
    ///
    /// # Errors
    ///
    /// The system's error where the signals cannot be had.
    pub(super) fn take() -> io::Result<Self> {
        let runtime = signals_runtime()?;
        let _in_runtime = runtime.enter();
        Self::here()
    }

    /// The same of what ends when its terminal is closed.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub(super) fn of_terminal() -> io::Result<Self> {
        Self::of_terminal_in(&signals_runtime()?)
    }

    /// The same of what starts a program and waits for it, to be taken before that is there. SIGQUIT ends nothing here either. The
    /// program has all signals as they were, as a handler does not outlive exec(2).
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub(super) fn of_parent() -> io::Result<Self> {
        let runtime = signals_runtime()?;
        let _in_runtime = runtime.enter();
        // The handler stays.
        drop(signal(SignalKind::quit())?);
        Self::of_terminal_in(&runtime)
    }

    fn of_terminal_in(runtime: &Runtime) -> io::Result<Self> {
        let _in_runtime = runtime.enter();
        Ok(Self {
            hang_up: match ignores_hang_up() {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            },
            ..Self::here()?
        })
    }

    /// Within a runtime.
    fn here() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: None,
        })
    }

    /// Passes SIGTERM and SIGHUP on to `program` from now on, so that it ends as it likes, and what it did can be shown. SIGINT and
    /// SIGQUIT it has from the terminal itself.
    pub(super) fn pass_on_to(self, program: &Child) {
        if let Err(error) = self.try_pass_on_to(program) {
            say!("signals do not reach the program: {error}");
        }
    }

    fn try_pass_on_to(mut self, program: &Child) -> io::Result<()> {
        let program = pidfd_open(Pid::from_child(program), PidfdFlags::empty())?;
        let runtime = signals_runtime()?;
        let pass_on = move || loop {
            let came = runtime.block_on(self.come());
            // The error is that it has ended.
            if came != Number::INT && pidfd_send_signal(&program, came).is_err() {
                return;
            }
        };
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(pass_on)
            .map(drop)
    }

    /// Waits for one of them: which it was.
    pub(super) async fn come(&mut self) -> Number {
        let Self {
            terminate,
            interrupt,
            hang_up,
        } = self;
        let hung_up = async {
            match hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => Number::TERM,
            _ = interrupt.recv() => Number::INT,
            _ = hung_up => Number::HUP,
        }
    }
}

/// Waits for SIGTERM or SIGINT.
pub(super) async fn signalled() -> anyhow::Result<()> {
    Signals::here()?.come().await;
    Ok(())
}
