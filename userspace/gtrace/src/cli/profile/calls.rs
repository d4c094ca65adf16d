//! `gtrace profile --driver`: everything that the daemon has counted of driver calls, by process, device
//! and operation.

use std::fmt::Write as _;
use std::process::ExitCode;

use gtrace_api::{CallStats, SourceStatus};
use gtrace_collect::inactive_reason;
use gtrace_render::driver_calls::{sort, table};

use super::Args;
use crate::cli::shared::{self, Exit, Failure};

/// Shows them.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let instance = args.place.resolve()?;
    let client = instance.reading_client();
    let calls = client.get("/api/v1/histograms");
    let mut calls: Vec<CallStats> = calls.map_err(Failure::not_possible)?;
    let sources = client.get("/api/v1/sources");
    let sources: Vec<SourceStatus> = sources.map_err(Failure::not_possible)?;
    instance.say_daemon(&client);
    calls.retain(|call| args.pid.is_none_or(|pid| call.pid == pid));
    sort(&mut calls, args.sort.into());
    if args.json {
        shared::print(&shared::json_line(&serde_json::to_value(&calls)?)?)?;
    } else if !calls.is_empty() {
        shared::print(&table(&calls, args.limit))?;
    }
    let inactive_reason = inactive_reason(&sources);
    if calls.is_empty() {
        shared::say(&nothing(args.pid, inactive_reason.as_deref()));
    } else if let Some(reason) = &inactive_reason {
        shared::say(&format!(
            "what is shown is old, no further call is seen: {reason}"
        ));
    }
    Ok(match inactive_reason {
        Some(_) if calls.is_empty() => Exit::NotPossible.into(),
        _ => ExitCode::SUCCESS,
    })
}

/// What is said where there is no row.
fn nothing(pid: Option<u32>, inactive_reason: Option<&str>) -> String {
    let mut text = match pid {
        None => "no driver calls seen".to_owned(),
        Some(pid) => format!(
            "no driver calls of process {pid} seen; those of processes that have ended are summed \
             up under \"(ended)\", see the list without --pid"
        ),
    };
    if let Some(reason) = inactive_reason {
        let _ = write!(text, ": {reason}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_calls_of_an_ended_process_are_is_said() {
        let text = nothing(Some(4711), None);
        assert!(
            text.contains("process 4711") && text.contains("\"(ended)\""),
            "{text}"
        );
        assert_eq!(nothing(None, Some("why")), "no driver calls seen: why");
    }
}
