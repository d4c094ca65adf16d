//! `gtrace profile`: where the time of calls goes, by process and function; what two profiles differ in.

mod api;
mod calls;
mod collect;
mod diff;
mod record;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use gtrace_collect::profile_file::{self, Format, View};
use gtrace_profile::{Profile, table};
use gtrace_timeline::live::Target;

use super::new_file;
use super::other_host::{DaemonPlace, Typed};
use super::shared::{self, Failure};

/// How the probes on CUDA calls are set.
const OF_PROBES: &[&str] = &["--budget", "--library", "--device-memory"];
/// Which daemon is asked, by which calls of the driver are counted.
const OF_DAEMON: &[&str] = &[
    "--config",
    "--socket",
    "--url",
    "--token-file",
    "--ca",
    "--cert",
    "--key",
];
/// What a table alone has.
const OF_TABLE: &[&str] = &["--sort"];

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// Total time.
    #[default]
    Time,
    /// Number of calls.
    Calls,
    /// 99th percentile.
    P99,
    /// Longest call.
    Max,
    /// Failed calls.
    Failures,
}

impl From<Sort> for table::Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Time => Self::Time,
            Sort::Calls => Self::Calls,
            Sort::P99 => Self::P99,
            Sort::Max => Self::Max,
            Sort::Failures => Self::Failures,
        }
    }
}

/// Latency percentiles of CUDA, driver and remote calls by process and function.
///
/// CUDA calls of running processes (--pid, --all) are measured by uprobes, driver calls (--driver) by the daemon, remote
/// calls (--remote) by `gtrace serve`. Profiles can be saved, shown, merged and compared.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(flatten)]
    typed: Typed,
    #[command(subcommand)]
    command: Option<Saved>,
    /// CUDA calls of running processes, using uprobes; the default with --pid or --all.
    #[arg(long)]
    api: bool,
    /// Calls into the NVIDIA driver, as the daemon counts them.
    #[arg(long)]
    driver: bool,
    /// Calls of remote programs on this host's GPUs, as `gtrace serve` counts them, or with
    /// --stats-file those of programs here.
    #[arg(long)]
    remote: bool,
    /// Only this process; of --remote also the client's own number for it.
    #[arg(long, conflicts_with = "all")]
    pid: Option<u32>,
    /// Every process, which with --driver and --remote is also what is shown without --pid.
    #[arg(long)]
    all: bool,
    /// Count for so long (10, 90s, 5m), in intervals; without it, show what was counted so far.
    #[arg(long, value_name = "TIME", value_parser = super::duration::seconds)]
    duration: Option<Duration>,
    /// Length of the intervals; by default a 60th of --duration, at least 2 s.
    #[arg(long, value_name = "TIME", value_parser = super::duration::seconds, requires = "duration")]
    interval: Option<Duration>,
    /// What `gtrace exec --stats-file` wrote, of one process; may be repeated.
    #[arg(
        long,
        value_name = "FILE",
        requires = "remote",
        conflicts_with = "duration"
    )]
    stats_file: Vec<PathBuf>,
    /// Status socket of `gtrace serve`.
    #[arg(
        long,
        value_name = "PATH",
        requires = "remote",
        conflicts_with = "stats_file"
    )]
    status_socket: Option<PathBuf>,
    /// How CUDA calls are traced.
    #[command(flatten)]
    probes: api::ApiArgs,
    #[command(flatten)]
    output: Output,
    /// What to sort by.
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,
    /// How many rows, of each layer of a process; 0 for all.
    #[arg(long, default_value_t = 40, conflicts_with = "json")]
    limit: usize,
    /// JSON: with --driver alone an array of all rows with the failures by NV_STATUS, with --pid or --all alone what is printed
    /// without it (calls, tracked memory, the probes' cost), else the profile. --out FILE.json is what `show` and `diff` read.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Which daemon.
    #[command(flatten)]
    place: DaemonPlace,
}

