//! The `gtrace` command.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gtrace::cli;

/// What happens between a program and its GPU: live, lasting and explained.
///
/// Exit status: 0 fine, 1 problem found, 2 wrong usage, 3 not possible on this host.
#[derive(Parser)]
#[command(version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Watch this host: the daemon.
    Run(cli::run::Args),
    /// Say, source by source, what this host gives, what it lacks and how to get it.
    Doctor(cli::doctor::Args),
    /// Show how the daemon and its sources stand.
    Status(cli::status::Args),
    /// Show events, now or as they come.
    Events(cli::events::Args),
    /// Explain a saved kernel log, on any machine.
    Decode(cli::decode::Args),
    /// Show events, counters, sources and GPUs live.
    Top(cli::top::Args),
    /// Show where the time of driver calls goes.
    Profile(cli::profile::Args),
    /// Show the driver calls of a process live.
    Trace(cli::trace::Args),
    /// Take note of an event: who, and why.
    Ack(cli::ack::Args),
    /// Write a drill into the kernel log: an event that is marked as injected.
    Inject(cli::inject::Args),
    /// Detach every probe of the running daemon.
    Pause(cli::pause::Args),
    /// Attach the probes again.
    Resume(cli::pause::Args),
    /// Run a program with the GPUs of another host.
    Exec(cli::exec::Args),
    /// Serve the GPUs of this host to programs on other hosts.
    Serve(cli::serve::Args),
    /// Measure what calls cost on the GPU of another host.
    Bench(cli::bench::Args),
    /// Check or show the configuration.
    Config(cli::config::Args),
    /// Execute the calls of one client of `gtrace serve`.
    #[command(hide = true)]
    ServeWorker,
    /// Measure one kind of call with the driver that is found.
    #[command(hide = true)]
    BenchClient {
        /// File that says what to measure, JSON.
        plan: PathBuf,
    },
    /// Answer the daemon's questions to NVML.
    #[command(hide = true)]
    NvmlChild {
        /// NVML library.
        #[arg(long)]
        library: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => cli::run::run(args),
        Command::Doctor(args) => cli::doctor::run(args),
        Command::Status(args) => cli::status::run(args),
        Command::Events(args) => cli::events::run(args),
        Command::Decode(args) => cli::decode::run(args),
        Command::Top(args) => cli::top::run(args),
        Command::Profile(args) => cli::profile::run(args),
        Command::Trace(args) => cli::trace::run(args),
        Command::Ack(args) => cli::ack::run(args),
        Command::Inject(args) => cli::inject::run(args),
        Command::Pause(args) => cli::pause::run(args, true),
        Command::Resume(args) => cli::pause::run(args, false),
        Command::Exec(args) => cli::exec::run(args),
        Command::Serve(args) => cli::serve::run(args),
        Command::ServeWorker => return cli::serve::worker(),
        Command::Bench(args) => cli::bench::run(args),
        Command::BenchClient { plan } => return cli::bench::client(&plan),
        Command::Config(args) => cli::config::run(args),
        Command::NvmlChild { library } => return gtrace_devices::child_main(library),
    };
    result.unwrap_or_else(|error| cli::not_possible(&error))
}
