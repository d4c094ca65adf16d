//! Running one program in every way, and comparing what it prints.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::process::{self, Outcome};
use crate::server::{Gpu, Server, Via};

/// Where programs run: what is beside the program itself.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The `gtrace` binary.
    pub gtrace: PathBuf,
    /// The GPU of servers.
    pub gpu: Gpu,
    /// Where the dynamic loader finds the same driver and NVML for programs that run directly.
    pub direct: OsString,
    /// The folder of the kernels' PTX.
    pub kernels: PathBuf,
    /// Whether the device is a real one, which programs that are portable in part want to know.
    pub real: bool,
    /// How long a program may take.
    pub limit: Duration,
}

/// Names a folder where each program that runs through a server leaves its client's statistics.
pub const CALLS: &str = "GTRACE_E2E_CALLS";

/// The program whose statistics a file in the folder of [`CALLS`] has.
pub fn called_by(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?.strip_suffix(".json")?;
    Some(name.rsplit_once('@')?.0)
}

/// Ways through a server: a link, and options for `gtrace exec`.
pub const WAYS: [(Via, &[&str]); 4] = [
    (Via::Tcp, &[]),
    (Via::Unix, &[]),
    (Via::Shm, &[]),
    (Via::Unix, &["--strict"]),
];

/// Programs whose processes share memory by handles. Those of the CPU emulator lead to a file of the other process, those
/// of NVIDIA's driver to one in /dev/shm, and no worker may open either in its sandbox.
const SHARING: [&str; 1] = ["ipc"];

/// A program, and what its environment and its server's add.
#[derive(Clone, Debug)]
pub struct Case {
    program: PathBuf,
    arguments: Vec<String>,
    client: Vec<(String, String)>,
    server: Vec<(String, String)>,
    mask: fn(&str) -> String,
}

impl Case {
    /// A program without arguments, whose whole output counts.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            client: Vec::new(),
            server: Vec::new(),
            mask: str::to_owned,
        }
    }

    /// Arguments of the program.
    #[must_use]
    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments
            .iter()
            .map(|&argument| argument.to_owned())
            .collect();
        self
    }

    /// A variable of the program's environment.
    #[must_use]
    pub fn client(mut self, name: &str, value: &str) -> Self {
        self.client.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A variable of the server's environment, which is the program's own if it runs directly.
    #[must_use]
    pub fn server(mut self, name: &str, value: &str) -> Self {
        self.server.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What of the output is compared.
    #[must_use]
    pub fn mask(mut self, mask: fn(&str) -> String) -> Self {
        self.mask = mask;
        self
    }

    /// A server for this program.
    pub fn serve(&self, ground: &Ground, arguments: &[&str]) -> Result<Server> {
        let variables: Vec<_> = self
            .server
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        let name = self.program.file_name().and_then(|name| name.to_str());
        let shares = name.is_some_and(|name| SHARING.contains(&name));
        let open: &[&str] = if shares { &["--sandbox", "off"] } else { &[] };
        let arguments = [arguments, open].concat();
        Server::start_with(&ground.gtrace, &ground.gpu, &variables, &arguments)
    }

    /// Directly on the driver; the program is content.
    pub fn direct(&self, ground: &Ground) -> Result<Outcome> {
        self.content(self.outcome_directly(ground)?, "directly")
    }

    /// Through `server`; `options` are for `gtrace exec`. The program is content.
    pub fn remote(
        &self,
        ground: &Ground,
        server: &Server,
        via: Via,
        options: &[&str],
    ) -> Result<Outcome> {
        self.content(self.outcome(ground, server, via, options)?, via.name())
    }

    fn content(&self, outcome: Outcome, how: &str) -> Result<Outcome> {
        let program = self.program.display();
        ensure!(outcome.status.success(), "{program} {how}: {outcome}");
        Ok(outcome)
    }

    /// Directly, whatever comes of it.
    pub fn outcome_directly(&self, ground: &Ground) -> Result<Outcome> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env("LD_LIBRARY_PATH", &ground.direct)
            .envs(self.server.iter().cloned());
        self.run(ground, &mut command)
    }

    /// Through `server`, whatever comes of it.
    pub fn outcome(
        &self,
        ground: &Ground,
        server: &Server,
        via: Via,
        options: &[&str],
    ) -> Result<Outcome> {
        let mut command = server.exec(via);
        // A test may want them for itself.
        let wanted = options.contains(&"--stats-file");
        if let Some(file) = self.statistics().filter(|_| !wanted) {
            command.arg("--stats-file").arg(file);
        }
        command
            .args(options)
            .arg("--")
            .arg(&self.program)
            .args(&self.arguments);
        self.run(ground, &mut command)
    }

    /// A new file for the statistics of this program, which a script is called by if it is one.
    fn statistics(&self) -> Option<PathBuf> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let folder = PathBuf::from(std::env::var_os(CALLS)?);
        let script = self.arguments.first().map(Path::new);
        let script = script.filter(|file| file.extension().is_some_and(|end| end == "py"));
        let name = script.unwrap_or(&self.program).file_stem()?.to_str()?;
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        Some(folder.join(format!("{name}@{}-{run}.json", std::process::id())))
    }

    fn run(&self, ground: &Ground, command: &mut Command) -> Result<Outcome> {
        ground.clean(command);
        command.envs(self.client.iter().cloned());
        process::run(command, ground.limit)
    }

    /// Directly, over each link, and with every call answered; all print the same, which comes back.
    ///
    /// # Errors
    ///
    /// The first way in which the program fails or prints something else.
    pub fn same_everywhere(&self, ground: &Ground) -> Result<String> {
        let server = self.serve(ground, &[])?;
        self.same_through(ground, &server)
            .with_context(|| format!("log of gtrace serve:\n{}", server.log()))
    }

    /// As [`Self::same_everywhere`], through a server that runs.
    pub fn same_through(&self, ground: &Ground, server: &Server) -> Result<String> {
        let direct = (self.mask)(&self.direct(ground)?.stdout);
        for (via, options) in WAYS {
            let outcome = self.remote(ground, server, via, options)?;
            let remote = (self.mask)(&outcome.stdout);
            ensure!(
                remote == direct,
                "{} over {} {options:?} prints something else than directly:\n{}{}",
                self.program.display(),
                via.name(),
                difference(&direct, &remote),
                outcome.stderr
            );
        }
        Ok(direct)
    }
}