/// Where a profile is written.
#[derive(Clone, Debug, clap::Args)]
struct Output {
    /// Write the profile to a file: its name's end says how (.json, .hlog, .prom, .svg), or --format.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How to write: the profile itself (json), an HdrHistogram log (hlog), OpenMetrics (prom), a plot of
    /// percentiles (svg), of latency over time (heatmap), or a table.
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl Output {
    /// Whether it is known how a profile is written there.
    fn check_format(&self) -> anyhow::Result<()> {
        let out = self.out.as_ref();
        out.map_or(Ok(()), |path| {
            profile_file::format_of(path, self.format).map(drop)
        })
    }

    /// Whether a profile could be put there, before one is taken.
    fn check(&self) -> Result<(), Failure> {
        self.out.as_deref().map_or(Ok(()), new_file::check_writable)
    }

    /// Writes a profile there; to standard output, as a table, if nothing else is said.
    fn put(&self, profile: &Profile, view: View) -> anyhow::Result<()> {
        if let Some(path) = &self.out {
            return profile_file::save(profile, path, self.format, view);
        }
        let format = self.format.unwrap_or(Format::Table);
        let mut text = Vec::new();
        profile_file::write(profile, format, view, &mut text)?;
        shared::print_bytes(&text).map(drop)
    }
}

/// What is done with saved profiles.
#[derive(Clone, Debug, clap::Subcommand)]
enum Saved {
    Diff(diff::Args),
    Show(show::ShowArgs),
    Merge(show::MergeArgs),
}

impl Args {
    /// Whether CUDA calls are counted.
    fn counts_api(&self) -> bool {
        self.api || (!self.driver && !self.remote && (self.pid.is_some() || self.all))
    }

    /// Whether a profile is printed as a table, or as JSON.
    fn is_printed(&self) -> bool {
        self.output.out.is_none() && self.output.format.is_none()
    }

    /// Whether all that is asked for is what the daemon has counted so far.
    fn is_of_daemon(&self) -> bool {
        let is_alone = self.driver && !self.remote && !self.api;
        is_alone && self.is_printed() && self.duration.is_none()
    }

    /// Refuses what would have no effect.
    fn check(&self) -> Result<(), Failure> {
        let has_others = self.driver || self.remote;
        let without_effect = [
            (
                !self.driver,
                OF_DAEMON,
                "is for --driver: other calls are counted on this host, without the daemon; of another host run \
                 `gtrace profile` there",
            ),
            (
                has_others && !self.api,
                OF_PROBES,
                "is for CUDA calls: add --api, which counts them beside the others",
            ),
            (
                self.json && !self.is_of_daemon(),
                OF_TABLE,
                "is for the table: a profile in JSON has all rows, by process and function",
            ),
        ];
        for (is_so, options, why) in without_effect {
            if let Some(option) = self.typed.first(options).filter(|_| is_so) {
                return Err(Failure::usage(format!("{option} {why}")));
            }
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let output = match &args.command {
        Some(Saved::Diff(_)) => None,
        Some(Saved::Show(args)) => Some(&args.output),
        Some(Saved::Merge(args)) => Some(&args.output),
        // --json is a format too.
        None => Some(&args.output).filter(|_| !args.json),
    };
    let checked = output.map_or(Ok(()), Output::check_format);
    checked.map_err(Failure::usage)?;
    match &args.command {
        Some(Saved::Diff(args)) => return diff::run(args),
        Some(Saved::Show(args)) => return show::show(args),
        Some(Saved::Merge(args)) => return show::merge(args),
        None => {}
    }
    args.check()?;
    if args.is_of_daemon() {
        return calls::run(&args);
    }
    if args.counts_api() {
        if let Some(pid) = args.pid {
            Target::find(Path::new("/proc"), pid).map_err(Failure::usage)?;
        }
        if !args.driver && !args.remote && args.is_printed() && args.interval.is_none() {
            return api::run(&args);
        }
    }
    let collectors = collect::collectors(&args)?;
    if collectors.is_empty() {
        let why = "say what to profile: --pid N or --all (CUDA calls of running processes), --driver (calls into the NVIDIA driver), --remote (calls on a GPU \
             of another machine), --api (CUDA calls, beside the others), or several";
        return Err(Failure::usage(why).into());
    }
    record::run(&args, collectors)
}
