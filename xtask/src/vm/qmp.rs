//! QEMU's monitor, through its QMP socket.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// Longer than any command takes.
const LIMIT: Duration = Duration::from_secs(20);

/// A connection that has been agreed upon.
pub(super) struct Monitor {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Monitor {
    /// Connects to a machine that runs.
    pub(super) fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket)
            .with_context(|| format!("cannot connect to QEMU's monitor at {}", socket.display()))?;
        stream.set_read_timeout(Some(LIMIT))?;
        let lines = BufReader::new(stream.try_clone()?);
        let mut monitor = Self { stream, lines };
        // The greeting, then leave the negotiation mode.
        monitor.read()?;
        monitor.execute("qmp_capabilities", &json!({}))?;
        Ok(monitor)
    }

    /// Runs a command of the human monitor; what it printed, or what it objected to.
    pub(super) fn human(&mut self, command: &str) -> Result<Result<String, String>> {
        let arguments = json!({ "command-line": command });
        let printed = self.execute("human-monitor-command", &arguments)?;
        let printed = printed.as_str().unwrap_or_default().to_owned();
        Ok(if is_objection(&printed) {
            Err(printed)
        } else {
            Ok(printed)
        })
    }

    fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        let request = json!({ "execute": command, "arguments": arguments });
        self.stream
            .write_all(format!("{request}\n").as_bytes())
            .context("QEMU's monitor takes no command")?;
        loop {
            let mut answer = self.read()?;
            if let Some(error) = answer.get("error") {
                bail!("QEMU's monitor refuses {command}: {}", error["desc"]);
            }
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            // Else it is an event.
        }
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line);
        if read.context("QEMU's monitor does not answer")? == 0 {
            bail!("QEMU closed its monitor");
        }
        serde_json::from_str(&line).with_context(|| format!("QEMU's monitor says {line:?}"))
    }
}

/// The human monitor has no error codes: what it objects to, it says in one of these ways.
fn is_objection(printed: &str) -> bool {
    let printed = printed.trim_start();
    ["Error:", "unknown command:", "Invalid ", "invalid "]
        .iter()
        .any(|prefix| printed.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objections_of_the_human_monitor_are_known() {
        assert!(is_objection("Error: Device 'gpu1' not found\r\n"));
        assert!(is_objection("unknown command: 'frob'\r\n"));
        assert!(!is_objection(""));
        assert!(!is_objection(
            "OK id: gpu0 root bus: rp0, bus: 1 devfn: 0\r\n"
        ));
    }
}