impl Ground {
    /// The environment that every client has: nothing of this process's settings for CUDA, and the kernels.
    pub fn clean(&self, command: &mut Command) {
        for name in [
            "CUDA_VISIBLE_DEVICES",
            "CUDA_LAUNCH_BLOCKING",
            "CUDA_DEVICE_ORDER",
            "GTRACE_REMOTE",
            "GTRACE_STRICT",
        ] {
            command.env_remove(name);
        }
        command.env("GTRACE_KERNELS", &self.kernels);
        match self.real {
            true => command.env("GTRACE_REAL_GPU", "1"),
            false => command.env_remove("GTRACE_REAL_GPU"),
        };
    }
}

/// The lines in which two outputs differ, by their numbers; the first twenty.
fn difference(direct: &str, remote: &str) -> String {
    let (direct, remote): (Vec<_>, Vec<_>) = (direct.lines().collect(), remote.lines().collect());
    let mut text = String::new();
    let mut shown = 0;
    for at in 0..direct.len().max(remote.len()) {
        let line = |of: &[&str]| (*of.get(at).unwrap_or(&"(nothing)")).to_owned();
        if direct.get(at) == remote.get(at) {
            continue;
        }
        if shown == 20 {
            text += "...\n";
            break;
        }
        shown += 1;
        text += &format!(
            "line {}, directly: {}\nline {}, remotely: {}\n",
            at + 1,
            line(&direct),
            at + 1,
            line(&remote)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_shown() {
        let text = difference("a\nb\nc\n", "a\nx\n");
        assert_eq!(
            text,
            "line 2, directly: b\nline 2, remotely: x\nline 3, directly: c\nline 3, remotely: (nothing)\n"
        );
        assert_eq!(difference("same\n", "same\n"), "");
    }

    #[test]
    fn statistics_name_their_program() {
        let file = Path::new("/folder/vector_add@17-3.json");
        assert_eq!(called_by(file), Some("vector_add"));
        assert_eq!(called_by(Path::new("/folder/other.txt")), None);
    }
}
