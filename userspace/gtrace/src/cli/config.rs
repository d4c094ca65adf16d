//! `gtrace config check|show`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::PROBLEM;
use crate::config::{Config, Keys};

/// Check or show the configuration.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say whether the configuration is accepted; exit 1 if not.
    Check(Sources),
    /// Print every key with the value in force, as TOML.
    Show(Sources),
}

#[derive(clap::Args, Debug)]
struct Sources {
    /// Configuration file.
    #[arg(long, env = "GTRACE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (sources, show) = match args.what {
        What::Check(sources) => (sources, false),
        What::Show(sources) => (sources, true),
    };
    let loaded = Config::load_keys(sources.config.as_deref(), sources.keys)
        .and_then(|keys| Config::from_keys(keys.clone()).map(|_| keys));
    match loaded {
        Ok(keys) if show => print!("{}", toml::to_string(&keys)?),
        Ok(_) => println!("the configuration is accepted"),
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(PROBLEM));
        }
    }
    Ok(ExitCode::SUCCESS)
}
