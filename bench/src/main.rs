//! Every figure that gtrace's documents quote, measured beside its limit or the public tool that
//! a user would pick instead, in the same run. `docs/benchmarks.md` says how.

mod api_load;
mod bench;
mod bpftrace;
mod cleanup;
mod corpus;
mod daemon;
mod ioctl_load;
mod kmsg;
mod machine;
mod markers;
mod output;
mod process;
mod remote;
mod report;
mod scratch;
mod stand_in;
mod stats;
mod sys;
mod watcher;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};

use crate::bench::{Context, Length, Name};
use crate::machine::Machine;
use crate::output::Results;

/// Benchmarks of gtrace, each beside its limit or a public tool. A missed budget is said, and is
/// no failure.
#[derive(Debug, Parser)]
#[command(name = "gtrace-bench", version)]
struct Args {
    /// The benchmark; all of them without one
    #[arg(value_enum)]
    name: Option<Name>,
    /// Measure for longer
    #[arg(long)]
    long: bool,
    /// Run each once and small, to see that it works; the figures mean little
    #[arg(long, conflicts_with = "long")]
    short: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Append the results to FILE as well
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "bench/results.md")]
    write: Option<PathBuf>,
    /// The gtrace binary; by default the one beside this program
    #[arg(long, value_name = "PATH", env = "GTRACE_BIN")]
    gtrace: Option<PathBuf>,
    /// Where stores and generated logs are put, and removed again; a disk, not memory
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    scratch: PathBuf,
}

fn main() -> anyhow::Result<ExitCode> {
    // The program that `remote` measures is this one, started through `gtrace exec`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, count] = arguments.as_slice()
        && first == remote::client::ARGUMENT
    {
        remote::client::main(count)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let [first, count] = arguments.as_slice()
        && first == bench::passing::ARGUMENT
    {
        bench::passing::main(count)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments == [stand_in::ARGUMENT] {
        stand_in::main()?;
        return Ok(ExitCode::SUCCESS);
    }
    let args = Args::parse();
    // What heads and agents in this process warn of.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .init();
    cleanup::on_signals().context("the handler that restores settings on Ctrl-C")?;
    let context = Context {
        gtrace: gtrace_binary(args.gtrace)?,
        length: match (args.short, args.long) {
            (true, _) => Length::Short,
            (_, true) => Length::Long,
            _ => Length::Default,
        },
        scratch: args.scratch,
        quiet: args.json,
    };
    let mut results = Results::new(Machine::read(&context), context.length.name());
    if !args.json {
        print!("{}", results.heading());
    }
    let names = args
        .name
        .map_or_else(|| Name::value_variants().to_vec(), |name| vec![name]);
    let mut failed = false;
    for name in names {
        let report = bench::run(name, &context);
        failed |= report.failed();
        if !args.json {
            print!("{}", report.text());
        }
        results.reports.push(report);
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&results.json())?);
    }
    if let Some(file) = args.write {
        results.append_to(&file)?;
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn gtrace_binary(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let path = match named {
        Some(path) => path,
        None => std::env::current_exe()?.with_file_name("gtrace"),
    };
    let path = path.canonicalize().with_context(|| {
        format!(
            "there is no gtrace binary at {}; name it with --gtrace",
            path.display()
        )
    })?;
    Ok(path)
}
