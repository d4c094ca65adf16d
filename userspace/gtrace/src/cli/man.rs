//! `gtrace man`: the manual pages, made from the same description as `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Command;

use super::shared;

/// Print the manual page of gtrace, or write those of every command: `gtrace man | man -l -`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Directory to which all pages are written: gtrace.1, gtrace-run.1 and so on. It is made if it is not there.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Runs the command; `gtrace` describes all commands.
///
/// # Errors
///
/// What standard output says, a closed pipe aside, and that the directory cannot be written.
pub fn run(args: Args, gtrace: Command) -> anyhow::Result<ExitCode> {
    let Some(dir) = args.to else {
        let mut page = Vec::new();
        clap_mangen::Man::new(gtrace).render(&mut page)?;
        shared::print_bytes(&page)?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(&dir)
        .and_then(|()| clap_mangen::generate_to(gtrace, &dir))
        .with_context(|| format!("the pages cannot be written to {}", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}
