//! Asks a server for its GPUs: a child loads the client's library, which asks the server, and calls its NVML. A server that
//! hangs, and whatever the library does, is the child's trouble.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use rustix::process::Signal;
use tokio::sync::oneshot;

use crate::inventory::Gpu;

/// A server has to answer, and the child to end, within this time.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);
/// Time between two looks whether the child has ended, once it has closed its pipes.
const LOOK: Duration = Duration::from_millis(20);
/// Most bytes of an answer.
const ANSWER_MAX: u64 = 1 << 20;
/// The longest reason that is kept, bytes.
const REASON_MAX: usize = 300;

/// How the child is started.
#[derive(Clone, Debug)]
pub struct Lister {
    /// The program and its first arguments; the last one is added: the library.
    pub command: Vec<OsString>,
    /// The client's library.
    pub library: PathBuf,
    /// What the library reads, but for the server's address.
    pub environment: Vec<(OsString, OsString)>,
}

impl Lister {
    /// The GPUs of a server, or why it does not say. A thread of its own waits: nothing else does.
    pub(crate) async fn list(self, server: String) -> Result<Vec<Gpu>, String> {
        let (answer, answered) = oneshot::channel();
        let thread = std::thread::Builder::new().name("lister".to_owned());
        let ask = move || drop(answer.send(self.ask(&server, DEADLINE)));
        thread.spawn(ask).map_err(|error| error.to_string())?;
        answered
            .await
            .unwrap_or_else(|_| Err("the thread that asked has ended".to_owned()))
    }

    fn ask(&self, server: &str, deadline: Duration) -> Result<Vec<Gpu>, String> {
        let (program, arguments) = self.command.split_first().ok_or("no command")?;
        let child = Command::new(program)
            .args(arguments)
            .arg(&self.library)
            .env("GTRACE_REMOTE", server)
            .envs(self.environment.iter().cloned())
            // The child's log is for the reason below, whatever the plugin's own is.
            .env_remove("GTRACE_LOG")
            .env_remove("CUDA_VISIBLE_DEVICES")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        let mut child = Killed(child);
        let (Some(out), Some(err)) = (child.0.stdout.take(), child.0.stderr.take()) else {
            return Err("the child has no pipes".to_owned());
        };
        let (answer, reason) = (read(out), read(err));
        let late = || format!("no answer within {} s", deadline.as_secs());
        let until = Instant::now() + deadline;
        let left = || until.saturating_duration_since(Instant::now());
        let answer = answer.recv_timeout(left()).map_err(|_| late())?;
        let reason = reason.recv_timeout(left()).map_err(|_| late())?;
        let status = loop {
            match child.0.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if left().is_zero() => return Err(late()),
                None => std::thread::sleep(LOOK),
            }
        };
        if !status.success() {
            let reason = String::from_utf8_lossy(&reason);
            let last = reason.lines().rfind(|line| !line.trim().is_empty());
            let text = last.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
            return Err(text.chars().take(REASON_MAX).collect());
        }
        serde_json::from_slice(&answer).map_err(|error| error.to_string())
    }
}

/// A child that does not outlive what asks for it.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// All that a pipe gives, once it has ended.
fn read(pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole: io::Result<usize> = pipe.take(ANSWER_MAX).read_to_end(&mut bytes);
        if whole.is_ok() {
            // Who waited may have given up.
            let _ = send.send(bytes);
        }
    });
    receive
}

/// Prints the GPUs that NVML of `library` shows, as JSON: the child.
pub fn child_main(library: &Path) -> ExitCode {
    if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return ExitCode::FAILURE;
    }
    let gpus = gpus(library);
    let text = match &gpus {
        Ok(gpus) => serde_json::to_string(gpus).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let written = match text {
        Ok(text) => {
            use std::io::Write as _;
            writeln!(std::io::stdout(), "{text}").map_err(|error| error.to_string())
        }
        Err(error) => Err(error),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            // Nobody reads it if this fails.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn gpus(library: &Path) -> Result<Vec<Gpu>, NvmlError> {
    let nvml = Nvml::builder().lib_path(library.as_os_str()).init()?;
    (0..nvml.device_count()?)
        .map(|index| {
            let device = nvml.device_by_index(index)?;
            Ok(Gpu {
                uuid: device.uuid()?,
                name: device.name()?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_answers_and_does_not_end_is_given_up() {
        let lister = Lister {
            command: [
                "sh",
                "-c",
                "echo []; exec >&- 2>&-; while :; do sleep 1; done",
            ]
            .map(OsString::from)
            .into(),
            library: "/nonexistent".into(),
            environment: Vec::new(),
        };
        let answer = lister.ask("a:7471", Duration::from_millis(300));
        assert!(answer.unwrap_err().starts_with("no answer within"));
    }
}
