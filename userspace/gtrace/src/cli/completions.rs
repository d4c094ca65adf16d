//! `gtrace completions`: what a shell needs to complete commands and options.

use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use super::shared;

/// Print a script that completes commands and options in a shell.
///
/// bash: `gtrace completions bash > /usr/share/bash-completion/completions/gtrace`. The packages have them.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Runs the command; `gtrace` describes all commands.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args, mut gtrace: Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut gtrace, "gtrace", &mut script);
    shared::print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
