//! `gtrace profile show` and `gtrace profile merge`.

use std::path::PathBuf;
use std::process::ExitCode;

use gtrace_collect::profile_file::{self, View};
use gtrace_profile::{Profile, table};

use super::{Output, Sort};

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
    pub(super) output: Output,
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
    pub(super) output: Output,
}

pub(super) fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let mut profile = profile_file::read(&args.file)?;
    profile.retain(|key| {
        let pid = args.pid.is_none_or(|pid| key.process.pid == pid);
        let text = args.function.as_deref();
        pid && text.is_none_or(|text| key.function.contains(text))
    });
    if profile.rows.is_empty() {
        say!("{} has no calls that match", args.file.display());
    }
    let view = View {
        order: args.sort.into(),
        limit: args.limit,
    };
    args.output.put(&profile, view)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn merge(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let mut sum = Profile::default();
    for path in &args.files {
        sum.merge(&profile_file::read(path)?);
    }
    let view = View {
        order: table::Order::Time,
        limit: 40,
    };
    args.output.put(&sum, view)?;
    Ok(ExitCode::SUCCESS)
}
