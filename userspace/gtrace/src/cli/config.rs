//! `gtrace config check|show`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use gtrace_engine::config::{Config, DEFAULT_FILE, Keys};
use gtrace_engine::daemon::{catalogue, triggers};
use gtrace_engine::{alertmanager, baseline, health_rules, otlp};

use crate::cli::shared::{self, Exit};

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
    let file = sources.config.clone();
    let read = match file.as_deref().unwrap_or(Path::new(DEFAULT_FILE)) {
        path if file.is_none() && !path.exists() => {
            format!("there is no {DEFAULT_FILE}; the defaults")
        }
        path => path.display().to_string(),
    };
    let text = match accepted(sources) {
        Ok(keys) if show => toml::to_string(&keys)?,
        Ok(_) => format!("{read}: the configuration is accepted\n"),
        Err(error) => {
            say!("{error:#}");
            return Ok(Exit::Problem.into());
        }
    };
    shared::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The keys in force, after all that `gtrace run` checks of a configuration, and whether the files for Alertmanager and
/// the credential for a head can be read, for which `gtrace run` does not refuse to start. Nor does it for those of https
/// while nothing listens there: systemd may hold that socket.
fn accepted(sources: Sources) -> anyhow::Result<Keys> {
    let keys = Config::load_keys(sources.config.as_deref(), sources.keys)?;
    let config = Config::from_keys(keys.clone())?;
    catalogue(&config)?;
    triggers(&config)?;
    baseline::load(&config.baseline)?;
    health_rules::load(&config.health_rules)?;
    if let Some(files) = &config.access {
        gtrace_http::check_access(files)?;
    }
    if let Some(options) = &config.plugins {
        let found = gtrace_plugins::find(&options.folder, 0)?;
        let refused = found.refused.first();
        if let Some((name, why)) = refused {
            anyhow::bail!("plugin {name} is refused: {why}");
        }
    }
    if let Some(options) = &config.alertmanager {
        alertmanager::check(options).map_err(anyhow::Error::msg)?;
    }
    if let Some(options) = &config.otlp {
        otlp::check(options).map_err(anyhow::Error::msg)?;
    }
    super::run::agent::check(&config)?;
    Ok(keys)
}
