//! The command line as a whole.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};

use super::shared::{self, Exit};
use super::{
    ack, agent, baseline, bench, capture, completions, config, decode, demo_host, device_plugin,
    doctor, events, exec, explain, fleet, gameday, head, health, incidents, inject, maintenance,
    man, mcp, pause, profile, report, run, runbook, samples, scan, schema, serve, session, status,
    token, top, trace, usage,
};

/// Captures NVIDIA GPU faults, explains them and keeps a tamper-evident history; measures driver and CUDA
/// calls; runs CUDA programs on a remote GPU.
///
/// Exit status: 0 success, 1 problem found, 2 wrong usage, 3 not possible on this host.
#[derive(Parser)]
#[command(version, about, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
// A variant without a line here has the longer help of its arguments.
pub(super) enum Command {
    /// Watch this host: the daemon.
    Run(run::Args),
    Doctor(doctor::Args),
    Status(status::Args),
    /// Query events, or follow them live.
    Events(events::Args),
    Decode(decode::Args),
    Explain(explain::Args),
    Top(top::Args),
    Profile(profile::Args),
    Trace(trace::Args),
    Health(health::Args),
    Scan(scan::Args),
    Baseline(baseline::Args),
    Maintenance(maintenance::Args),
    Token(token::Args),
    Incidents(incidents::Args),
    Runbook(runbook::Args),
    Samples(samples::Args),
    Report(report::Args),
    Capture(capture::Args),
    Mcp(mcp::Args),
    /// Acknowledge an event, with a name and a note.
    Ack(ack::Args),
    /// Inject a drill: a fault in the kernel log that is marked as injected.
    Inject(inject::Args),
    Gameday(gameday::Args),
    Demo(demo_host::Args),
    /// Detach every probe of the running daemon.
    Pause(pause::Args),
    /// Attach the probes again.
    Resume(pause::ResumeArgs),
    /// Run a CUDA program on a remote GPU.
    Exec(exec::Args),
    /// Serve the GPUs of this host, or a CPU emulator, to programs on other hosts.
    Serve(serve::Args),
    /// Measure the latency of CUDA calls on a remote GPU.
    Bench(bench::Args),
    DevicePlugin(device_plugin::Args),
    Head(head::Args),
    Agent(agent::Args),
    Fleet(fleet::Args),
    Session(session::Args),
    /// Check or show the configuration.
    Config(config::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
    /// Execute the calls of one client of `gtrace serve`.
    #[command(hide = true)]
    ServeWorker,
    /// Measure one kind of call with the driver that is found.
    #[command(hide = true)]
    BenchClient {
        /// File that says what to measure, JSON.
        plan: PathBuf,
    },
    /// List the GPUs of a server, for the device plugin.
    #[command(hide = true)]
    RemoteGpus {
        /// The client's NVML.
        library: PathBuf,
    },
    /// Call NVML for the daemon.
    #[command(hide = true)]
    NvmlChild {
        /// NVML library.
        #[arg(long)]
        library: Option<PathBuf>,
    },
    /// Give up every right and become a plugin of the site.
    #[command(hide = true)]
    PluginChild {
        /// Control group to enter first.
        #[arg(long)]
        cgroup: Option<PathBuf>,
        /// Process id of the daemon, with which the plugin ends.
        #[arg(long)]
        parent: i32,
        /// The plugin.
        path: PathBuf,
    },
    /// Ask for a file system for the daemon.
    #[command(hide = true)]
    StatfsChild {
        /// Where it is mounted.
        path: PathBuf,
    },
}

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    let command = match arguments() {
        Ok(cli) => cli.command,
        Err(error) => return explained(&error),
    };
    let result = match command {
        Command::Run(args) => run::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Status(args) => status::run(args),
        Command::Events(args) => events::run(args),
        Command::Decode(args) => decode::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Top(args) => top::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Health(args) => health::run(args),
        Command::Scan(args) => scan::run(args),
        Command::Baseline(args) => baseline::run(args),
        Command::Maintenance(args) => maintenance::run(args),
        Command::Token(args) => token::run(args),
        Command::Incidents(args) => incidents::run(args),
        Command::Runbook(args) => runbook::run(args),
        Command::Samples(args) => samples::run(args),
        Command::Report(args) => report::run(args),
        Command::Capture(args) => capture::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Ack(args) => ack::run(args),
        Command::Inject(args) => inject::run(args),
        Command::Gameday(args) => gameday::run(args),
        Command::Demo(args) => demo_host::run(args),
        Command::Pause(args) => pause::pause(args),
        Command::Resume(args) => pause::resume(args),
        Command::Exec(args) => exec::run(args),
        Command::Serve(args) => serve::run(args),
        Command::ServeWorker => return serve::worker(),
        Command::Bench(args) => bench::run(args),
        Command::BenchClient { plan } => return bench::client(&plan),
        Command::DevicePlugin(args) => device_plugin::run(args),
        Command::RemoteGpus { library } => return device_plugin::list(&library),
        Command::Head(args) => head::run(args),
        Command::Agent(args) => agent::run(args),
        Command::Fleet(args) => fleet::run(args),
        Command::Session(args) => session::run(args),
        Command::Config(args) => config::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Completions(args) => completions::run(args, Cli::command()),
        Command::Man(args) => man::run(args, Cli::command()),
        Command::NvmlChild { library } => return gtrace_devices::child_main(library),
        Command::PluginChild {
            cgroup,
            parent,
            path,
        } => {
            return match gtrace_plugins::launch::exec(&path, cgroup.as_deref(), parent) {
                Ok(never) => match never {},
                Err(error) => {
                    say!("{} cannot be run: {error}", path.display());
                    Exit::NotPossible.into()
                }
            };
        }
        Command::StatfsChild { path } => {
            return match gtrace_devices::answer(&path) {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            };
        }
    };
    result.unwrap_or_else(|error| {
        shared::say(&shared::why(&error));
        shared::exit_of(&error).into()
    })
}

/// What the process's arguments and variables say.
fn arguments() -> Result<Cli, clap::Error> {
    let mut matches = without_empty_paths(Cli::command()).try_get_matches()?;
    let read = Cli::from_arg_matches_mut(&mut matches);
    read.map_err(|error| error.format(&mut Cli::command()))
}

/// A variable for a path that is set to nothing, as manifests and units do for a value that nobody gave, is none.
fn without_empty_paths(command: clap::Command) -> clap::Command {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let without = |argument: Arg| {
        let is_path = argument.get_value_hint() == ValueHint::AnyPath;
        match is_path && argument.get_env().is_some_and(is_empty) {
            true => argument.env(None::<&str>),
            false => argument,
        }
    };
    command
        .mut_args(without)
        .mut_subcommands(without_empty_paths)
}

/// Help, the version, or what is wrong with the arguments.
fn explained(error: &clap::Error) -> ExitCode {
    match error.use_stderr() {
        true => {
            // A command that was called without a subcommand: its help is the answer.
            if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                // With standard error gone nobody can be notified.
                let _ = error.print();
            } else {
                let words: Vec<OsString> = std::env::args_os().skip(1).collect();
                let text = usage::text(error, Cli::command(), &words);
                shared::say(text.trim_end());
            }
            Exit::Usage.into()
        }
        false => match shared::written(error.print()) {
            Ok(_) => Exit::Success.into(),
            Err(error) => {
                say!("{error:#}");
                Exit::NotPossible.into()
            }
        },
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
