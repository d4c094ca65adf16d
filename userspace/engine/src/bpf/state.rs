//! How probes stand, and why they cannot be loaded or attached.

use std::fmt::Write as _;

use aya::programs::ProgramError;
use gtrace_event::WitnessName;
use thiserror::Error;

/// How a probe stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachState {
    /// Every hook is attached.
    Attached,
    /// Works, and gives less than it could, with the reason.
    Degraded(String),
    /// Not wanted by configuration.
    Off,
    /// Detached by `gtrace pause` or the kill-switch file.
    Paused,
    /// Let go for a while, with the reason.
    Held(&'static str),
    /// Not needed: another probe sees the same, and more cheaply.
    Replaced(WitnessName),
    /// This kernel does not have it, with the reason.
    Absent(String),
    /// It should work and did not, with the reason.
    Failed(String),
}

/// Why no probe can be loaded at all.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The object was refused.
    #[error("the BPF probes cannot be loaded: {0}")]
    Object(String),
    /// A map is missing or of the wrong type: object and daemon are of different builds.
    #[error("the BPF object has no map `{0}` of the expected type; rebuild with `cargo xtask run`")]
    Map(&'static str),
}

/// An error with all its causes on one line.
pub(super) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            let _ = write!(text, ": {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// The verifier's verdict stands at the end of what may be tens of thousands of lines.
const VERIFIER_LINES: usize = 8;

pub(super) fn load_error(program: &str, error: &ProgramError) -> String {
    match error {
        ProgramError::LoadError {
            io_error,
            verifier_log,
        } => {
            let log = verifier_log.to_string();
            tracing::debug!("the verifier on {program}:\n{log}");
            let lines: Vec<_> = log.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = lines[lines.len().saturating_sub(VERIFIER_LINES)..].join("\n");
            match last.as_str() {
                "" => format!("the kernel refused program {program}: {io_error}"),
                last => format!(
                    "the kernel's verifier refused program {program} ({io_error}); it ended with\n\
                     {last}\nGTRACE_LOG=debug shows all it said"
                ),
            }
        }
        other => error_chain(other),
    }
}
