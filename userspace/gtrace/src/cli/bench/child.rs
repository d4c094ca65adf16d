//! The program whose calls are measured: this one again, with the client's library before any other `libcuda.so.1`, in a
//! process for each case, so that each has statistics of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, bail};
use gtrace_collect::stats_file;
use gtrace_measure::{Outcome, Plan};
use gtrace_profile::Row;

use crate::cli::exec::{VARIABLES, libraries, search_path};
use crate::cli::shared::{self, Exit};

/// Longest answer of a child, bytes.
const ANSWER: u64 = 16 << 20;

/// The child: measures what the file `plan` says and prints it.
pub fn client(plan: &Path) -> ExitCode {
    let read = std::fs::read(plan)
        .map_err(anyhow::Error::from)
        .and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    let plan: Plan = match read {
        Ok(plan) => plan,
        Err(error) => {
            say!("{} is no plan of a measurement: {error}", plan.display());
            return Exit::Usage.into();
        }
    };
    let printed = gtrace_measure::run(&plan)
        .map_err(anyhow::Error::from)
        .and_then(|outcome| {
            shared::print(&shared::json_line(&outcome)?)?;
            Ok(())
        });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say!("{}: {error:#}", plan.case);
            Exit::Problem.into()
        }
    }
}

/// Starts children for one link.
pub(super) struct Children {
    environment: Vec<(&'static str, OsString)>,
    folder: PathBuf,
}

impl Children {
    /// With what the client's library is to read; statistics go to a file below `folder`.
    pub(super) fn new(
        environment: Vec<(&'static str, OsString)>,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let library = libraries::CLIENT.unpack()?;
        let mut environment = environment;
        environment.push(("LD_LIBRARY_PATH", search_path(&library)));
        Ok(Self {
            environment,
            folder: folder.to_owned(),
        })
    }

    /// Measures, and what the library has counted meanwhile.
    ///
    /// # Errors
    ///
    /// What the child says on standard error.
    pub(super) fn measure(&self, plan: &Plan) -> anyhow::Result<(Outcome, Vec<Row>)> {
        let statistics = self.folder.join("stats.json");
        let _ = std::fs::remove_file(&statistics);
        let mut command = Command::new("/proc/self/exe");
        // By a file, as the calls of a recorded program are more than a command line takes.
        let file = self.folder.join("plan.json");
        std::fs::write(&file, serde_json::to_vec(plan)?).context("the plan of a measurement")?;
        command.arg("bench-client").arg(&file);
        for name in VARIABLES {
            command.env_remove(name);
        }
        // Which device it is must not depend on who starts this.
        command
            .env_remove("CUDA_LAUNCH_BLOCKING")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("GTRACE_STATS", &statistics)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().context("the program that is measured")?;
        let mut answer = Vec::new();
        if let Some(out) = child.stdout.take() {
            out.take(ANSWER).read_to_end(&mut answer)?;
        }
        let status = child.wait()?;
        if !status.success() {
            bail!(
                "{} could not be measured: the program ended with {status}",
                plan.case
            );
        }
        let outcome = serde_json::from_slice(&answer).context("the answer of the program")?;
        let rows = match File::open(&statistics) {
            Ok(file) => stats_file::read(file).context("the statistics of the program")?,
            Err(error) => bail!("{} has left no statistics: {error}", plan.case),
        };
        Ok((outcome, rows))
    }
}
