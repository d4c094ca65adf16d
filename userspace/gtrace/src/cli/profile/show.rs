//! `gtrace profile show` and `gtrace profile merge`.

use std::path::PathBuf;
use std::process::ExitCode;

use gtrace_profile::Profile;

use super::file::{self, View};
use super::{NOT_POSSIBLE, Output, Sort};

/// Show a saved profile, or write it in another form.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The profile: JSON, an HdrHistogram log, or what `gtrace exec --stats-file` wrote.
    file: PathBuf,
    /// Only this process.
    #[arg(long)]
    pid: Option<u32>,
    /// Only functions whose name has this in it.
    #[arg(long, value_name = "TEXT")]
    function: Option<String>,
    #[command(flatten)]
    output: Output,
    /// What to sort by.
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,
    /// How many rows, of each layer of a process; 0 for all.
    #[arg(long, default_value_t = 40)]
    limit: usize,
}

/// Add profiles up: of several runs, hosts, or layers of one program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct MergeArgs {
    /// The profiles.
    #[arg(required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let shown = file::get(&args.file).and_then(|mut profile| {
        profile.retain(|key| {
            let pid = args.pid.is_none_or(|pid| key.process.pid == pid);
            let text = args.function.as_deref();
            pid && text.is_none_or(|text| key.function.contains(text))
        });
        let view = View {
            sort: args.sort,
            limit: args.limit,
        };
        file::put(&profile, &args.output, view)
    });
    Ok(ended(shown))
}

pub(super) fn merge(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let mut sum = Profile::default();
    let read = args.files.iter().try_for_each(|path| {
        sum.merge(&file::get(path)?);
        anyhow::Ok(())
    });
    let view = View {
        sort: Sort::Time,
        limit: 40,
    };
    Ok(ended(
        read.and_then(|()| file::put(&sum, &args.output, view)),
    ))
}

fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gtrace: {error:#}");
            ExitCode::from(NOT_POSSIBLE)
        }
    }
}
