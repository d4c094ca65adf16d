//! `gtrace baseline`: what this host should be, and what differs from it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use gtrace_devices::{Baseline, BaselineFacts, Difference, Setting};
use gtrace_engine::config::{Config, Keys};
use gtrace_engine::{baseline, host, scan, whole_file};
use gtrace_event::{HealthSubject, Timestamp};
use serde::Serialize;

use super::shared::{self, Exit};

/// Save how this host is, and compare it with that later: driver, VBIOS, firmware, power limit, ECC, MIG, persistence mode,
/// confidential computing, counts of GPUs, NVLinks, NVSwitches and RDMA ports. Asks the devices itself; needs no daemon.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Write how this host is now.
    Save {
        /// Replace the file if it is there, and save it even if NVML does not answer.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Say what differs. Exit status: 0 nothing, 1 something, 3 there is no baseline, or nothing could be compared.
    Check {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Print the baseline that is in force.
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(clap::Args, Debug)]
struct Common {
    /// The baseline; by default that of the configuration. `-` of `save` is standard output.
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Configuration file.
    #[arg(long, env = "GTRACE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
}

impl Common {
    fn load(self) -> anyhow::Result<(Config, PathBuf)> {
        let config = Config::load(self.config.as_deref(), self.keys)?;
        let file = self.file.unwrap_or_else(|| config.baseline.clone());
        Ok((config, file))
    }
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside, a configuration that is refused, and a baseline that cannot be read or
/// written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        What::Save { force, common } => save(common, force),
        What::Check { json, common } => check(common, json),
        What::Show { json, common } => show(common, json),
    }
}

/// What is found, and why GPUs could not be asked.
fn found(config: &Config) -> (BaselineFacts, Option<String>) {
    let (report, missing) = scan::look(config);
    if let Some(error) = &report.pci_error {
        say!("PCI devices cannot be listed: {error}");
    }
    let missing = missing.map(|error| error.to_string());
    if let Some(error) = &missing {
        say!("NVML does not answer: {error}");
    }
    (BaselineFacts::of(&report), missing)
}

fn save(common: Common, force: bool) -> anyhow::Result<ExitCode> {
    let (config, file) = common.load()?;
    let (facts, missing) = found(&config);
    if missing.is_some() && !force {
        say!(
            "a baseline without what NVML says is worth little: mend that first, or save it with --force"
        );
        return Ok(Exit::NotPossible.into());
    }
    let saved = Baseline::of(&facts);
    let text = baseline::file_text(&saved, &host::name(), Timestamp::now())?;
    if file == Path::new("-") {
        shared::print(&text)?;
        return Ok(Exit::Success.into());
    }
    if file.exists() && !force {
        say!(
            "{} is there already: see what differs with `gtrace baseline check`, replace it with --force",
            file.display()
        );
        return Ok(Exit::NotPossible.into());
    }
    whole_file::save(&file, &text)
        .with_context(|| format!("{} cannot be written", file.display()))?;
    let gpus = facts.gpus.len();
    shared::print(&format!("{}: {gpus} GPUs\n", file.display()))?;
    Ok(Exit::Success.into())
}

/// The baseline in the file; `None`, with a line on standard error, where there is none.
fn read(file: &Path) -> anyhow::Result<Option<Baseline>> {
    let found = baseline::load(file)?;
    if found.is_none() {
        say!(
            "there is no {}: `gtrace baseline save` writes it on a host that is as it should be",
            file.display()
        );
    }
    Ok(found)
}

/// A part in `check --json`.
#[derive(Serialize)]
struct Part {
    part: HealthSubject,
    differences: Vec<Difference>,
    same: Vec<Setting>,
    unread: Vec<Setting>,
}

fn check(common: Common, json: bool) -> anyhow::Result<ExitCode> {
    let (config, file) = common.load()?;
    let Some(expected) = read(&file)? else {
        return Ok(Exit::NotPossible.into());
    };
    let compared = baseline::judge(&expected, &found(&config).0);
    let parts: Vec<_> = compared
        .into_iter()
        .map(|(judgement, found)| Part {
            part: judgement.subject,
            differences: found.differences,
            same: found.same,
            unread: found.unread,
        })
        .collect();
    let differ = parts.iter().any(|part| !part.differences.is_empty());
    let compared = parts.iter().any(|part| !part.same.is_empty());
    shared::show(json, &parts, || parts.iter().map(lines).collect())?;
    Ok(match (differ, compared) {
        (true, _) => Exit::Problem,
        (false, true) => Exit::Success,
        (false, false) => Exit::NotPossible,
    }
    .into())
}

fn lines(part: &Part) -> String {
    let name = &part.part;
    let mut text: String = part
        .differences
        .iter()
        .map(|difference| {
            format!(
                "{name}: {}\n",
                crate::render::clean(&difference.to_string())
            )
        })
        .collect();
    if part.differences.is_empty() && !part.same.is_empty() {
        text.push_str(&format!(
            "{name}: as expected, {} settings\n",
            part.same.len()
        ));
    }
    if !part.unread.is_empty() {
        let names: Vec<_> = part.unread.iter().map(|setting| setting.name()).collect();
        text.push_str(&format!("{name}: not read: {}\n", names.join(", ")));
    }
    text
}

fn show(common: Common, json: bool) -> anyhow::Result<ExitCode> {
    let (_, file) = common.load()?;
    let Some(expected) = read(&file)? else {
        return Ok(Exit::NotPossible.into());
    };
    let text = match json {
        true => shared::json_line(&expected)?,
        false => toml::to_string(&expected)?,
    };
    shared::print(&text)?;
    Ok(Exit::Success.into())
}
