//! A running `gtrace run`, and its output.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gtrace_api::client::Client;
use gtrace_vm_tests::layout::GTRACE;
use serde_json::Value;

use super::{PATIENCE, Problems, within};

/// Longer than any answer takes, also where the processor is emulated.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// How long a daemon may take to end after SIGTERM.
const STOP: Duration = Duration::from_secs(20);

/// How many lines of a daemon's log a message shows.
const LOG_LINES: usize = 30;

/// A daemon. When dropped it is ended by SIGTERM; that it ended otherwise than well, then or
/// before, fails the case.
pub(crate) struct Daemon {
    dir: PathBuf,
    child: Child,
    problems: Problems,
    /// Whether the case ended it by itself, and its end is no concern any more.
    over: bool,
}

impl Daemon {
    /// Starts one in `dir` and waits until it answers.
    pub(crate) fn start(
        dir: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        problems: Problems,
    ) -> Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(dir.join("log"))
            .context("cannot create the daemon's log")?;
        let child = Command::new(GTRACE)
            .args(["run", "--quiet", "--listen", "off", "--kill-switch"])
            .arg(dir.join("pause"))
            .arg("--socket")
            .arg(dir.join("gtrace.sock"))
            .args(args)
            // By the environment, so that a case can override it by a flag.
            .env("GTRACE_STATE_DIR", dir)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {GTRACE}"))?;
        let mut daemon = Self {
            dir: dir.to_owned(),
            child,
            problems,
            over: false,
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = daemon.child.try_wait()? {
                daemon.over = true;
                bail!("the daemon ended with {status}:\n{}", daemon.log_end());
            }
            let answer = daemon.client().get_text("/api/v1/status");
            match answer {
                Ok(_) => return Ok(daemon),
                Err(error) if Instant::now() > deadline => bail!(
                    "the daemon does not answer within {} s ({error}):\n{}",
                    PATIENCE.as_secs(),
                    daemon.log_end()
                ),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Its directory: store, log, socket.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.join("gtrace.sock")
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// The end of what it logged, for messages.
    pub(crate) fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let end = &lines[lines.len().saturating_sub(LOG_LINES)..];
        format!("--- the daemon's log ends:\n{}", end.join("\n"))
    }

    /// What it counts of each source: records seen and lost.
    pub(crate) fn counts(&self) -> String {
        let of_sources = ["gtrace_source_records_total", "gtrace_lost_total"];
        let metrics = self.client().get_text("/metrics").unwrap_or_default();
        let lines = metrics.lines();
        let wanted = lines.filter(|line| of_sources.iter().any(|name| line.starts_with(name)));
        wanted.collect::<Vec<_>>().join("\n")
    }

    /// GET of a path of its API that answers JSON.
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        let text = self.get_text(path)?;
        serde_json::from_str(&text).with_context(|| format!("GET {path} gave no JSON: {text}"))
    }

    /// GET of a path of its API.
    pub(crate) fn get_text(&self, path: &str) -> Result<String> {
        let answer = self.client().get_text(path);
        answer
            .with_context(|| format!("GET {path}"))
            .with_context(|| self.log_end())
    }

    fn client(&self) -> Client {
        Client::unix(self.socket()).with_deadline(ANSWER_WITHIN)
    }

    /// Runs `gtrace SUBCOMMAND ARGS` against this daemon.
    pub(crate) fn gtrace(&self, args: &[&str]) -> Result<Output> {
        Command::new(GTRACE)
            .args(args)
            .env("GTRACE_SOCKET", self.socket())
            .env("GTRACE_STORE", self.dir.join("store.db"))
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {GTRACE}"))
    }

    /// `gtrace events --json ARGS`, an event an entry.
    pub(crate) fn events(&self, args: &[&str]) -> Result<Vec<Value>> {
        let args = [&["events", "--json", "--limit", "100000"], args].concat();
        let output = self.gtrace(&args)?;
        if !output.status.success() {
            bail!(
                "`gtrace {}` ended with {}: {}{}",
                args.join(" "),
                output.status,
                String::from_utf8_lossy(&output.stderr),
                self.log_end()
            );
        }
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| {
                serde_json::from_str(line).with_context(|| format!("an event is no JSON: {line}"))
            })
            .collect()
    }

    /// The newest events by the daemon's API, as many as it gives at once.
    pub(crate) fn get_events(&self) -> Result<Vec<Value>> {
        match self.get("/api/v1/events?limit=10000")? {
            Value::Array(events) => Ok(events),
            other => bail!("the API's events are no list: {other}"),
        }
    }

    /// Waits until `find` sees in the events what it wants, for at most `limit`; `what` names it.
    pub(crate) fn wait_for<T>(
        &self,
        limit: Duration,
        what: &str,
        mut find: impl FnMut(&[Value]) -> Option<T>,
    ) -> Result<T> {
        let mut seen = Vec::new();
        let found = within(limit, what, || {
            // Without a process for each look, which takes longest in an emulated machine.
            seen = self.get_events()?;
            Ok(find(&seen))
        });
        found.with_context(|| {
            let seen = seen.iter().map(Value::to_string).collect::<Vec<_>>();
            format!("events:\n{}\n{}", seen.join("\n"), self.log_end())
        })
    }

    /// Waits for an event that `fits`; `what` names it.
    pub(crate) fn event(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Result<Value> {
        self.wait_for(PATIENCE, what, |events| {
            events.iter().find(|event| fits(event)).cloned()
        })
    }

    /// Ends it by SIGKILL, which is then no failure.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.over = true;
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Ends it by SIGTERM; how it ended.
    fn terminate(&mut self) -> Result<ExitStatus> {
        if self.child.try_wait()?.is_none() {
            let pid = rustix::process::Pid::from_child(&self.child);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        within(STOP, "the daemon ends after SIGTERM", || {
            Ok(self.child.try_wait()?)
        })
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let problem = match self.terminate() {
            Ok(status) if status.success() => return,
            Ok(status) => format!("the daemon ended with {status}"),
            Err(error) => {
                let _ = self.child.kill();
                format!("{error:#}")
            }
        };
        let problem = format!("{problem}:\n{}", self.log_end());
        self.problems.borrow_mut().push(problem);
    }
}
