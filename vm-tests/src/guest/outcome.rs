//! How a case ended. Its process reports that to PID 1 by an exit code and a file.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use super::Guest;
use crate::cases;

/// Where the process of a case writes why it failed or was skipped.
const FILE: &str = "/run/outcome";

/// Exit code of a case that cannot test anything here, as in automake's tests.
const SKIPPED: u8 = 77;

/// How a case ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Well.
    Passed,
    /// It could test nothing, and says why.
    Skipped(String),
    /// Badly, and why.
    Failed(String),
}

/// An error that is no failure: the case cannot test anything on this kernel or machine.
#[derive(Debug)]
pub(crate) struct Skip(
    /// Why.
    pub(crate) String,
);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}

/// Leaves the case, which counts as skipped.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)*) => {
        return Err($crate::guest::outcome::Skip(format!($($reason)*)).into())
    };
}

/// `case NAME`: runs it in this process.
pub(crate) fn run_case(args: &[String]) -> ExitCode {
    let ended = match args {
        [name] => guarded(name),
        _ => Ended::Failed("`case` wants one name".to_owned()),
    };
    let (code, text) = match ended {
        Ended::Passed => return ExitCode::SUCCESS,
        Ended::Skipped(reason) => (SKIPPED, reason),
        Ended::Failed(message) => (1, message),
    };
    if let Err(error) = fs::write(FILE, &text) {
        eprintln!("cannot write {FILE}: {error}; it would say: {text}");
    }
    ExitCode::from(code)
}

fn guarded(name: &str) -> Ended {
    let Some(case) = cases::all().find(|case| case.name == name) else {
        return Ended::Failed(format!("there is no case {name:?}"));
    };
    let run = || -> Result<()> {
        let mut guest = Guest::new()?;
        let done = (case.run)(&mut guest);
        guest.finish(done)
    };
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Ended::Passed,
        Ok(Err(error)) => match error.downcast_ref::<Skip>() {
            Some(skip) => Ended::Skipped(skip.0.clone()),
            None => Ended::Failed(format!("{error:#}")),
        },
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("without a message; see the console");
            Ended::Failed(format!("it panicked: {text}"))
        }
    }
}

/// Removes what the case before wrote.
pub(crate) fn clear() -> Result<()> {
    match fs::remove_file(FILE) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {FILE}"))
        }
        _ => Ok(()),
    }
}

/// What the process of a case left, `how` being its exit code or how it ended without one.
pub(crate) fn read(how: Result<i32, String>) -> Ended {
    let text = fs::read_to_string(FILE).ok();
    match (how, text) {
        (Ok(0), _) => Ended::Passed,
        (Ok(code), Some(reason)) if code == i32::from(SKIPPED) => Ended::Skipped(reason),
        (Ok(_), Some(message)) => Ended::Failed(message),
        (Ok(code), None) => Ended::Failed(format!("exit code {code} without a word")),
        (Err(how), _) => Ended::Failed(how),
    }
}
