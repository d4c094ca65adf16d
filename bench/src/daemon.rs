//! A daemon of one's own: private socket and store, no TCP; no NVML, or that of the CPU emulator.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use gtrace_api::client::Client;

use crate::bench::Context;
use crate::process::Process;
use crate::scratch::Scratch;
use crate::stand_in::Gpus;

const START_WITHIN: Duration = Duration::from_secs(30);
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const SHOWN_WITHIN: Duration = Duration::from_secs(60);
/// The kernel log's history has been dealt with when nothing more was stored for so long.
const QUIET_FOR: Duration = Duration::from_millis(600);
const QUIET_WITHIN: Duration = Duration::from_secs(8);

#[derive(Debug)]
pub(crate) struct Daemon {
    // Before the directory: ends first.
    pub(crate) process: Process,
    dir: Scratch,
}

impl Daemon {
    /// Starts a daemon and waits until it has read the kernel log's history.
    pub(crate) fn start(context: &Context, more: &[&str]) -> anyhow::Result<Self> {
        let alone = ["--listen", "off", "--nvml-interval-s", "0"];
        let more = [&alone, more].concat();
        Self::start_in(Scratch::new(context)?, context, None, &more)
    }

    /// As [`Self::start`], in a directory that may have a store, with `gpus`, and with TCP and NVML as `options` say.
    pub(crate) fn start_in(
        dir: Scratch,
        context: &Context,
        gpus: Option<&Gpus>,
        options: &[&str],
    ) -> anyhow::Result<Self> {
        let log = dir.join("log");
        let mut command = match gpus {
            Some(gpus) => gpus.command(&context.gtrace),
            None => Command::new(&context.gtrace),
        };
        command
            .args(["run", "--quiet", "--probe-cost-interval-s", "0"])
            .arg("--state-dir")
            .arg(dir.path())
            .arg("--socket")
            .arg(dir.join("s.sock"))
            .arg("--kill-switch")
            .arg(dir.join("pause"))
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?);
        let mut daemon = Self {
            process: Process::start(&mut command)?,
            dir,
        };
        let until = Instant::now() + START_WITHIN;
        while daemon.status().is_err() {
            if daemon.process.has_ended()? || Instant::now() > until {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                bail!("the daemon did not start; it said:\n{}", log.trim_end());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon.settle()?;
        Ok(daemon)
    }

    /// Waits until nothing more is stored, though not for ever: the host may be busy failing.
    fn settle(&self) -> anyhow::Result<()> {
        let until = Instant::now() + QUIET_WITHIN;
        let (mut last, mut since) = (self.last_seq()?, Instant::now());
        while since.elapsed() < QUIET_FOR && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
            let now = self.last_seq()?;
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.join("s.sock")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.dir.join("store.db")
    }

    pub(crate) fn client(&self) -> Client {
        Client::unix(self.socket()).with_deadline(ANSWER_WITHIN)
    }

    pub(crate) fn status(&self) -> anyhow::Result<serde_json::Value> {
        Ok(self.client().get("/api/v1/status")?)
    }

    /// Waits until the daemon shows a sample of every GPU.
    pub(crate) fn shows(&self, gpus: &Gpus) -> anyhow::Result<()> {
        self.wait("a sample of every GPU", || {
            let found: serde_json::Value = self.client().get("/api/v1/gpus")?;
            let found = found.as_array().map(Vec::as_slice).unwrap_or_default();
            let read = found.iter().filter(|gpu| gpu["sample"].is_object());
            Ok(read.count() == gpus.count() as usize)
        })
    }

    /// Waits until the daemon shows so many processes with a device open.
    pub(crate) fn shows_processes(&self, count: usize) -> anyhow::Result<()> {
        self.wait("every process", || {
            let found: serde_json::Value = self.client().get("/api/v1/processes")?;
            Ok(found.as_array().is_some_and(|all| all.len() >= count))
        })
    }

    fn wait(
        &self,
        what: &str,
        mut done: impl FnMut() -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let until = Instant::now() + SHOWN_WITHIN;
        while !done()? {
            if Instant::now() > until {
                let log = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
                bail!(
                    "the daemon does not show {what} within {SHOWN_WITHIN:?}; it said:\n{}",
                    log.trim_end()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Records in the store.
    pub(crate) fn last_seq(&self) -> anyhow::Result<u64> {
        Ok(self.status()?["last_seq"].as_u64().unwrap_or(0))
    }

    /// Whether the source `name` works; else the reason, as `status` shows it.
    pub(crate) fn source(&self, name: &str) -> anyhow::Result<Result<(), String>> {
        let status = self.status()?;
        let sources = status["sources"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let Some(source) = sources.iter().find(|source| source["name"] == name) else {
            bail!("the daemon knows no source {name}");
        };
        let text = |key: &str| source[key].as_str().unwrap_or("unknown").to_owned();
        if source["state"] == "active" {
            return Ok(Ok(()));
        }
        // A verifier's log is megabytes long.
        let reason: String = text("reason").chars().take(200).collect();
        Ok(Err(format!("source {name} is {}: {reason}", text("state"))))
    }

    /// Detaches (true) or attaches (false) the probes by the kill switch, and waits for it.
    pub(crate) fn pause(&self, pause: bool) -> anyhow::Result<()> {
        let switch = self.dir.join("pause");
        if pause {
            File::create(&switch)?;
        } else {
            std::fs::remove_file(&switch)?;
        }
        let until = Instant::now() + START_WITHIN;
        while self.status()?["paused"] != pause {
            if Instant::now() > until {
                bail!("the daemon does not obey its kill switch");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The counters of `family` in /metrics, by their labels.
    pub(crate) fn counters(&self, family: &str) -> anyhow::Result<BTreeMap<String, f64>> {
        Ok(counters(&self.client().get_text("/metrics")?, family))
    }
}

fn counters(metrics: &str, family: &str) -> BTreeMap<String, f64> {
    let lines = metrics.lines().filter_map(|line| {
        let labels = line.strip_prefix(family)?.strip_prefix('{')?;
        let (labels, value) = labels.rsplit_once("} ")?;
        Some((labels.to_owned(), value.trim().parse().ok()?))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_family() {
        let metrics = "# TYPE gtrace_lost counter\n\
            gtrace_lost_total{source=\"/dev/kmsg\",what=\"overwritten\"} 3869\n\
            gtrace_lost_total{source=\"a} b\",what=\"c\"} 1.5\n\
            gtrace_lost_total_not{source=\"x\"} 7\n";
        let found = counters(metrics, "gtrace_lost_total");
        assert_eq!(found.len(), 2);
        assert_eq!(found["source=\"/dev/kmsg\",what=\"overwritten\""], 3869.0);
        assert_eq!(found["source=\"a} b\",what=\"c\""], 1.5);
    }
}
